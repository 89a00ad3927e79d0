"""Names and number of features after a fit by chunks are those of the last fit, as for arrays."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import scarce
from tests.chunks.sources import NAMES, chunks_of, rows
from tests.chunks.test_refused import BY_CHUNKS

UNNAMED = ("array", "map", "dask array")
X, Y, _ = rows(n=1200)
GROUPS = np.argsort(np.argsort(X[:, 0])) // 10  # whose proportions differ
NYSTROEM = {"approximation": "nystroem", "n_components": 30}


def case(name):
    """An estimator that can be fitted by chunks, and what else its rows need."""
    kind = getattr(scarce, name)
    if "Group" in name:
        shares = np.bincount(GROUPS, Y == 5) / np.bincount(GROUPS)
        values = {"y": shares[GROUPS], "groups": GROUPS}
    elif name in ("TransferOneClassSVM", "UOCTSVM"):
        values = {"sample_domain": np.where(np.arange(X.shape[0]) < 300, 1, -1)}
    elif name == "OneClassSVM":
        values = {}
    else:
        values = {"y": Y}
    if name in ("PositiveUnlabeledSVC", "SVMC", "MappingConvergence"):
        values["y"] = np.where((Y == 5) & (np.arange(X.shape[0]) % 4 == 0), 1, 0)
        return kind(), values
    by_chunks = {"TransferOneClassSVM": {"gamma": "scale"}, "UOCTSVM": {"radius": 0}}
    return kind(**NYSTROEM, **by_chunks.get(name, {})), values


def fitted(model, given, values):
    """The model fitted to a Dask frame or to chunks that hold their values."""
    if isinstance(given, dd.DataFrame):
        values = {
            key: dd.from_pandas(pd.Series(value), npartitions=given.npartitions)
            for key, value in values.items()
        }
        return model.fit(given, **values)
    return model.fit(given)


@pytest.mark.parametrize("name", sorted(BY_CHUNKS))
def test_a_refit_forgets_the_names_of_the_one_before(name, tmp_path):
    model, values = case(name)
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted(model, dd.from_pandas(frame, npartitions=2), values)
    assert list(model.feature_names_in_) == list("abcd")
    model.fit(chunks_of("array", tmp_path, X[:, :3], **values))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert model.predict(X[:5, :3]).shape == (5,)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("model", [scarce.SVC(**NYSTROEM), scarce.SVMC()])
def test_every_kind_of_chunks_says_what_the_features_are(model, source, tmp_path):
    y = np.where((Y == 5) & (np.arange(X.shape[0]) % 4 == 0), 1, 0)
    model.fit(pd.DataFrame(X, columns=list("abcd")), y)
    model.fit(chunks_of(source, tmp_path, X[:, :3], y=y))
    named = getattr(model, "feature_names_in_", None)
    assert (named is None) if source in UNNAMED else (list(named) == ["x0", "x1", "x2"])
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("kind", [scarce.OneClassSVM, scarce.SVC, scarce.NuSVC])
def test_rows_in_memory_that_go_by_bands_keep_their_names(kind, monkeypatch):
    monkeypatch.setattr(kind, "_band_from", 1000)
    model = kind(**NYSTROEM)
    model.fit(pd.DataFrame(X, columns=list("abcd")), Y)
    assert model.n_reads_ > 0  # by bands
    assert list(model.feature_names_in_) == list("abcd")
    model.fit(X[:, :3], Y)
    assert not hasattr(model, "feature_names_in_")
