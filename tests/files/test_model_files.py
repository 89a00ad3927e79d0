"""Model files: the same model back, and nothing else."""

import io
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce._model_files import CARD, FORMAT, ModelFileError, read_card

KEPT = Path(__file__).parent / "format-1.skops"  # written once; every later version must read it
# Its rows are 0, 1, ..., 19 and twice as much; 9 is the middle one, 100 none of them.
NEW = np.array([[9.0, 18.0], [100.0, -100.0]])


def test_a_file_with_the_former_name_of_cost_per_loads():
    model = scarce.load(KEPT.with_stem("format-1-price"))  # price="group", 48 rows in 6 groups
    assert (model.cost_per, model.price) == ("group", "deprecated")
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(48, 2)).round(2), np.repeat(np.arange(6), 8)
    expected = [-0.20344019372368063, -0.09034717227128994, -0.28803289432984214]  # when written
    np.testing.assert_allclose(model.decision_function(X[:3]), expected, rtol=1e-12)
    with pytest.warns(scarce.ScarceDataWarning) as warned:  # few labels; nothing of old names
        again = clone(model).fit(X, np.linspace(0.1, 0.9, 6)[groups], groups=groups)
    assert not [each for each in warned if each.category is FutureWarning]
    np.testing.assert_allclose(again.decision_function(X[:3]), expected, rtol=1e-6)


def fitted():
    rows = np.arange(20.0)[:, None] * [1.0, 2.0]
    return make_pipeline(StandardScaler(), scarce.OneClassSVM(nu=0.2)).fit(rows)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.skops"
    scarce.save(fitted(), path)
    return path


def rewritten(path, changes):
    """Write the file again with some of its members replaced."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | changes).items():
            if content is not None:
                archive.writestr(name, content)


def test_a_pipeline_comes_back_as_it_was(path):
    again = scarce.load(path)
    np.testing.assert_array_equal(again.decision_function(NEW), fitted().decision_function(NEW))
    assert again[-1].get_params() == fitted()[-1].get_params()


# scikit-learn says so of its own estimators in a file that another version of it has written.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_a_file_of_the_first_format_is_read_for_ever():
    assert read_card(KEPT)["format"] == 1
    np.testing.assert_array_equal(scarce.load(KEPT).predict(NEW), [1, -1])


def test_kernel_objects_come_back(tmp_path):
    from scarce.kernels import make_kernel

    model = scarce.SVC(kernel=make_kernel("rbf", gamma=0.7)).fit([[0.0], [1.0]], [0, 1])
    scarce.save(model, tmp_path / "model")
    again = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(
        again.decision_function([[0.3]]), model.decision_function([[0.3]])
    )


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_a_source_that_contradicts_the_proportions_comes_back(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    groups = np.argsort(np.argsort(X[:, 0])) // 20  # rows of a group are alike
    proportions = np.linspace(0.05, 0.95, 10)[groups]
    source = LogisticRegression().fit(X, X[:, 0] < 0)
    model = scarce.TransferGroupProbabilitySVM(source=source, kernel="rbf", source_kernel="any")
    model.fit(X, proportions, groups=groups)
    assert model._source_share < 0
    scarce.save(model, tmp_path / "model.skops")
    loaded = scarce.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    model = make_pipeline(FunctionTransformer(os.path.join), scarce.OneClassSVM())
    with pytest.raises(ModelFileError, match=r"path\.join.*TRUSTED_TYPES"):
        scarce.save(model, tmp_path / "model")
    with pytest.raises(TypeError, match="model must be an estimator or a pipeline, got int"):
        scarce.save(3, tmp_path / "model")
    assert not (tmp_path / "model").exists()


class Hostile:
    """A type that a file may ask for, but never gets."""


def linear(A, B):
    return A @ B.T


@pytest.mark.parametrize("chain", [False, True])
def test_a_kernel_that_is_a_function_is_not_saved(tmp_path, chain):
    """The message said that the model was altered."""
    model = scarce.SVC(kernel=linear)
    model = make_pipeline(StandardScaler(), model) if chain else model
    model.fit(np.arange(8.0)[:, None], np.repeat([0, 1], 4))
    with pytest.raises(ModelFileError, match=r"kernel of the model is a function.*by its name, or"):
        scarce.save(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_other_types_are_refused_by_name(tmp_path):
    path = tmp_path / "hostile.skops"
    skops.io.dump({"model": Hostile()}, path)
    rewritten(path, {CARD: json.dumps({"format": FORMAT, "trusted": ["everything"]})})
    with pytest.raises(ModelFileError, match=r"Hostile.*not loaded"):
        scarce.load(path)


def test_a_foreign_file_is_told(tmp_path):
    path = tmp_path / "foreign.skops"
    skops.io.dump(StandardScaler(), path)
    with pytest.raises(ModelFileError, match="not a model file of scarce"):
        scarce.load(path)
    path.write_text("id,score\n1,2\n")
    with pytest.raises(ModelFileError, match="not a model file of scarce"):
        scarce.load(path)


def test_a_newer_file_is_told(path):
    card = {"format": FORMAT + 1, "libraries": {"scarce": "99.0"}}
    rewritten(path, {CARD: json.dumps(card)})
    with pytest.raises(ModelFileError, match=rf"format {FORMAT + 1}.*newer scarce \(99.0\)"):
        scarce.load(path)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_told(path, kept):
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ModelFileError, match="damaged"):
        scarce.load(path)


def test_changed_bytes_are_told(path):
    content = bytearray(path.read_bytes())
    changed = 0
    for place in range(100, len(content), 401):
        content[place] ^= 0xFF
        path.write_bytes(content)
        content[place] ^= 0xFF
        try:
            again = scarce.load(path)
        except ModelFileError:
            changed += 1
        else:  # a byte that nobody reads: a date, say
            np.testing.assert_array_equal(again.predict(NEW), [1, -1])
    assert changed > 5


@pytest.mark.parametrize(
    "schema", [b"{}", b"[]", b"not JSON", b'{"__class__": "str", "__module__": "os"}']
)
def test_a_wrong_description_is_told(path, schema):
    rewritten(path, {"schema.json": schema})
    with pytest.raises(ModelFileError, match="damaged"):
        scarce.load(path)


def test_a_bomb_is_not_unpacked(path):
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.npy", bytes(200_000_000))
    path.write_bytes(content.getvalue())
    with pytest.raises(ModelFileError, match="unpacks from"):
        scarce.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.skops"):
        scarce.load(tmp_path / "nowhere.skops")


def test_without_skops_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"scarce\[persist\]"):
        scarce.save(fitted(), tmp_path / "model")
