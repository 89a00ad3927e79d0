"""Steps on the variables that may still move: which they are, and that nothing is lost by it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scarce.solvers import DenseMatrix, QuadraticProgram, _compiled_small, solve
from scarce.solvers._step_data import NO_SOURCE, Boxes, StepMatrix
from tests.oracles.program import dual_optimum
from tests.oracles.program import program as oracle

pytestmark = pytest.mark.nojit


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
        active, begins = _compiled_small.active_variables(boxes, -pull, x, fixed)
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
        assert_array_equal(begins, np.searchsorted(active, starts))


@pytest.mark.parametrize("price", [1.0, 100.0])
def test_the_optimum_is_that_of_all_variables(monkeypatch, price):
    calls, shrunk = [], _compiled_small.shrunk_steps

    def counted(*args):
        calls.append(args[-2].size)
        return shrunk(*args)

    interpreted = not hasattr(shrunk, "py_func")  # a compiled function knows its callees for good
    if interpreted:
        monkeypatch.setattr(_compiled_small, "shrunk_steps", counted)
    problem = program(np.random.default_rng(1), price=price)
    solution = solve(problem, tol=1e-8)
    assert solution.status == "optimal"
    assert not interpreted or (calls and max(calls) <= 0.75 * problem.kernel.n)
    parts = {name: getattr(problem, name) for name in ("upper", "linear", "groups", "coupling")}
    wanted, _ = dual_optimum(oracle(problem.kernel.values, problem.totals, **parts))
    assert_allclose(solution.objective, wanted, rtol=1e-6)


def test_the_gradient_of_all_variables_follows():
    problem = program(np.random.default_rng(2))
    order = np.argsort(problem.groups, kind="stable")
    Q = np.ascontiguousarray(problem.kernel.values[np.ix_(order, order)])
    n, starts = order.size, np.array([0, 80, 160])
    upper, linear = problem.upper[order], problem.linear[order]
    x = np.where(np.arange(n) % 4 == 0, 0.4 * upper, 0.0)
    where, extra, diagonal = np.arange(n), np.linspace(0, 1, n), np.empty(n)
    same = np.repeat([0, 1], 80)
    whole = problem.coupling[np.ix_(same, same)] * Q + np.diag(extra)
    diagonal[:] = np.diagonal(whole)
    gradient, before, sums = whole @ x + linear, x.copy(), [x[:80].sum(), x[80:].sum()]
    some = np.arange(0, n, 3)
    steps = _compiled_small.shrunk_steps(
        StepMatrix(Q, where, problem.coupling, extra, diagonal),
        Boxes(np.zeros(n), upper, upper.copy(), starts),
        NO_SOURCE,
        gradient,
        x,
        1e-6,
        1000,
        1e-12,
        np.full(3, -1),
        False,
        some,
        np.searchsorted(some, starts),
    )
    assert steps > 0
    others = np.setdiff1d(np.arange(n), some)
    assert_array_equal(x[others], before[others])
    assert_allclose([x[:80].sum(), x[80:].sum()], sums, rtol=1e-12)
    assert_allclose(gradient, whole @ x + linear, rtol=1e-10, atol=1e-10)
