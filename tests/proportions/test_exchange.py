"""Source knowledge files: what is in them, the way back, and files by strangers."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

import scarce
from scarce.proportions import export_source, load_source
from tests.proportions.published import TransferGroupProbabilitySVM
from tests.proportions.samples import GAMMA, problem

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
NEW = RNG.normal(size=(20, 3))
MACHINE = SVC(gamma=GAMMA).fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearSVC(),
        SVC(kernel="linear"),
        scarce.SVC(kernel="linear"),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_linear_models_are_exact(tmp_path, model):
    model = model.fit(X, Y)
    assert export_source(FrozenEstimator(model), tmp_path / "source") == 0.0
    source = load_source(tmp_path / "source")
    np.testing.assert_allclose(source.decision_function(NEW), model.decision_function(NEW))


def test_a_pair_and_a_sparse_row(tmp_path):
    export_source(([1.0, 2.0, 3.0], 0.5), tmp_path / "pair.npz")
    source = load_source(str(tmp_path / "pair.npz"))
    np.testing.assert_array_equal(source.intercept_, [0.5])
    np.testing.assert_array_equal(
        source.decision_function(sparse.eye_array(3).tocsr()), [1.5, 2.5, 3.5]
    )


def members(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def row_leaves(path):
    """Whether any training row stands in the file, in either precision."""
    content = path.read_bytes()
    return any(row.tobytes() in content for row in X) or any(
        row.astype(np.float32).tobytes() in content for row in X
    )


@pytest.mark.parametrize("model", [MACHINE, scarce.SVC(gamma=GAMMA).fit(X, Y)], ids=["sk", "own"])
def test_landmarks(tmp_path, model):
    path = tmp_path / "source"
    landmarks = RNG.normal(size=(200, 3)) * 1.5
    error = export_source(model, path, landmarks=landmarks)
    assert not row_leaves(path)
    source = load_source(path)
    exact, found = model.decision_function(X), source.decision_function(X)
    np.testing.assert_allclose(found, exact, atol=0.05 * np.ptp(exact))
    vectors = model.support_vectors_
    difference = source.decision_function(vectors) - model.decision_function(vectors)
    spread = (model.decision_function(vectors)).std()
    assert error == pytest.approx(np.sqrt(np.mean(difference**2)) / spread)
    assert 0 < error < 0.05


def test_landmarks_far_from_the_rows(tmp_path):
    with pytest.warns(UserWarning, match=r"more landmarks, nearer to the training rows") as seen:
        assert export_source(MACHINE, tmp_path / "source", landmarks=NEW[:3]) > 0.25
    assert seen[0].filename == __file__


def test_random_features(tmp_path):
    path = tmp_path / "source"
    with pytest.warns(UserWarning, match=r"the model's by \d+% of .* more features") as seen:
        few = export_source(MACHINE, path, n_features=100, random_state=0)
    assert seen[0].filename == __file__
    many = export_source(MACHINE, path, n_features=10_000, random_state=0)
    assert many < 0.2 * few  # 0.1 on average: the square root of their number
    assert not row_leaves(path)
    source = load_source(path)
    exact = MACHINE.decision_function(NEW)
    np.testing.assert_allclose(source.decision_function(NEW), exact, atol=0.1 * np.ptp(exact))


def test_training_rows_leave_only_when_told(tmp_path):
    path = tmp_path / "source"
    with pytest.raises(ValueError, match=r"Choose what leaves.*landmarks=.*training_rows=True"):
        export_source(MACHINE, path)
    with pytest.raises(ValueError, match=r"2 of the 4 landmarks are support vectors"):
        export_source(MACHINE, path, landmarks=np.vstack([MACHINE.support_vectors_[:2], NEW[:2]]))
    assert not path.exists()
    assert export_source(MACHINE, path, training_rows=True) == 0.0
    assert row_leaves(path)
    np.testing.assert_allclose(
        load_source(path).decision_function(NEW), MACHINE.decision_function(NEW)
    )


def test_training_rows_are_recognised_in_disguise(tmp_path):
    model = SVC(gamma=GAMMA).fit(np.where(X > 1, X, 0.0), Y)
    rows = model.support_vectors_[(model.support_vectors_ != 0).any(axis=1)]
    with pytest.raises(ValueError, match=r"landmarks are support vectors"):
        export_source(model, tmp_path / "source", landmarks=np.where(rows == 0, -0.0, rows))
    rounded = scarce.SVC(gamma=GAMMA).fit(X.astype(np.float32), Y)
    with pytest.raises(ValueError, match=r"2 of the 2 landmarks are support vectors"):
        export_source(rounded, tmp_path / "source", landmarks=X[rounded.support_[:2]])


@pytest.mark.parametrize("choice", ["landmarks", "features", "rows"])
def test_a_fit_with_the_file_equals_one_with_the_model(tmp_path, choice):
    case = problem("rbf", 6)
    machine = case.source.estimator
    given = {
        "landmarks": {"landmarks": RNG.normal(size=(300, 3)) * 2},
        "features": {"n_features": 20_000, "random_state": 0},
        "rows": {"training_rows": True},
    }[choice]
    export_source(machine, tmp_path / "source", **given)
    source = load_source(tmp_path / "source")
    models = [
        TransferGroupProbabilitySVM(source=each, **case.settings()).fit(case.X, case.y, case.groups)
        for each in (case.source, source, pickle.loads(pickle.dumps(source)))
    ]
    expected = models[0].decision_function(case.shown)
    room = 1e-9 if choice == "rows" else 0.05
    for model in models[1:]:
        np.testing.assert_allclose(model.decision_function(case.shown), expected, atol=room)
        assert model.objective_ == pytest.approx(models[0].objective_, rel=room)
    assert clone(models[1]).source is source
    with pytest.raises(ValueError, match=r"set gamma=0\.3 here"):
        TransferGroupProbabilitySVM(source=source, gamma="auto").fit(case.X, case.y, case.groups)


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (MACHINE, {"landmarks": NEW, "n_features": 5}, "not both"),
        (MACHINE, {"landmarks": NEW[:, :2]}, "landmarks must have 3 features, got 2"),
        (MACHINE, {"n_features": 0}, "positive integer, got 0"),
        (MACHINE, {"n_features": True}, "positive integer, got True"),
        (SVC(kernel="poly").fit(X, Y), {"n_features": 5}, "the model has 'poly'; give landmarks"),
        (LinearSVC().fit(X, Y), {"training_rows": True}, "are for kernel models"),
        (SVC(kernel=laplacian_kernel).fit(X, Y), {"landmarks": NEW}, "only linear models and sums"),
        (
            scarce.SVC(kernel=laplacian_kernel).fit(X, Y),
            {"landmarks": NEW},
            "given as a function cannot be written",
        ),
        (
            make_pipeline(PolynomialFeatures(2), LinearSVC()).fit(X, Y),
            {},
            "only linear models and sums of kernel functions",
        ),
    ],
)
def test_what_cannot_be_written(tmp_path, model, given, words):
    with pytest.raises(ValueError, match=words):
        export_source(model, tmp_path / "source", **given)


KERNEL = {"name": "rbf", "gamma": 1.0, "degree": 3.0, "coef0": 0.0}


def header(**change):
    content = {"format": "scarce source", "version": 1, "kind": "expansion", "intercept": 0.5}
    return json.dumps({**content, "kernel": KERNEL, **change})


def array(values, dtype=float, shape=None):
    buffer = io.BytesIO()
    values = np.asarray(values, dtype=dtype)
    if shape is None:
        np.lib.format.write_array(buffer, values, allow_pickle=True)
    else:
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        buffer.write(values.tobytes())
    return buffer.getvalue()


def titled(text):
    """An array of six numbers whose header is any text."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(48)


def good():
    return {
        "header.json": header(),
        "vectors.npy": array(np.ones((2, 3))),
        "coefficients.npy": array([1.0, 2.0]),
    }


def write(path, content, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, value in content.items():
            file.writestr(name, value)


def test_the_hand_made_file_is_good(tmp_path):
    write(tmp_path / "source", good())
    assert load_source(tmp_path / "source").decision_function(np.ones((1, 3))) == [3.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"header.json": "{"}, "header is not JSON"),
        ({"header.json": "[" * 9000}, "header is not JSON"),
        ({"header.json": " " * 20_000 + header()}, "header is too large"),
        ({"header.json": "[1]"}, "does not say"),
        ({"header.json": header(format="other")}, "does not say"),
        ({"header.json": header(version=2)}, "version 2, this scarce reads up to 1; upgrade"),
        ({"header.json": header(version="1")}, "version is '1'"),
        ({"header.json": header(version=0)}, "version is 0"),
        ({"header.json": header(kind="forest")}, "unknown kind 'forest'"),
        ({"header.json": header(kernel={"name": "rbf"})}, "damaged: its header lacks 'gamma'"),
        ({"header.json": header(kernel=None)}, "damaged"),
        (
            {"header.json": header(kernel={"name": "os", "gamma": 1, "degree": 1, "coef0": 0})},
            "its kernel is 'os'",
        ),
        ({"header.json": header(intercept="1")}, "its intercept is '1'"),
        ({"header.json": header().replace("0.5", "NaN")}, "its intercept is nan"),
        ({"vectors.npy": array([1.0])}, "vectors is not what the header says"),
        ({"vectors.npy": array(np.ones((3, 3)))}, "arrays are of different lengths"),
        ({"vectors.npy": array([[np.nan] * 3] * 2)}, "empty or not finite"),
        ({"vectors.npy": array(np.ones((0, 3)))}, "empty or not finite"),
        ({"vectors.npy": array(np.ones((2, 3)), np.float32)}, "vectors is not a plain one"),
        ({"vectors.npy": array(np.ones((2, 3)), ">f8")}, "vectors is not a plain one of float64"),
        ({"vectors.npy": array(np.asfortranarray(np.ones((2, 3))))}, "vectors is not a plain one"),
        ({"vectors.npy": array([1.0], shape=(10**12, 10**6))}, "vectors is not what the header"),
        ({"vectors.npy": array([1.0], shape=(-1, -1))}, "vectors is not a plain one of float64"),
        ({"vectors.npy": b"no array"}, "vectors is not a plain one of float64"),
        ({"vectors.npy": array([None], object)}, "vectors is not a plain one of float64"),
        # Headers on which a reader that evaluates them stumbles, each in its own way.
        ({"vectors.npy": titled("{1: 2, 'a': 3}")}, "vectors is not a plain one of float64"),
        ({"vectors.npy": titled("-" * 9000 + "1")}, "vectors is not a plain one of float64"),
        ({"vectors.npy": titled("[" * 9000)}, "vectors is not a plain one of float64"),
        ({"vectors.npy": titled("'''abc")}, "vectors is not a plain one of float64"),
        ({"header.json": header(kind=["expansion"])}, r"unknown kind \['expansion'\]"),
        ({"header.json": header(intercept=10**400)}, "its intercept is inf"),
        ({"header.json": header(kernel={**KERNEL, "gamma": -1})}, "its gamma is -1"),
        ({"header.json": header(kernel={**KERNEL, "degree": 2.5})}, "its degree is 2.5"),
        ({"header.json": header(kernel={**KERNEL, "degree": 1e9})}, r"its degree is 1e\+09"),
        ({"../../evil": "x"}, "holds more than header.json, vectors.npy, coefficients.npy"),
        ({"vectors.npy": None}, "no item named 'vectors.npy'"),
        ({"header.json": None}, "no item named 'header.json'"),
    ],
)
def test_files_by_strangers(tmp_path, change, words):
    content = {name: value for name, value in {**good(), **change}.items() if value is not None}
    write(tmp_path / "source", content)
    with pytest.raises(ValueError, match=words):
        load_source(tmp_path / "source")


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "source"
    path.write_bytes(pickle.dumps(np.ones(3)))
    with pytest.raises(ValueError, match="is not a source file, or is damaged"):
        load_source(path)
    np.savez(tmp_path / "other.npz", coef=np.ones(3))
    with pytest.raises(ValueError, match=r"other.npz is not a source file"):
        load_source(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        load_source(tmp_path / "nowhere")


def test_compressed_members_are_refused(tmp_path):
    # A small file that would become a large one.
    content = good() | {"vectors.npy": array(np.zeros((100_000, 3)))}
    write(tmp_path / "source", content, zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed members"):
        load_source(tmp_path / "source")


def test_encrypted_members_are_refused(tmp_path):
    path = tmp_path / "source"
    write(path, good())
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + 8] |= 1  # the flag in the directory of the archive
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged: .*encrypted"):
        load_source(path)


def test_a_second_member_of_the_same_name_is_refused(tmp_path):
    path = tmp_path / "source"
    write(path, good())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("header.json", header(intercept=9.0))
    with pytest.raises(ValueError, match="holds more than"):
        load_source(path)


def test_damage_anywhere_is_found_or_harmless(tmp_path):
    path = tmp_path / "source"
    export_source(MACHINE, path, landmarks=NEW)
    whole = path.read_bytes()
    expected = load_source(path).decision_function(X)
    random = np.random.default_rng(0)
    refused = 0
    for position in random.integers(0, len(whole), size=300):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            found = load_source(path).decision_function(X)
        except ValueError:
            refused += 1
        else:  # a date, an attribute of the archive
            np.testing.assert_array_equal(found, expected)
    assert refused > 200
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged"):
            load_source(path)
