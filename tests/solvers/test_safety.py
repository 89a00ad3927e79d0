"""Lines that only matter when something goes wrong: each has a case in which it does."""

from fractions import Fraction

import numpy as np
import pytest

from scarce.kernels import KernelOperator, make_kernel, prepare
from scarce.parallel import small_space
from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.solvers.internals import Descent, Field, SignedForm, _solve, checked_field
from tests.solvers.operators import OffInSingle

EPS = np.finfo(float).eps


def gram(n, seed=1):
    rows = np.random.default_rng(seed).normal(size=(n, 3))
    squares = (rows**2).sum(axis=1)
    return np.exp(-0.3 * (squares[:, None] + squares - 2 * rows @ rows.T))


@pytest.mark.parametrize("share", [3e-3, -3e-3])
def test_no_error_is_left_that_could_change_the_verdict(share):
    """Rows are in doubt when their condition is met by less than their error."""
    n, tol = 1200, 1.0
    off = np.random.default_rng(0).random(n) < 0.5
    problem = QuadraticProgram(OffInSingle(gram(n), off, share), totals=[0.3 * n], upper=1.0)
    x = solve(problem, tol=1e-6).alpha
    form = SignedForm(problem)
    field = Field(form, x, np.float32)
    wanted = -field.values
    error = checked_field(form, x, field, tol, last=True)
    assert error is not None
    left = error > 1e-9  # of single precision
    assert 0.2 * n < left.sum() < off.sum()  # some of those rows were computed exactly
    grows, shrinks = x < 1.0, x > 0.0
    middle = 0.5 * (wanted[grows].max() + wanted[shrinks].min())
    violated = np.maximum(
        np.where(grows, wanted - middle, -np.inf), np.where(shrinks, middle - wanted, -np.inf)
    )
    assert (violated + error)[left].max() <= 0.1 * tol * (1 + 1e-9)
    exact = gram(n) @ x
    assert np.abs(field.values - exact)[~left].max() < 1e-9


def descent(n=600):
    problem = QuadraticProgram(DenseMatrix(gram(n), definite=True), totals=[0.3 * n], upper=1.0)
    form = SignedForm(problem)
    with small_space("matrix") as matrix:
        form.keep_rows(matrix, 200.0)
        return Descent(form, np.full(n, 0.3))


def test_a_lost_gradient_is_noticed():
    found = descent()
    local = found.gradient.copy()
    assert not found._is_lost(local, 1.0)
    local[7] += 0.2  # of a free variable, beside a violation of 1
    assert found._is_lost(local, 1.0)
    assert not found._is_lost(local, 10.0)
    found.x[7] = 1.0  # at a bound it has no part in the steps to come
    assert not found._is_lost(local, 1.0)
    local[8] = np.nan
    assert found._is_lost(local, 1.0)


def test_steps_that_lost_the_gradient_go_on_in_double_precision(monkeypatch):
    found = descent()
    lost = []
    plain = Descent._is_lost

    def told(self, local, violation):
        lost.append(plain(self, local + (0.0 if lost else 1e3), violation))
        return lost[-1]

    monkeypatch.setattr(Descent, "_is_lost", told)
    _, field, _ = found.go(1e-9, 10**6)
    assert field is not None
    assert lost[0] is True
    assert found.precision == np.float64


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("n", [2000, 5000])
def test_the_bound_of_a_sum_grows_with_its_terms(n, name):
    """A large term, and thousands of which each is less than half of its last digit."""
    X = np.zeros((n, 40)) if name in ("rbf", "laplacian") else np.full((n, 40), 40**-0.5)
    operator = KernelOperator(prepare(make_kernel(name, gamma=1.0, degree=1, coef0=0.0), X))
    weights = np.full(n, 0.49 * EPS)
    weights[0] = 1.0
    sums = np.zeros(n)
    operator.accumulate(np.arange(n), weights[None], np.zeros(n, np.int64), sums, np.float64)
    values = operator.reference(np.arange(1), np.arange(n)).astype(np.longdouble)
    exact = float(values[0] @ weights.astype(np.longdouble))
    bound = operator.error_bound(weights, np.float64)
    assert (np.abs(sums - exact) <= bound).all()
    # Wide registers and tiles err less; the bound is for any order, so for one term after another.
    in_turn = abs(np.cumsum(values[0].astype(np.float64) * weights)[-1] - exact)
    assert in_turn > 55 * EPS  # more than the errors of the values, of 40 columns
    assert (in_turn <= bound).all()


# The judgement of small programs.


def rational(problem, alpha, multipliers, values):
    """Return violation and gap of a program of one group, all signs 1, without rounding."""
    point = [Fraction(float(each)) for each in alpha]
    support = [j for j, each in enumerate(point) if each]
    gradient = [
        Fraction(float(problem.linear[i])) + sum(values[i][j] * point[j] for j in support)
        for i in range(len(point))
    ]
    beta, gap, above, below = Fraction(float(multipliers[0])), Fraction(0), [], []
    for i, each in enumerate(point):
        low, high = Fraction(float(problem.lower[i])), Fraction(float(problem.upper[i]))
        slope = gradient[i] + beta
        gap += max(slope * (each - low), slope * (each - high))
        above += [-gradient[i]] * (each < high)
        below += [-gradient[i]] * (each > low)
    gap += beta * (Fraction(float(problem.totals[0])) - sum(point))
    objective = (
        sum(point[j] * (gradient[j] + Fraction(float(problem.linear[j]))) for j in support) / 2
    )
    return max(above) - min(below), gap / max(abs(objective), abs(objective - gap))


def as_fractions(values):
    return [[Fraction(float(each)) for each in row] for row in values]


@pytest.mark.parametrize("seed", range(4))
def test_no_rounding_makes_a_claim_too_good(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 60)) * 10.0 ** rng.uniform(-2, 2, size=(40, 1))
    values = rows @ rows.T
    matrix = DenseMatrix(0.5 * (values + values.T), definite=True)
    problem = QuadraticProgram(matrix, totals=[10.0], upper=1.0 + rng.random(40))
    found = solve(problem, tol=1e-3)
    assert found.status == "optimal"
    violation, gap = rational(problem, found.alpha, found.multipliers, as_fractions(matrix.values))
    assert violation > 0
    assert Fraction(found.kkt_violation) >= violation
    assert Fraction(found.dual_gap) >= gap


class Uncertain(DenseMatrix):
    """A matrix whose values are known to a bound only."""

    error = 1e-3

    def value_errors(self):
        return np.zeros(self.n, np.int64), np.full((1, 1), self.error)


@pytest.mark.parametrize("seed", range(3))
def test_claims_are_of_any_values_within_their_errors(seed):
    n, rng = 30, np.random.default_rng(seed)
    values = gram(n, seed) + np.eye(n)
    matrix = Uncertain(values, definite=True)
    problem = QuadraticProgram(matrix, totals=[0.3 * n], upper=1.0)
    found = solve(problem, tol=0.1)
    assert found.status == "optimal"
    worst = 0.0
    for _ in range(30):
        shift = np.sign(rng.normal(size=(n, n)))
        shift = np.triu(shift) + np.triu(shift, 1).T
        other = DenseMatrix(values + Uncertain.error * shift, definite=True)
        moved = QuadraticProgram(other, totals=[0.3 * n], upper=1.0)
        violation, gap = rational(moved, found.alpha, found.multipliers, as_fractions(other.values))
        assert Fraction(found.kkt_violation) >= violation
        assert Fraction(found.dual_gap) >= gap
        worst = max(worst, float(violation))
    assert worst > 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_rounding_of_slopes_counts_over_a_wide_box(seed):
    """What a slope may be steeper by is worth as much as the plain certificate says."""
    n, rng = 60, np.random.default_rng(seed)
    upper = np.where(rng.random(n) < 0.1, 1e9, 1.0)
    matrix = DenseMatrix(gram(n, seed) + 0.1 * np.eye(n), definite=True)
    problem = QuadraticProgram(matrix, totals=[5.0], upper=upper)
    found = solve(problem, tol=1e-3)
    assert found.status == "optimal"
    free = (found.alpha > 0) & (found.alpha < upper)
    assert (upper[free] > 1).any()
    steeper = 32 * EPS * np.abs(found.alpha).sum() * 1.1  # of a diagonal of 1.1
    slack = steeper * (upper - found.alpha)[free].sum()
    assert found.dual_gap >= slack / found.objective * (1 - 1e-6)
    assert certify(problem, found.alpha).dual_gap <= found.dual_gap


@pytest.mark.parametrize("seed", [168, 177, 306])
def test_multipliers_meet_the_conditions_of_light_rows(seed):
    """Boxes over 16 decades: beside the others a free variable's box is below their last digits."""
    n, rng = 8, np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    upper = 100 * 10.0 ** rng.uniform(-8, 8, n)
    Q = np.eye(n) + 0.1
    problem = QuadraticProgram(
        DenseMatrix(Q, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=upper,
    )
    alpha = solve(problem, tol=1e-3).alpha
    wanted = y - Q @ (y * alpha)
    room = 1e-10 * np.minimum(upper, alpha.sum())
    below, above = alpha < upper - room, alpha > room
    m = wanted[np.where(y > 0, below, above)].max()
    M = wanted[np.where(y > 0, above, below)].min()
    assert abs(m - M) < 1e-9  # of the free variable
    assert certify(problem, alpha).multipliers[0] == pytest.approx(m, abs=1e-9)


def test_memory_that_nobody_wrote_to_is_not_computed_with(monkeypatch):
    """Squared slacks leave a small program to the loop, without a field; new memory may be NaN."""
    signalling = np.array([0x7FF4000000000000], np.uint64).view(np.float64)[0]
    plain = np.empty

    def empty(shape, dtype=np.float64, **options):
        made = plain(shape, dtype, **options)
        if made.dtype == np.float64:
            made.view(np.uint64)[...] = 0x7FF4000000000000
        return made

    with pytest.warns(RuntimeWarning, match="invalid value"):
        np.multiply([signalling], 1.0)
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    problem = QuadraticProgram(
        DenseMatrix(X @ X.T, definite=True), totals=[1.0], upper=1.0, diagonal=0.5
    )
    monkeypatch.setattr(_solve.np, "empty", empty)
    solution = solve(problem, tol=1e-9)
    monkeypatch.undo()
    alpha = solution.alpha
    gradient = X @ (X.T @ alpha) + 0.5 * alpha
    free = (alpha > 1e-6) & (alpha < 1 - 1e-6)
    assert np.ptp(gradient[free]) < 1e-8
