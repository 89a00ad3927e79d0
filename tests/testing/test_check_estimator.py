"""The public checks: what they run, how they fail, and that they need no test framework."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

import scarce
from scarce.solvers import DenseMatrix, QuadraticProgram, solve
from scarce.testing import Subject, all_checks, check_estimator, checks_for, raises, required, warns


class SmallestBall(OutlierMixin, BaseEstimator):
    """A machine of a few lines on the solver: the smallest ball around all rows of weight."""

    def __init__(self, tol=1e-6):
        self.tol = tol

    def fit(self, X, y=None, sample_weight=None):
        X = validate_data(self, X, dtype=[np.float64, np.float32]).astype(np.float64)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        rows = X[weights > 0]
        if not len(rows):
            raise ValueError("all samples have zero or negative weights")
        self.center_ = rows.mean(axis=0)
        moved = rows - self.center_
        gram = moved @ moved.T
        program = QuadraticProgram(DenseMatrix(gram), totals=[1.0], linear=-0.5 * np.diag(gram))
        found = solve(program, tol=self.tol * max(np.diag(gram).max(), 1e-300))
        self.center_ = self.center_ + found.alpha @ moved
        self.radius_ = float(np.linalg.norm(rows - self.center_, axis=1).max())
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self.radius_ - np.linalg.norm(X.astype(np.float64) - self.center_, axis=1)

    def predict(self, X):
        return np.where(self.decision_function(X) >= 0, 1, -1)


# What the few lines above do not do.
NOT_DONE = {
    "a_failed_fit_leaves_no_trace",
    "columns_of_very_different_scale",
    "metadata_routing_needs_no_set_up",
    "parameters_out_of_range",
    "values_whose_squares_overflow",
    "weights_of_wrong_shape_or_value",
}


def test_a_machine_on_the_solver_can_be_checked():
    ran = check_estimator(SmallestBall(), skip=NOT_DONE)
    assert {"order_of_rows", "weights_may_be_fractions", "pickle_round_trip"} <= set(ran)
    assert not NOT_DONE & set(ran)


def test_a_defect_is_found_and_named():
    class Careless(SmallestBall):
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(X[: len(X) // 2], y)

    with pytest.raises(AssertionError) as caught:
        check_estimator(Careless(), only=["order_of_rows"])
    assert "decisions" in str(caught.value)
    assert any("order_of_rows" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("attribute", ["dual_coef_", "intercept_", "objective_", "kkt_violation_"])
def test_claims_that_are_not_finite_are_found(attribute):
    class Boastful(SmallestBall):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            setattr(self, attribute, np.array([1.0, np.nan]))
            return self

    check_estimator(Boastful(), only=["duplicates"])  # says nothing of the attribute
    Boastful.__doc__ = f"""A machine that says more than it knows.

    Attributes
    ----------
    {attribute} : ndarray
        A claim.
    """
    with pytest.raises(AssertionError, match=f"{attribute} is not finite"):
        check_estimator(Boastful(), only=["duplicates"])


def test_decisions_that_are_not_finite_are_found():
    class Lost(SmallestBall):
        def decision_function(self, X):
            return super().decision_function(X) * np.nan

    with pytest.raises(AssertionError, match="decisions are not finite"):
        check_estimator(Lost(), only=["duplicates"])


@pytest.mark.parametrize(
    "columns",
    [
        {"objective": [3.0, 2.0, 2.5]},
        {"objective": [3.0, 2.0, 1.0], "moved": [0.0]},
        {"objective": [1.0]},
    ],
    ids=["rises", "different lengths", "one round"],
)
def test_histories_that_are_wrong_are_found(columns):
    class Recounts(SmallestBall):
        """A machine with rounds.

        Attributes
        ----------
        history_ : dict of list
            Per round.
        """

        def __init__(self, tol=1e-6, radius=0.0, round_tol=0.1):
            super().__init__(tol)
            self.radius, self.round_tol = radius, round_tol

        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.history_ = columns
            return self

    with pytest.raises(AssertionError):
        check_estimator(Recounts(), only=["history_never_rises"])


def test_unknown_checks_are_refused():
    for names in ({"only": ["order_of_columns"]}, {"skip": ["order_of_columns"]}):
        with pytest.raises(ValueError, match="no check is called 'order_of_columns'"):
            check_estimator(SmallestBall(), **names)


def test_checks_follow_from_what_the_estimator_has():
    names = {each.name for each in checks_for(Subject.of(SmallestBall()))}
    assert "weights_may_be_fractions" in names
    assert not names & {"labels_may_be_anything", "progress_is_reported", "history_never_rises"}
    more = {each.name for each in checks_for(Subject.of(scarce.SVC()))}
    assert names < more < {each.name for each in all_checks()}


def test_own_data():
    sizes = []

    def make(n):
        sizes.append(n)
        return np.random.default_rng(n).uniform(1.0, 2.0, size=(n, 3)), None

    check_estimator(SmallestBall(), make=make, only=["order_of_rows"])
    assert sizes == [80]


def test_no_test_framework_is_needed():
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pytest", "hypothesis", "pandas", "skops"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from scarce import OneClassSVM
from scarce.testing import check_estimator
assert check_estimator(OneClassSVM(nu=0.2), only=["order_of_rows", "one_row"])
try:
    check_estimator(OneClassSVM(nu=0.2), only=["skops_round_trip"])
except ImportError as error:
    assert 'pip install "scarce[persist]"' in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_errors_that_must_come():
    with pytest.raises(AssertionError, match="no ValueError was raised"), raises(ValueError):
        pass
    with pytest.raises(AssertionError, match="but says 'b'"), raises(ValueError, "a"):
        raise ValueError("b")
    with raises(ValueError, "a"):
        raise ValueError("ba")
    with pytest.raises(TypeError), raises(ValueError, "a"):
        raise TypeError("a")


def test_warnings_that_must_come():
    with pytest.raises(AssertionError, match="no UserWarning matches"), warns(UserWarning):
        pass
    with pytest.warns(DeprecationWarning, match="other"), warns(UserWarning, "this") as caught:  # noqa: PT031
        warnings.warn("this one", ConvergenceWarning, stacklevel=1)
        warnings.warn("other", DeprecationWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["this one"]


def test_missing_modules_name_their_extra():
    with pytest.raises(ImportError, match=r"needs no_such_module.*scarce\[test\]"):
        required("no_such_module", "test")
