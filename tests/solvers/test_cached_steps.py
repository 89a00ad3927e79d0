"""Steps in single precision on rows that are cached, led by the exact gradient."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scarce.solvers import DenseMatrix, QuadraticProgram
from tests.solvers.internals import Descent, SignedForm, solve_small


def program(random, n=160, cost=1.0):
    """Return two coupled groups with boxes, interleaved."""
    X = random.normal(size=(n, 4))
    kernel = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    return QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.1 * n * cost, 0.15 * n * cost],
        upper=cost * random.uniform(0.5, 1.5, n),
        linear=random.normal(size=n),
        groups=np.arange(n) % 2,
        coupling=[[1.0, 0.5], [0.5, 1.0]],
    )


def descent_of(problem, x):
    """Return a descent from a point, whose arrays are in the order of the groups."""
    form = SignedForm(problem)
    form.keep_rows(np.empty(problem.kernel.n**2), 200.0)
    descent = Descent(form, x)
    descent.rows = np.empty((x.size, x.size), np.float32), np.full(x.size, -1)
    return descent


def gradient_of(problem, x):
    """Return the gradient by a product with the whole matrix."""
    scale = problem.coupling[np.ix_(problem.groups, problem.groups)]
    return (scale * problem.kernel.values + np.diag(problem.diagonal)) @ x + problem.linear


def test_steps_keep_the_totals_and_the_gradient_follows():
    problem = program(np.random.default_rng(2))
    problem.diagonal = np.linspace(0, 1, problem.kernel.n)
    n = problem.kernel.n
    order = np.argsort(problem.groups, kind="stable")
    x = np.where(np.arange(n) % 8 < 2, 0.4 * problem.upper, 0.0)
    descent = descent_of(problem, x)
    descent._follow(descent.nowhere)
    assert_allclose(descent.gradient, gradient_of(problem, x)[order], rtol=1e-12, atol=1e-12)
    steps, local = descent._steps(1e-4, 1000)
    assert steps > 0
    new = descent._variables(descent.x)
    for g in (0, 1):
        own = problem.groups == g
        assert_allclose(new[own].sum(), x[own].sum(), rtol=1e-12)
    some = np.arange(0, n, 3)
    worst, seen = descent._follow(~np.isin(np.arange(n), some))
    gradient = gradient_of(problem, new)
    assert_allclose(descent.gradient, gradient[order], rtol=1e-10, atol=1e-10)
    assert_allclose(local, gradient[order], rtol=1e-5, atol=1e-5)

    def violation(members):
        worst = -np.inf
        for g in (0, 1):
            own = members[problem.groups[members] == g]
            up, low = own[new[own] < problem.upper[own]], own[new[own] > 0]
            worst = max(worst, (-gradient[up]).max() - (-gradient[low]).min())
        return worst

    assert_allclose(worst, violation(np.arange(n)), rtol=1e-9)
    assert_allclose(seen, violation(order[some]), rtol=1e-6, atol=1e-9)
    assert worst <= 2e-4


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("scale", "offset", "tol", "precision"),
    [
        (1.0, 0.0, 1e-10, np.float32),  # led on by the exact gradient
        (1.0, 1e6, 1e-3, np.float64),  # of a kernel whose values it takes for equal
        (1e-60, 0.0, 1e-3, np.float64),  # of one that it takes for zero
        (1e60, 0.0, 1e-3, np.float64),  # or for infinite
    ],
)
def test_steps_find_what_single_precision_has_no_digits_for(scale, offset, tol, precision, at_once):
    random = np.random.default_rng(4)
    n, cost = 150, 1e3 / scale
    X = random.normal(size=(n, 30))
    kernel = scale * np.exp(-0.02 * ((X[:, None] - X) ** 2).sum(axis=2)) + offset
    y = np.where(random.random(n) < 0.5, 1.0, -1.0)
    problem = QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.0],
        upper=cost,
        linear=-1.0,
        signs=y,
        kernel_signs=y,
    )
    form = SignedForm(problem)
    form.keep_rows(np.empty(n**2), 200.0)
    descent = Descent(form, np.zeros(n))
    if at_once:
        _, x, steps = solve_small(form, None, tol, 10**6)
        assert steps > 0
    else:
        x, field, _ = descent.go(tol, 10**6)
        assert descent.precision == precision
        assert field is not None
    pull = y - (kernel - offset) @ x  # as the sum of x is zero
    up, low = x < np.where(y > 0, cost, 0.0), x > np.where(y > 0, 0.0, -cost)
    assert (up & low).sum() > 2
    assert pull[up].max() - pull[low].min() <= tol
