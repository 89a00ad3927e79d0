"""Models whose parts do not fit together: refused by name, before any of their code runs."""

import io
import json
import subprocess
import sys
import tempfile
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy import sparse

import scarce
from scarce import _kernel_machine
from scarce._model_files import CARD, FORMAT, LARGEST_DEGREE, ModelFileError, _files
from scarce._model_files._attributes import known
from scarce.kernels import PolynomialKernel
from tests.files.judge import attack, judged
from tests.files.victims import answered, answers, victims
from tests.subjects import SUBJECTS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 4))
S = sparse.csr_array(np.where(X > 0, X, 0.0))
Y = np.arange(30) % 3


def given(subject):
    return [container(subject.make(30)[0]) for container in subject.containers]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return what writes a file although `save` would refuse the model."""

    def write(model):
        path = tmp_path / "altered.skops"
        with monkeypatch.context() as context:
            context.setattr(_files, "_checker", lambda: lambda model, saving=False: None)
            scarce.save(model, path)
        return path

    return write


def indices_far_outside(model):
    model.support_vectors_.indices[:] = 10**8


def indptr_beyond_the_values(model):
    model.support_vectors_.indptr[-1] += 1


def falling_indptr(model):
    model.support_vectors_.indptr[1] = 10**6


def a_wide_csr(model):
    model.dual_coef_.indices[0] = -1


SPARSE = {
    indices_far_outside: r"OneClassSVM\.support_vectors_\.indices holds 100000000, .* from 0 to 3",
    indptr_beyond_the_values: r"OneClassSVM\.support_vectors_ is not a valid sparse matrix: Last",
    falling_indptr: r"support_vectors_\.indptr .* falls between",
    a_wide_csr: r"dual_coef_\.indices holds -1",
}


@pytest.mark.parametrize("alter", SPARSE, ids=lambda alter: alter.__name__)
def test_sparse_parts_are_read_only_inside(alter, written):
    model = scarce.OneClassSVM(nu=0.2).fit(S)
    alter(model)
    with pytest.raises(ModelFileError, match=SPARSE[alter]):
        scarce.load(written(model))
    with pytest.raises(ModelFileError, match="altered"):  # nor is it written
        scarce.save(model, "nowhere.skops")


DENSE = {
    "dual_coef_": [
        (
            np.zeros((1, 3)),
            r"dual_coef_ has shape \(1, 3\), expected \d+ along axis 1, as SVC.supp",
        ),
        (np.full((2, 30), np.nan), "dual_coef_ "),
        ([1.0], "dual_coef_ is of type list, expected an array"),
    ],
    "support_vectors_": [
        (np.zeros((3, 5)), r"shape \(3, 5\), expected 4 along axis 1, as SVC.n_features_in_ says"),
        (np.zeros((30, 4), ">f8"), r"support_vectors_ is of type >f8, expected floating point"),
    ],
    "support_": [(np.full(30, 30), "support_ holds 30, expected values below 30")],
    "_n_support": [(np.array([1, 1, 1]), "_n_support sums to 3, expected")],
    "intercept_": [
        (np.zeros(2), "intercept_ has 2 entries, expected 3 where SVC.dual_coef_ has 2 lines")
    ],
    "classes_": [
        (np.array([0, 1, 1]), "classes_ is .*each once"),
        (np.arange(4), "expected 4 along axis 0, as SVC.classes_ says"),
    ],
    "_gamma": [(np.inf, "_gamma is inf, expected a finite number"), (None, "_gamma is None")],
    "C": [(-1.0, "'C' parameter of SVC must be")],
    "degree": [(10**6, rf"'degree' parameter of SVC must be .*{LARGEST_DEGREE}.* Got 1000000")],
    "kernel": [(PolynomialKernel(0.5, 10**6), "SVC.kernel.degree is 1000000, expected 0 to 1000")],
    "predict": [(3, "SVC.predict would hide what the class has")],
    "fit_status_": [(0.5, "fit_status_ is of type float, expected a whole number")],
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [(name, *case) for name, cases in DENSE.items() for case in cases],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_every_part_is_compared_with_the_others(name, value, message, written):
    model = scarce.SVC().fit(X, Y)
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=message):
        scarce.load(written(model))


def test_a_wrong_flag_is_seen_when_the_arrays_are_put_together(written):
    path = written(scarce.SVC().fit(X, Y))
    with zipfile.ZipFile(path) as archive:
        schema = json.loads(archive.read("schema.json"))
    flag = schema["content"]["content"]["_sparse"]
    flag["content"], flag["__id__"] = "true", 1  # not the one that all False are
    replace(path, "schema.json", json.dumps(schema).encode())
    with pytest.raises(ModelFileError, match=r"SVC\.support_vectors_ is not a valid sparse matrix"):
        scarce.load(path)


def replace(path, name, content):
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()} | {name: content}
    with zipfile.ZipFile(path, "w") as archive:
        for each, what in members.items():
            archive.writestr(each, what)


def test_parts_of_parts_are_named(written):
    positive = (np.arange(30) < 10).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = scarce.SVMC().fit(X + 3.0 * positive[:, None], positive)
    model.classifier_.dual_coef_ = model.classifier_.dual_coef_[:, 1:]
    with pytest.raises(ModelFileError, match=r"SVMC\.classifier_\.dual_coef_ has shape"):
        scarce.load(written(model))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_fitted_attribute_has_a_rule(subject):
    rows, y = subject.make(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = subject.new().fit(rows, y)
    assert [name for name in vars(model).keys() - model.get_params() if not known(name)] == []


def test_a_degree_that_never_ends_is_not_fitted():
    with pytest.raises(ValueError, match=rf"degree.*{LARGEST_DEGREE}.*Got 1000000"):
        scarce.SVC(kernel="poly", degree=10**6).fit(X, Y)


# Rows that users give.


@pytest.mark.parametrize("model", [scarce.OneClassSVM(), scarce.SVC(kernel="linear")], ids=str)
@pytest.mark.parametrize("index", [30, 10**8, -1])  # of 30 rows and 4 columns
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_rows_that_point_outside_are_refused(model, index, kind):
    bad = S.asformat(kind, copy=True)
    (bad.row if kind == "coo" else bad.indices)[2] = index
    with pytest.raises(ValueError, match=r"X\.(indices|row) holds -?\d+, expected values from 0"):
        model.fit(bad, Y)
    with pytest.raises(ValueError, match=r"X\.(indices|row) holds"):
        model.fit(S, Y).decision_function(bad)


class Unchecked(sparse.csc_array):
    """Rows whose conversion follows indices that nobody has looked at, and may end the process."""

    def tocsr(self, copy=False):
        raise AssertionError("converted before the indices were checked")


SPARSE_SUBJECTS = [each for each in SUBJECTS if any(map(sparse.issparse, given(each)))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("subject", SPARSE_SUBJECTS, ids=lambda subject: subject.name)
def test_rows_are_checked_before_they_are_converted(subject):
    rows, y = next(filter(sparse.issparse, given(subject))), subject.make(30)[1]
    model = subject.new().fit(rows, y)
    calls = [getattr(model, name) for name in answers(model, rows, answered)]
    calls += [partial(scarce.explain, model), lambda rows: subject.new().fit(rows, y)]
    bad = Unchecked(rows)
    bad.indices[3] = -1
    for call in calls:
        with pytest.raises(ValueError, match=r"X\.indices holds -1, expected values from 0 to 29"):
            call(bad)


def test_an_indptr_beyond_the_values_is_refused():
    model = scarce.OneClassSVM().fit(S)
    for place, value in ((-1, S.nnz + 1), (3, 10**8), (0, -5), (0, 1)):
        bad = S.copy()
        bad.indptr[place] = value
        for call in (model.decision_function, scarce.OneClassSVM().fit):
            with pytest.raises(ValueError, match=r"X\.indptr goes from"):
                call(bad)


def test_the_check_leaves_the_rows_alone():
    spare = sparse.csr_array((np.r_[S.data, 7.0], np.r_[S.indices, 9], S.indptr), shape=S.shape)
    before = spare.indices, spare.data
    expected = scarce.OneClassSVM().fit(S).decision_function(S)
    found = scarce.OneClassSVM().fit(spare).decision_function(spare)
    np.testing.assert_array_equal(found, expected)
    assert spare.indices is before[0]
    assert spare.data is before[1]


# Files as a whole.


def test_an_archive_inside_is_no_way_to_bomb(written):
    path = written(scarce.OneClassSVM().fit(X))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(200_000_000))
    replace(path, "extra.npz", inner.getvalue())
    with pytest.raises(ModelFileError, match="unpacks from"):
        scarce.load(path)


def test_names_that_climb_write_nothing(written, tmp_path):
    path = written(scarce.OneClassSVM().fit(X))
    replace(path, "../climbed", b"x")
    scarce.load(path)
    assert not (tmp_path.parent / "climbed").exists()
    assert not (tmp_path / "climbed").exists()


@pytest.mark.parametrize("thing", [{"a": 1}, [scarce.SVC()], scarce.SVC], ids=str)
def test_what_is_no_estimator_is_not_loaded(thing, tmp_path):
    path = tmp_path / "thing.skops"
    skops.io.dump(thing, path)
    replace(path, CARD, json.dumps({"format": FORMAT}).encode())
    with pytest.raises(ModelFileError, match="not an estimator"):
        scarce.load(path)


@pytest.mark.parametrize(
    "model",
    [scarce.OneClassSVM(kernel="poly"), scarce.SVDD(kernel="linear"), scarce.SVC(kernel="linear")],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scores_that_overflow_are_no_nan(model):
    model.fit(X, Y % 2)
    finite = model.decision_function(X)
    assert np.isfinite(finite).all()
    model.dual_coef_[...] = np.where(np.arange(model.dual_coef_.size) % 2, 1e308, -1e308)
    model.support_vectors_[...] = 1e10
    with pytest.raises(ValueError, match="the score of row 0 of X is not a number"):
        model.decision_function(np.ones((2, 4)))


def alternate(values):
    values = values.data if sparse.issparse(values) else values
    values[...] = np.where(np.arange(values.size) % 2, 1e308, -1e308).reshape(values.shape)


@pytest.mark.filterwarnings("ignore")  # of products that overflow, and of a handful of rows
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_decisions_between_pairs_of_classes_are_no_nan(kind):
    model = scarce.SVC(kernel="linear").fit(kind(X), Y)
    alternate(model.dual_coef_)
    for answer in (model.decision_function, model.predict):
        with pytest.raises(ValueError, match=r"the score of row \d+ of X is not a number"):
            answer(kind(1e3 * X))


@pytest.mark.filterwarnings("ignore")
def test_sums_of_infinite_decisions_are_no_nan():
    model = scarce.SVC().fit(X, Y)
    alternate(model.dual_coef_)
    model.decision_function_shape = "ovo"
    assert not np.isnan(model.decision_function(X)).any()
    model.decision_function_shape = "ovr"
    with pytest.raises(ValueError, match=r"the score of row \d+ of X is not a number"):
        model.decision_function(X)


@pytest.mark.filterwarnings("ignore")
def test_scores_by_landmarks_are_no_nan():
    model = scarce.baselines.ProportionLogistic().fit(X, Y % 2)
    alternate(model._root)
    for answer in (model.decision_function, model.predict_proba):
        with pytest.raises(ValueError, match=r"the score of row \d+ of X is not a number"):
            answer(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", [0, 1])
def test_probabilities_by_no_curve_are_no_nan(place):
    rows = X + 3.0 * (Y == 0)[:, None]
    model = scarce.PositiveUnlabeledSVC(n_bags=5, random_state=0).fit(rows, Y == 0)
    curve = list(model.probability_curve_)
    curve[place] = np.nan
    model.probability_curve_ = tuple(curve)
    with pytest.raises(ValueError, match="no probabilities: the class prior could not be est"):
        model.predict_proba(rows)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [(0.1, "x"), 0.1, (0.1, 0.2, 0.3)])
def test_pairs_of_numbers_are_pairs_of_numbers(value, written):
    rows = X + 3.0 * (Y == 0)[:, None]
    model = scarce.PositiveUnlabeledSVC(n_bags=5, random_state=0).fit(rows, Y == 0)
    model.class_prior_interval_ = value
    with pytest.raises(
        ModelFileError, match=r"class_prior_interval_(\[1\])? is (not a pair|of type)"
    ):
        scarce.load(written(model))


@pytest.mark.filterwarnings("ignore")
def test_scores_by_planes_of_tasks_are_no_nan():
    # So many columns that several partial sums are kept, some of which overflow upwards: the first
    # that does decides alone where a product and a sum are one operation.
    wide = np.tile(X, 8)
    model = scarce.TransferOneClassSVM(kernel="linear").fit(wide, sample_domain=Y % 2 - 1)
    alternate(model.task_coef_)
    for answer in (model.score_samples, model.predict, model.p_values):
        with pytest.raises(ValueError, match=r"the score of row \d+ of X is not a number"):
            answer(1e3 * np.ones((2, 32)))


@pytest.mark.filterwarnings("ignore")
def test_scores_of_a_source_are_no_nan():
    source = scarce.SVC(gamma=1e-3).fit(X, Y % 2)
    model = scarce.TransferGroupProbabilitySVM(source=source, source_kernel="any").fit(X, Y % 2)
    alternate(source.dual_coef_)
    for answer in (model.decision_function, model.predict_proba):
        with pytest.raises(ValueError, match=r"the score of row \d+ of X is not a number"):
            answer(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("root", np.zeros(0, np.int64), r"trees_\['root'\] is empty"),
        ("root", np.array([10**6]), r"trees_\['root'\] holds 1000000, expected values below"),
        ("feature", np.array([4]), r"trees_\['feature'\] (has shape|holds 4)"),
        ("left", None, r"trees_\['left'\] is None, expected an array"),
    ],
)
def test_trees_are_compared_with_their_nodes(name, value, message, written):
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 4)) + 3.0 * (np.arange(200) < 100)[:, None]
    model = scarce.PositiveUnlabeledClassifier(random_state=0)
    model.fit(rows, (np.arange(200) < 40).astype(int))
    assert model.trees_ is not None
    model.trees_ = model.trees_ | {name: value}
    with pytest.raises(ModelFileError, match=message):
        scarce.load(written(model))


@pytest.mark.filterwarnings("ignore")
def test_labels_by_several_models_are_as_many_as_these(written):
    domains = np.where(np.arange(30) < 15, -1, Y)
    model = scarce.LocallyWeightedEnsemble().fit(X, Y % 2, sample_domain=domains)
    model.target_labels_ = model.target_labels_[:1]
    message = r"target_labels_ has shape \(1, .* expected \d along axis 0, as .*\.estimators_ says"
    with pytest.raises(ModelFileError, match=message):
        scarce.load(written(model))


def test_coordinates_by_landmarks_are_as_many_as_coefficients(written):
    model = scarce.baselines.ProportionLogistic().fit(X, Y % 2)
    assert model.coef_.shape[1] == model._root.shape[1] > 1
    model.coef_ = model.coef_[:, 1:]
    with pytest.raises(ModelFileError, match=r"coef_ has shape .* as ProportionLogistic\._root"):
        scarce.load(written(model))


@pytest.mark.parametrize("weights", [np.zeros, lambda n: np.arange(n) == 0])
def test_rows_left_out_leave_others(weights, written):
    model = scarce.OneClassSVM(nu=0.2, offset="left_out").fit(X)
    assert len(model._unsettled["weights"]) == 30
    model._unsettled["weights"] = weights(30).astype(float)
    with pytest.raises(ModelFileError, match=r"_unsettled\['weights'\] "):
        scarce.load(written(model))


FEW = ("OneClassSVM csr {}", "SVC of three", "scarce fit customers", "STM of matrices")


def test_changed_files_end_no_process_and_answer_no_nan():
    # A few of them; all classes and many more: python -m tests.files
    files = [each for only in FEW for each in victims(only)]
    counts, failures, _ = attack(files, [(n % len(files), n) for n in range(100)])
    assert failures == []
    assert counts["refused"] >= 30
    assert sum(counts.values()) == 100


def test_the_judge_sees_processes_that_end(written, monkeypatch):
    script = (
        "import os, sys; from pathlib import Path; n = len(Path('count').read_text()); "
        "Path('count').write_text('x' * (n + 1)); os.kill(os.getpid(), 11 + 16 * n)"
    )
    run, content = subprocess.run, written(scarce.OneClassSVM().fit(X)).read_bytes()

    def killed(command, **kwargs):
        return run([sys.executable, "-c", script], cwd=folder, **kwargs)

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "count").touch()
        monkeypatch.setattr(subprocess, "run", killed)
        counts, failures, _ = attack([("a file", content, None)], [(0, 1), (0, 2)])
    assert counts == {"process ended": 1, "too slow": 1}  # a fault, then the limit
    assert [line[:3] for line in failures] == [
        ("a file", 1, "process ended"),
        ("a file", 2, "too slow"),
    ]


def test_the_judge_sees_nan(written, monkeypatch, tmp_path):
    model = scarce.OneClassSVM().fit(X)
    model.dual_coef_[0, 0] = np.nan
    content, asked = written(model).read_bytes(), (X, ("decision_function",))
    assert judged(content, asked, tmp_path)[0] == "refused"
    monkeypatch.setattr(_files, "_checker", lambda: lambda model, saving=False: None)
    assert judged(content, asked, tmp_path)[0] == "error later"
    monkeypatch.setattr(_kernel_machine, "no_nan", lambda scores: scores)
    assert judged(content, asked, tmp_path)[0] == "NaN"
