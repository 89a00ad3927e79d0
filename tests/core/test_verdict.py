"""The judgement of a small program: against rational arithmetic, and against the one in NumPy."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scarce.solvers import DenseMatrix, QuadraticProgram, one_class_offset
from scarce.solvers.certificate._judge import judge
from scarce.solvers.certificate._offsets import best_multipliers
from tests.core import reference
from tests.core.declared import FUNCTIONS, call
from tests.core.samples import arguments, groups_of

NAMES = ("optimal", "steps", "objective", "gap", "relative", "violation", "off", "share")


def verdict_of(given):
    """Return what is judged, with a tolerance at which any point is accepted as it is."""
    found, written = call(FUNCTIONS["solve_small"], given | {"tol": 1e30, "given": 1, "most": 1})
    return dict(zip(NAMES, found, strict=True)), written


def vertex_program(n, seed, spread=0.0):
    """Return a program at a vertex, where nothing is free to move before it is judged."""
    random = np.random.default_rng([n, seed])
    given = arguments("solve_small", n, random)
    given["x"] = np.where(random.random(n) < 0.4, given["upper"], given["lower"])
    given["errors"] = np.abs(random.normal(size=given["errors"].shape)) * spread
    given["errors"] = np.maximum(given["errors"], given["errors"].T)
    for g, (first, last) in enumerate(pairwise(given["starts"])):
        given["totals"][g] = given["x"][first:last].sum()
    return given


def rational(given, x, multipliers, values):
    """Return field, objective, gap and violation of a point in rational numbers."""
    n, groups = x.size, groups_of(given)
    point = [Fraction(float(each)) for each in x]
    columns, signs = given["columns"], [Fraction(float(each)) for each in given["signs"]]
    coupling = given["coupling"]
    field = [
        sum(
            (
                Fraction(float(coupling[groups[i], groups[j]]))
                * values[given["lines"][j], columns[i]]
                * signs[j]
                * point[j]
                for j in range(n)
                if point[j]
            ),
            Fraction(0),
        )
        for i in range(n)
    ]
    linear = [Fraction(float(each)) for each in given["linear"]]
    gradient = [signs[i] * field[i] + linear[i] for i in range(n)]
    objective = sum(point[i] * (gradient[i] + linear[i]) for i in range(n)) / 2
    gap, worst = Fraction(0), Fraction(0)
    for g, (first, last) in enumerate(pairwise(given["starts"])):
        beta = Fraction(float(multipliers[g]))
        above, below = [], []
        for i in range(first, last):
            low, high = Fraction(float(given["lower"][i])), Fraction(float(given["upper"][i]))
            slope = gradient[i] + beta
            gap += max(slope * (point[i] - low), slope * (point[i] - high))
            above += [-gradient[i]] if point[i] < high else []
            below += [-gradient[i]] if point[i] > low else []
        if above and below:
            worst = max(worst, max(above) - min(below))
        gap += beta * (Fraction(float(given["totals"][g])) - sum(point[first:last]))
    return field, objective, gap, worst


def exact_values(given, shift=None):
    """Return kernel values as rational numbers, each moved by a share of its error bound."""
    values = given["values"]
    found = np.empty(values.shape, object)
    bins = np.zeros(values.shape[0], int)
    bins[given["lines"]] = given["codes"]
    for i in range(values.shape[0]):
        for j in range(values.shape[0]):
            off = 0.0 if shift is None else shift[i, j] * given["errors"][bins[i], bins[j]]
            found[i, j] = Fraction(float(values[i, j])) + Fraction(off)
    return found


@pytest.mark.parametrize("n", [1, 2, 9, 24])
@pytest.mark.parametrize("seed", range(4))
def test_rational_arithmetic_at_a_vertex(n, seed):
    given = vertex_program(n, seed)
    found, written = verdict_of(given)
    np.testing.assert_array_equal(written["x"], given["x"])
    field, objective, gap, worst = rational(
        given, written["x"], written["multipliers"], exact_values(given)
    )
    assert_allclose(written["field"], [float(each) for each in field], rtol=0, atol=1e-14 * n)
    assert_allclose(found["objective"], float(objective), rtol=1e-13, atol=1e-14)
    assert_allclose(found["gap"], float(gap), rtol=1e-12, atol=1e-13)
    # Errors are bounded from above: what is claimed is never better than the truth.
    assert found["violation"] >= worst or worst == 0
    assert_allclose(max(found["violation"], 0.0), float(worst), rtol=1e-11, atol=1e-13)
    scale = max(abs(objective), abs(objective - gap))
    assert found["relative"] >= float(gap / scale) * (1 - 1e-12)
    assert_allclose(found["relative"], float(gap / scale), rtol=1e-9, atol=1e-11)
    assert found["off"] <= 1e-14


@pytest.mark.parametrize("spread", [1e-3, 0.02])
@pytest.mark.parametrize("solved", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_claims_hold_for_any_values_within_their_errors(seed, solved, spread):
    """Kernel values are known up to bounds: violation and gap cover the worst of the truths."""
    given = vertex_program(12, seed, spread=spread)
    if solved:
        written = call(
            FUNCTIONS["solve_small"], given | {"tol": 1e-3, "errors": 0.0 * given["errors"]}
        )[1]
        given["x"] = written["x"]
    found, written = verdict_of(given)
    random = np.random.default_rng(seed)
    signs = np.zeros(given["values"].shape[0])
    signs[given["lines"]] = given["signs"] * written["x"]
    for trial in range(8):
        if trial < 2:  # all errors move the objective one way, as far as they can
            shift = (-1) ** trial * np.sign(np.multiply.outer(signs, signs))
        else:
            shift = np.sign(random.normal(size=given["values"].shape))
        shift = np.triu(shift) + np.triu(shift, 1).T
        _, objective, gap, worst = rational(
            given, written["x"], written["multipliers"], exact_values(given, shift)
        )
        assert found["violation"] >= worst
        scale = max(abs(objective), abs(objective - gap))
        assert found["relative"] >= min(1.0, float(gap / scale)) * (1 - 1e-12)
    exact = verdict_of(given | {"errors": np.zeros_like(given["errors"])})[0]
    assert found["violation"] > exact["violation"] + 1e-4
    assert found["relative"] > min(1.0, exact["relative"])


def program_of(given):
    """Return the program of a call, whose variables are in the order of the groups."""
    part = np.ix_(given["lines"], given["columns"])
    return QuadraticProgram(
        DenseMatrix(np.ascontiguousarray(given["values"][part]), definite=True),
        totals=given["totals"],
        lower=given["lower"],
        upper=given["upper"],
        linear=given["linear"],
        groups=groups_of(given),
        coupling=given["coupling"],
        kernel_signs=given["signs"],
    )


@pytest.mark.parametrize("kind", ["vertex", "solved", "many free"])
@pytest.mark.parametrize("n", [2, 9, 64, 300])
def test_same_as_the_judge_in_numpy(n, kind):
    for seed in range(3):
        given = vertex_program(n, seed)
        if (np.diff(given["starts"]) == 0).any():
            continue  # such a program has no groups without variables
        if kind == "vertex":
            found, written = verdict_of(given)
        elif kind == "solved":
            found, written = call(FUNCTIONS["solve_small"], given)
            found = dict(zip(NAMES, found, strict=True))
            assert found["optimal"] == 1
        else:
            given["x"] = 0.5 * (given["lower"] + given["upper"])
            for g, (first, last) in enumerate(pairwise(given["starts"])):
                given["totals"][g] = given["x"][first:last].sum()
            found, written = verdict_of(given)
        proof = judge(program_of(given), written["x"], written["field"])
        assert_allclose(found["objective"], proof.objective, rtol=1e-12, atol=1e-12)
        assert_allclose(written["multipliers"], proof.multipliers, rtol=1e-9, atol=1e-9)
        assert_allclose(found["gap"] - found["objective"], proof.primal_objective, atol=1e-10)
        assert_allclose(found["violation"], proof.kkt_violation, rtol=1e-9, atol=1e-10)
        assert_allclose(found["relative"], proof.dual_gap, rtol=1e-6, atol=1e-10)
        assert_allclose(found["share"], proof.relative_infeasibility, atol=1e-13)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 200])
def test_multipliers_are_weighted_quantiles(n, ties):
    """One group, no kernel: the gradient is the linear term, and the quantile is that of it."""
    for seed in range(8):
        random = np.random.default_rng([n, seed])
        given = vertex_program(n, seed)
        given["values"][:] = 0.0
        given["starts"] = np.array([0, n])
        given["coupling"], given["totals"] = np.ones((1, 1)), np.zeros(1)
        given["multipliers"] = np.zeros(1)
        if ties:
            given["linear"] = random.integers(-2, 3, n).astype(float)
        given["totals"][0] = given["x"].sum()
        _, written = verdict_of(given)
        box = [given[each] for each in ("lower", "upper")]
        wanted = best_multipliers(given["x"], given["linear"], *box, np.zeros(n, int), 1)
        assert_allclose(written["multipliers"], wanted, rtol=1e-12, atol=1e-14)
        mass, width = (given["x"] - box[0]).sum(), box[1] - box[0]
        if mass > 0:
            offset = one_class_offset(given["linear"], 1.0 / mass, width)
            assert_allclose(written["multipliers"], -offset, rtol=1e-12, atol=1e-14)

        def gap(beta, given=given, box=box):
            slope = given["linear"] + beta
            x = given["x"]
            return np.maximum(slope * (x - box[0]), slope * (x - box[1])).sum() if x.size else 0.0

        best = gap(written["multipliers"][0])
        others = -given["linear"]
        assert best <= min(gap(each) for each in others) + 1e-12 * (1 + best)


def test_a_point_outside_its_bounds_or_off_its_total_is_seen():
    given = vertex_program(20, 1)
    given["x"][3] = given["upper"][3] + 0.25
    found, _ = verdict_of(given)
    assert found["optimal"] == 0
    assert found["off"] >= 0.25 - 1e-12
    given = vertex_program(20, 2)
    given["totals"][0] += 0.5
    found, _ = verdict_of(given)
    assert found["optimal"] == 0
    assert_allclose(found["off"], 0.5, atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["values", "errors"])
def test_what_is_not_finite_proves_nothing(where, bad):
    given = vertex_program(20, 3)
    given[where][:] = bad
    found, _ = verdict_of(given)
    assert found["optimal"] == 0


def test_a_solution_is_that_of_a_plain_loop():
    for seed in range(4):
        given = vertex_program(40, seed)
        (_, _, objective, *_), _ = call(FUNCTIONS["solve_small"], given | {"tol": 1e-9})
        (_, wanted), _ = call(FUNCTIONS["solve_small"], given | {"tol": 1e-6}, reference)
        assert_allclose(objective, wanted, rtol=1e-8, atol=1e-8)
