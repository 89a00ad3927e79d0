"""The frame of fit: warnings, state, weights, quality, and who may know scikit-learn's insides."""

import ast
import functools
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

import scarce
from scarce import SVC, LocallyWeightedEnsemble, OneClassSVM
from scarce._frame import collected_notes, fit_frame, keep_quality, note, pass_on
from scarce.testing import one_sample, positive_and_unlabelled, two_classes
from tests.positive_unlabeled.samples import of_the_paper
from tests.subjects import SUBJECTS


class Noisy(BaseEstimator):
    """An estimator that warns, fits others, and may fail."""

    _allowed_values: ClassVar = {}

    def __init__(self, inner=None, fails=False):
        self.inner = inner
        self.fails = fails

    @fit_frame
    def fit(self, X, y=None):
        self.rows_ = len(X)
        note("twice")
        note("twice")
        if self.inner is not None:
            self.inner.fit(X)
        if self.fails:
            raise ValueError("as asked")
        return self


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def test_a_warning_is_given_once_at_the_caller_s_line():
    with pytest.warns(UserWarning, match="twice") as caught:
        Noisy().fit([1, 2])
    assert [each.filename for each in caught] == [__file__]
    line = Path(__file__).read_text().splitlines()[caught[0].lineno - 1]
    assert "Noisy().fit([1, 2])" in line


def test_decorators_inside_do_not_matter():
    class Wrapped(Noisy):
        fit = fit_frame(decorated(decorated(Noisy.fit.__wrapped__)))

    with pytest.warns(UserWarning, match="twice") as caught:
        Wrapped().fit([1, 2])
    assert [each.filename for each in caught] == [__file__]


def test_what_a_fit_inside_says_is_said_by_the_outer_one():
    with pytest.warns(UserWarning, match="twice") as caught:
        Noisy(inner=Noisy(inner=Noisy())).fit([1])
    assert [each.filename for each in caught] == [__file__]
    X, y = two_classes(60)
    ensemble = LocallyWeightedEnsemble(estimators=[SVC(max_iter=1), SVC(max_iter=1, C=2.0)])
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1") as caught:
        ensemble.fit(X, y)
    assert {each.filename for each in caught} == {__file__}


def test_a_caller_may_judge_for_itself():
    with collected_notes() as notes:
        Noisy().fit([1])
        note("not settled", ConvergenceWarning)
    assert list(notes) == [("twice", UserWarning), ("not settled", ConvergenceWarning)]
    with pytest.warns(UserWarning, match="twice") as caught:
        pass_on(notes, ConvergenceWarning)
    assert len(caught) == 1


def test_a_fit_that_fails_leaves_no_trace_and_says_nothing():
    model = Noisy(fails=True)
    with pytest.raises(ValueError, match="as asked"):
        model.fit([1])  # warnings are errors here
    assert vars(model) == {"inner": None, "fails": True}


def test_a_warning_that_is_an_error_leaves_no_trace():
    model, (X, _) = OneClassSVM(max_iter=1), one_sample(60)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.fit(X)
    assert vars(model) == before


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")  # two steps are no boundary
def test_learners_of_a_loop_do_not_warn_each_for_itself():
    X, y = positive_and_unlabelled(120)
    model = of_the_paper(classifier=SVC(max_iter=2))
    with pytest.warns(ConvergenceWarning, match="solver of SVC terminated early") as caught:
        model.fit(X, y)
    early = [each for each in caught if each.category is ConvergenceWarning]
    assert [each.filename for each in early] == [__file__]
    assert model.n_rounds_ > 1
    plain = SVC(tol=1e-5, gamma=model.classifier_.gamma).fit(X, y)
    assert set(vars(model.classifier_)) == set(vars(plain))  # nothing hidden is left in it


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda each: each.name)
@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_weights_whose_products_leave_the_range(subject, weight):
    X, y = subject.make(30)
    with pytest.raises(ValueError, match=r"sample_weight has the sum .*e[+-].* mean"):
        subject.new().fit(X, y, sample_weight=np.full(30, weight))


@pytest.mark.parametrize("weight", [1e140, 1e-140])
def test_large_and_small_weights_are_the_same_model(weight):
    X, _ = one_sample(60)
    # The violation is in the scale of the weights, the gap is relative.
    plain, scaled = OneClassSVM(nu=0.2), OneClassSVM(nu=0.2, tol=1e-3 * max(weight, 1.0))
    plain.fit(X)
    scaled.fit(X, sample_weight=np.full(60, weight))
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    np.testing.assert_array_equal(scaled.predict(X), plain.predict(X))


def test_prices_that_overflow_are_refused():
    X, y = two_classes(30)
    with pytest.raises(ValueError, match=r"C=1e\+300 times the factors of the rows.*range"):
        SVC(C=1e300).fit(X, y, sample_weight=np.full(30, 1e10))
    with pytest.raises(ValueError, match=r"C=1e-300 times the factors of the rows.*range"):
        SVC(C=1e-300).fit(X, y, sample_weight=np.full(30, 1e-100))


@dataclass(frozen=True)
class Found:
    """A solution as the frame sees it."""

    dual_gap: float = 0.0
    kkt_violation: float = 0.0
    n_iter: int = 1
    status: str = "optimal"
    relative_infeasibility: float = 0.0
    negative_curvature: bool = False


def judged(*solutions):
    model = OneClassSVM(kernel="sigmoid", tol=1e-3)
    keep_quality(model, solutions)
    return model.fit_status_, model.dual_gap_, model.kkt_violation_


def test_quality_of_several_problems_is_the_worst():
    assert judged(Found(1e-5, 1e-6), Found(1e-6, 1e-4)) == (0, 1e-5, 1e-4)
    with pytest.warns(ConvergenceWarning, match=r"violation 0.5 .*tol=0.001.* gap 0.1\."):
        assert judged(Found(), Found(0.1, 0.5, status="stalled")) == (1, 0.1, 0.5)


def test_a_solution_within_tol_is_optimal_whatever_the_solver_aimed_at():
    assert judged(Found(1e-4, 1e-4, status="stalled"))[0] == 0
    assert judged(Found(float("nan"), 1e-4, status="stalled"))[0] == 0  # no gap is known
    open_gap = Found(0.1, 1e-4, status="stalled")
    for short in (open_gap, Found(relative_infeasibility=1e-3, status="stalled")):
        with pytest.warns(ConvergenceWarning, match="Rounding errors"):
            assert judged(short)[0] == 1


def test_negative_curvature_is_told_with_the_kernel_s_name():
    words = "kernel='sigmoid' is not positive semidefinite.*local optimum; another order of rows"
    with pytest.warns(UserWarning, match=words):
        assert judged(Found(float("nan"), negative_curvature=True))[0] == 0


def private_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from (part for part in parts if part.startswith("_"))
        if isinstance(node, ast.Attribute) and node.attr in ("_validate_params", "_skl_callbacks"):
            yield node.attr


def test_no_module_imports_private_names_of_scikit_learn(tmp_path):
    root = Path(scarce.__file__).parent
    found = {path.name for path in root.rglob("*.py") if list(private_imports(path))}
    assert found == set()
    caught = tmp_path / "private.py"
    caught.write_text("from sklearn.utils import _safe_indexing\nfrom sklearn._config import a\n")
    assert list(private_imports(caught)) == ["_safe_indexing", "_config"]
