"""Machines from shares by chunks: groups that cross chunks, common rows, calibration."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from scarce import SVC, GroupProbabilitySVM, TransferGroupProbabilitySVM
from scarce.chunks import ArrayChunks
from tests.chunks.internals import stacked_factor, standing_rows
from tests.chunks.sources import NAMES, chunks_of

LOW_RANK = {"approximation": "nystroem", "n_components": 25, "random_state": 0}
KERNELS = [LOW_RANK, {"kernel": "linear"}]
# Common rows are few, and yet more than features.
N_GROUPS, N = 40, 6000


def shares(seed=0):
    """Rows whose groups are spread over all chunks; common rows, rows of no group, weights."""
    random = np.random.default_rng(seed)
    tilt = random.uniform(-1.5, 1.5, size=N_GROUPS)
    groups = random.integers(0, N_GROUPS, size=N)
    X = random.normal(size=(N, 3))
    X[:, 0] += tilt[groups]
    positive = X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=N) > 0
    counts = np.bincount(groups, minlength=N_GROUPS)
    y = (np.bincount(groups, positive, minlength=N_GROUPS) / counts)[groups]
    groups = groups * 3 + 5  # ids that are no places
    groups[:150], y[:150] = -1, np.nan
    groups[150:200], y[150:200] = -2, np.nan
    order = random.permutation(N)
    weights = random.uniform(0.5, 2.0, size=N)
    weights[::7] = 0.0
    return X[order], y[order], groups[order], weights[order]


def machine(kind, settings, calibrate="shares"):
    if kind is GroupProbabilitySVM:
        return kind(C=0.01, tol=1e-7, epsilon=0.005, **settings)
    random = np.random.default_rng(5)
    rows = random.normal(size=(80, 3))
    kernel = {"kernel": "linear"} if "kernel" in settings else {"gamma": 0.2}
    source = FrozenEstimator(SVC(**kernel, tol=1e-8).fit(rows, rows[:, 0] > 0.2))
    width = {} if "kernel" in settings else {"gamma": 0.2}
    given = {"source": source, "transfer": 2.0, "calibrate": calibrate}
    return kind(**given, tol=1e-7, epsilon=0.005, **settings, **width)


@functools.cache
def in_memory(kind, place, weighted):
    X, y, groups, weights = rows_of(kind)
    model = machine(kind, KERNELS[place])
    return model.fit(X, y, groups, sample_weight=weights if weighted else None)


def rows_of(kind):
    return without_common(*shares()) if kind is GroupProbabilitySVM else shares()


def without_common(X, y, groups, weights):
    kept = groups != -1
    return X[kept], y[kept], groups[kept], weights[kept]


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("place", range(len(KERNELS)))
@pytest.mark.parametrize("kind", [GroupProbabilitySVM, TransferGroupProbabilitySVM])
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_that_of_a_fit_in_memory(name, kind, place, tmp_path):
    X, y, groups, weights = rows_of(kind)
    settings = KERNELS[place]
    weighted = NAMES.index(name) % 2 == 0
    given = {"y": y, "groups": groups} | ({"sample_weight": weights} if weighted else {})
    expected = in_memory(kind, place, weighted)
    model = machine(kind, settings).fit(chunks_of(name, tmp_path, X, step=900, **given))
    rows = X
    if name in ("parquet", "dask frame"):
        rows = pd.DataFrame(X, columns=model.feature_names_in_)
    np.testing.assert_allclose(
        model.decision_function(rows), expected.decision_function(X), atol=2e-4
    )
    clear = np.abs(expected.decision_function(X)) > 2e-4
    assert (model.predict(rows) == expected.predict(X))[clear].all()
    assert clear.mean() > 0.99
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(model.calibration_, expected.calibration_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        model.group_dual_coef_, expected.group_dual_coef_, atol=1e-4 * len(X) / N_GROUPS
    )
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert model.effective_labels_ == pytest.approx(expected.effective_labels_)
    assert model.dual_gap_ <= 1e-6
    assert model.n_reads_ == (6 if model.calibrate == "em" else 5)
    assert model.shape_fit_ == X.shape
    if "kernel" in settings:
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
    if kind is TransferGroupProbabilitySVM:
        np.testing.assert_allclose(
            model.source_calibration_, expected.source_calibration_, rtol=1e-6
        )


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("place", range(len(KERNELS)))
def test_soft_labels_with_a_source_are_those_of_a_fit_in_memory(place):
    X, y, groups, weights = without_common(*shares())
    model = machine(TransferGroupProbabilitySVM, KERNELS[place], "em")
    chunks = ArrayChunks(X, rows=900, y=y, groups=groups, sample_weight=weights)
    found = model.fit(chunks).predict_proba(X)
    expected = model.fit(X, y, groups, sample_weight=weights)
    np.testing.assert_allclose(found, expected.predict_proba(X), atol=1e-4)
    assert expected.calibration_ == (1.0, 0.0)


def test_few_rows_stand_for_all_common_ones():
    random = np.random.default_rng(0)
    rows = np.hstack(
        [random.normal(size=(500, 4)), np.ones((500, 1)), random.normal(size=(500, 1))]
    )
    weights = random.uniform(0.1, 3.0, size=500)
    weighted = np.sqrt(weights)[:, None] * rows
    factor = None
    for part in np.array_split(weighted, 7):
        factor = stacked_factor([factor, part])
    few = standing_rows(factor, 4)
    assert few.shape == (6, 5)
    for _ in range(3):
        w, b = random.normal(size=4), random.normal()
        every = weights @ (rows[:, 5] - rows[:, :4] @ w - b) ** 2
        own = weights.sum() / 6 * ((few[:, 4] - few[:, :4] @ w - b) ** 2).sum()
        assert own == pytest.approx(every, rel=1e-12)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_groups_of_any_ids_and_equal_rows():
    X, y, groups, _ = without_common(*shares())
    names = np.array([None if each == -2 else f"g{each}" for each in groups], dtype=object)
    settings = {"kernel": "linear", "C": 0.01, "epsilon": 0.005}
    model = GroupProbabilitySVM(**settings).fit(ArrayChunks(X, rows=2000, y=y, groups=names))
    expected = GroupProbabilitySVM(**settings).fit(X, y, names)
    np.testing.assert_allclose(model.group_dual_coef_, expected.group_dual_coef_, atol=0.02)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    # Groups of equal rows, in chunks that hold one row of each, are not calibrated.
    one = X[: 2 * N_GROUPS : 2]
    twice = ArrayChunks(
        np.vstack([one, one]),
        rows=N_GROUPS,
        y=np.tile(np.linspace(0.1, 0.9, N_GROUPS), 2),
        groups=np.tile(np.arange(N_GROUPS), 2),
    )
    assert GroupProbabilitySVM(**settings).fit(twice).calibration_ is None


def test_what_shares_by_chunks_cannot_do(tmp_path):
    X, y, groups, _ = shares()
    settings = {"kernel": "linear"}
    with pytest.raises(ValueError, match="marks 150 rows as common"):
        GroupProbabilitySVM(**settings).fit(ArrayChunks(X, rows=900, y=y, groups=groups))
    with pytest.raises(ValueError, match="by chunks needs groups"):
        GroupProbabilitySVM(**settings).fit(ArrayChunks(X, rows=900, y=y))
    with pytest.raises(ValueError, match=r"kernel='rbf' without approximation .*nystroem"):
        GroupProbabilitySVM().fit(ArrayChunks(X, rows=900, y=y, groups=groups))
    kept = groups >= 0
    X, y, groups = X[kept], y[kept].copy(), groups[kept]
    last = int(np.flatnonzero(groups == groups[0])[-1])
    y[last] += 0.01
    with pytest.raises(ValueError, match=r"constant in a group: .* in different chunks"):
        GroupProbabilitySVM(**settings).fit(
            ArrayChunks(X, rows=last, y=np.clip(y, 0, 1), groups=groups)
        )
    y[last] = 7.0
    with pytest.raises(ValueError, match=r"chunk \d+ \(rows .*between 0 and 1, got 7"):
        GroupProbabilitySVM(**settings).fit(ArrayChunks(X, rows=900, y=y, groups=groups))
