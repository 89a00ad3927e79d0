"""Every fit ends, solved or warned, whatever the data; the same input gives the same bits."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import scarce

# Steps of a fit that nobody limits: the larger of these, the second for every dual variable.
MOST, EACH = 1_000_000, 500


def fitted(model, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*arguments, **keywords)


def check_end(model, n_variables):
    assert int(np.sum(model.n_iter_)) <= 1.1 * max(MOST, EACH * n_variables)
    met = model.kkt_violation_ <= model.tol and not model.dual_gap_ > model.tol
    assert model.fit_status_ == (0 if met else 1)


def whole_numbers(n=513):
    rng = np.random.default_rng(0)
    return rng.integers(-5, 6, size=(n, 2)).astype(float), 10.0 ** rng.uniform(-8, 8, size=n)


@pytest.mark.parametrize("shift", [0.0, 8.0])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("machine", [scarce.OneClassSVM, scarce.SVDD])
def test_whole_numbers_with_weights_of_many_decades(machine, kernel, shift):
    X, weights = whole_numbers()
    model = machine(kernel=kernel, nu=0.37, tol=1e-5)
    check_end(fitted(model, X + shift, sample_weight=weights), 513)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_the_same_rows_with_targets(kernel):
    X, weights = whole_numbers()
    targets = np.random.default_rng(1).normal(size=513)
    model = scarce.NuSVR(kernel=kernel, nu=0.37, tol=1e-5)
    check_end(fitted(model, X, targets, sample_weight=weights), 1026)
    model = scarce.SVC(kernel=kernel, C=100.0, tol=1e-5)
    check_end(fitted(model, X, targets > 0, sample_weight=weights), 513)


@pytest.mark.parametrize(
    ("kernel", "n", "C", "tol"),
    [("linear", 1209, 1.0, 1e-3), ("linear", 1209, 100.0, 1e-5), ("rbf", 1209, 1.0, 1e-3)],
)
def test_rows_over_many_decades(kernel, n, C, tol):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    model = scarce.SVR(kernel=kernel, C=C, tol=tol)
    check_end(fitted(model, X, rng.normal(size=n)), 2 * n)


@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e9, 1e12, 1e300])
def test_a_large_cost_is_met_or_warned_of(C, kernel, noise):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    values = X.astype(np.longdouble)
    values = values @ values.T
    if kernel == "rbf":
        squares = np.diag(values)
        values = np.exp(-0.5 * (squares[:, None] + squares - 2.0 * values))
    y = np.where(X[:, 0] + noise * rng.normal(size=60) > 0, 1, -1)
    model = scarce.SVC(C=C, kernel=kernel, gamma=0.5)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X, y)
    coefficients = np.zeros(60, np.longdouble)
    coefficients[model.support_] = model.dual_coef_[0]
    scores = values @ coefficients
    slacks = np.maximum(1.0 - y * (scores + model.intercept_[0]), 0.0).sum()
    square = coefficients @ scores
    primal, dual = square / 2 + C * slacks, np.abs(coefficients).sum() - square / 2
    is_met = primal - dual <= model.tol * max(abs(primal), abs(dual))
    warned = any(issubclass(each.category, ConvergenceWarning) for each in heard)
    assert warned == (model.fit_status_ == 1)
    assert warned or is_met


SAME_BITS = """
import numpy as np
import scarce

rng = np.random.default_rng(0)
X, y = rng.normal(size=(90, 3)), rng.random(90) < 0.5


def bits():
    models = (
        scarce.OneClassSVM(nu=0.2).fit(X),
        scarce.SVC(C=10.0).fit(X, y),
        scarce.SVR().fit(X, X[:, 0]),
    )
    return "".join(m.dual_coef_.tobytes().hex() + m.intercept_.tobytes().hex() for m in models)


print(bits())
for n in (30, 150, 400, 700):
    scarce.SVC(C=10.0).fit(rng.normal(size=(n, 8)), rng.random(n) < 0.5)
print(bits())
"""


def test_bits_do_not_depend_on_what_was_fitted_before():
    found = subprocess.run(
        [sys.executable, "-c", SAME_BITS], capture_output=True, text=True, check=True
    )
    before, after = found.stdout.split()
    assert before == after
