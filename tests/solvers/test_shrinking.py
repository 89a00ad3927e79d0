"""Steps on the variables that may still move: which they are, and that nothing is lost by it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scarce.solvers import DenseMatrix, QuadraticProgram, _small, solve
from scarce.solvers._descent import Descent, active_variables
from scarce.solvers._signed import SignedForm
from scarce.solvers._small import solve_small
from scarce.solvers._step_data import Boxes
from tests.oracles.program import dual_optimum
from tests.oracles.program import program as oracle


def program(random, n=160, price=1.0):
    """Return two coupled groups with boxes, interleaved."""
    X = random.normal(size=(n, 4))
    kernel = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    return QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.1 * n * price, 0.15 * n * price],
        upper=price * random.uniform(0.5, 1.5, n),
        linear=random.normal(size=n),
        groups=np.arange(n) % 2,
        coupling=[[1.0, 0.5], [0.5, 1.0]],
    )


def test_a_variable_is_left_out_if_it_violates_with_no_other_of_its_group():
    random = np.random.default_rng(0)
    starts = np.array([0, 30, 50])
    boxes = Boxes(np.zeros(50), np.ones(50), np.ones(50), starts)
    for _ in range(20):
        x = random.choice([0.0, 0.4, 1.0], size=50)
        pull = random.normal(size=50)
        fixed = random.random(50) < 0.2
        active = active_variables(boxes, -pull, x, fixed)
        wanted = []
        for own in (range(30), range(30, 50)):
            own = [i for i in own if not fixed[i]]
            for i in own:
                grows = any(x[i] < 1 and x[j] > 0 and pull[i] > pull[j] for j in own)
                shrinks = any(x[i] > 0 and x[j] < 1 and pull[j] > pull[i] for j in own)
                if 0 < x[i] < 1 or grows or shrinks:
                    wanted.append(i)
        assert set(wanted) <= set(active)
        # Beside them only the two at which a group has its m and M, which violate with themselves.
        assert len(set(active) - set(wanted)) <= 4


@pytest.mark.parametrize("price", [1.0, 100.0])
def test_the_optimum_is_that_of_all_variables(monkeypatch, price):
    calls, steps_on = [], Descent._steps_on

    def counted(self, active, *args):
        calls.append(active.size)
        return steps_on(self, active, *args)

    monkeypatch.setattr(Descent, "_steps_on", counted)
    monkeypatch.setattr(_small, "KEPT", 0)  # so few variables would be done at once
    problem = program(np.random.default_rng(1), price=price)
    solution = solve(problem, tol=1e-8)
    assert solution.status == "optimal"
    assert calls
    assert max(calls) <= 0.75 * problem.kernel.n
    parts = {name: getattr(problem, name) for name in ("upper", "linear", "groups", "coupling")}
    wanted, _ = dual_optimum(oracle(problem.kernel.values, problem.totals, **parts))
    assert_allclose(solution.objective, wanted, rtol=1e-6)


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


def test_steps_on_some_variables_leave_the_others_and_the_gradient_follows():
    problem = program(np.random.default_rng(2))
    problem.diagonal = np.linspace(0, 1, problem.kernel.n)
    n = problem.kernel.n
    order = np.argsort(problem.groups, kind="stable")
    x = np.where(np.arange(n) % 8 < 2, 0.4 * problem.upper, 0.0)
    descent = descent_of(problem, x)
    descent._follow(descent.nowhere)
    assert_allclose(descent.gradient, gradient_of(problem, x)[order], rtol=1e-12, atol=1e-12)
    some = np.arange(0, n, 3)
    steps, local = descent._steps_on(some, 1e-4, 1000)
    assert steps > 0
    new = descent._variables(descent.x)
    others = np.setdiff1d(np.arange(n), order[some])
    assert_array_equal(new[others], x[others])
    for g in (0, 1):
        own = problem.groups == g
        assert_allclose(new[own].sum(), x[own].sum(), rtol=1e-12)
    fixed = ~np.isin(np.arange(n), some)
    worst, seen = descent._follow(fixed)
    gradient = gradient_of(problem, new)
    assert_allclose(descent.gradient, gradient[order], rtol=1e-10, atol=1e-10)
    assert_allclose(local, gradient[order][some], rtol=1e-5, atol=1e-5)

    def violation(members):
        worst = -np.inf
        for g in (0, 1):
            own = members[problem.groups[members] == g]
            up, low = own[new[own] < problem.upper[own]], own[new[own] > 0]
            worst = max(worst, (-gradient[up]).max() - (-gradient[low]).min())
        return worst

    assert_allclose(worst, violation(np.arange(n)), rtol=1e-9)
    assert_allclose(seen, violation(order[some]), rtol=1e-6, atol=1e-9)
    assert seen <= 2e-4


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
    n, price = 150, 1e3 / scale
    X = random.normal(size=(n, 30))
    kernel = scale * np.exp(-0.02 * ((X[:, None] - X) ** 2).sum(axis=2)) + offset
    y = np.where(random.random(n) < 0.5, 1.0, -1.0)
    problem = QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.0],
        upper=price,
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
    up, low = x < np.where(y > 0, price, 0.0), x > np.where(y > 0, 0.0, -price)
    assert (up & low).sum() > 2
    assert pull[up].max() - pull[low].min() <= tol
