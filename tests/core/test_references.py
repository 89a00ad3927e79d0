"""Every function of the core against the same in plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scarce import _core
from tests.core import reference
from tests.core.declared import FUNCTIONS, call
from tests.core.samples import arguments

SIZES = [0, 1, 2, 63, 64, 65, 130]
SINGLE = 2e-5  # of sums of 130 products in single precision
# Which have tests of their own below.
WHOLE = {"pairwise_steps", "exact_steps", "solve_small", "solve_active"}


def types(name):
    """Return the precisions and the types of indices that a function takes."""
    kinds = {p.type for p in FUNCTIONS[name].parameters}
    return [
        (real, index)
        for real in ("df" if kinds & {"r", "s"} else "d")
        for index in ("li" if "j" in kinds else "l")
    ]


CASES = [
    (name, real, index) for name in FUNCTIONS if name not in WHOLE for real, index in types(name)
]


def test_every_function_has_a_reference():
    for name in FUNCTIONS:
        assert callable(getattr(reference, name)), name


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("name", "real", "index"), CASES)
def test_same_as_plain_numpy(name, real, index, n):
    function = FUNCTIONS[name]
    for seed in range(4):
        given = arguments(name, n, np.random.default_rng([seed, n]), real, index)
        found, written = call(function, given)
        wanted, outputs = call(function, given, reference)
        room = SINGLE if real == "f" else 1e-12
        assert_allclose(found, wanted, rtol=room, atol=room)
        for label, values in outputs.items():
            if label == "buffer" or (label == "keys" and name == "next_rows"):
                continue  # space of the function's own
            if label == "rows":
                assert_array_equal(written[label][: found[0]], values[: found[0]])
                continue
            assert_allclose(written[label], values, rtol=room, atol=room, err_msg=label)


@pytest.mark.parametrize("name", ["add_trees", "add_tree_shares"])
def test_trees_of_which_a_path_does_not_end_are_refused(name):
    given = arguments(name, 9, np.random.default_rng(0))
    given["feature"][:] = 0
    with pytest.raises(ValueError, match="does not end"):
        getattr(_core, name)(*given.values())


def test_shares_in_products_of_which_factors_are_zero():
    """One product: of its columns that one alone that was zero brings it about, if only one was."""
    rows, baseline = np.array([[2.0, 3.0, 5.0]]), np.array([[2.0, 0.0, 5.0]])
    nodes, widths = np.array([0.5]), np.array([1.0])  # exact for what is linear in t
    out = np.zeros(3)
    _core.add_product_shares(rows, baseline, np.ones(1), nodes, widths, out)
    assert_array_equal(out, [0.0, 30.0, 0.0])
    out[:] = 0.0
    _core.add_product_shares(rows * [[0, 1, 1]], baseline, np.ones(1), nodes, widths, out)
    assert_array_equal(out, [-2.0 * 1.5 * 5.0, 3.0 * 1.0 * 5.0, 0.0])  # and cancel, as from 0 to 0


@pytest.mark.parametrize("kind", ["dd", "df", "fd", "ff"])
@pytest.mark.parametrize("name", ["gather_block", "weighted_row_sums"])
def test_either_precision_beside_the_other(name, kind):
    given = arguments(name, 65, np.random.default_rng(1))
    mixed = [p.name for p in FUNCTIONS[name].parameters if p.type == "s"]
    for label, letter in zip(mixed, kind, strict=True):
        given[label] = given[label].astype(letter)
    _, written = call(FUNCTIONS[name], given)
    _, wanted = call(FUNCTIONS[name], given, reference)
    assert_allclose(written["out"], wanted["out"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["gather_block", "copy_transposed", "add_rows", "exponentials"])
def test_rows_may_lie_apart(name):
    """Tiles of larger matrices are passed as they are, inputs and outputs."""
    given = arguments(name, 65, np.random.default_rng(2))
    for label, each in given.items():
        if isinstance(each, np.ndarray) and each.ndim == 2:
            wide = np.full((each.shape[0], each.shape[1] + 7), 5.0)
            wide[:, 2:-5] = each
            given[label] = wide[:, 2:-5]
    own = {
        key: each.copy() if isinstance(each, np.ndarray) else each for key, each in given.items()
    }
    _, wanted = call(FUNCTIONS[name], own, reference)
    getattr(_core, name)(*given.values())
    for label, values in wanted.items():
        assert_allclose(given[label], values, rtol=1e-12, atol=1e-12)
        if given[label].base is not None:
            rest = np.delete(given[label].base, np.s_[2:-5], axis=1)
            assert_array_equal(rest, 5.0)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("most", [0, 1, 12])
def test_first_pairwise_steps_are_those_of_plain_numpy(n, most):
    for seed in range(6):
        given = arguments("pairwise_steps", n, np.random.default_rng([seed, n]))
        given["most"] = most
        found, written = call(FUNCTIONS["pairwise_steps"], given)
        wanted, outputs = call(FUNCTIONS["pairwise_steps"], given, reference)
        assert found == wanted
        for name in ("x", "gradient"):
            assert_allclose(written[name], outputs[name], rtol=1e-10, atol=1e-10)
        assert written["met"][2] == -1


@pytest.mark.parametrize("real", ["d", "f"])
@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("n", [1, 65, 200])
def test_pairwise_steps_end_where_nothing_violates(n, source, real):
    for seed in range(4):
        random = np.random.default_rng([seed, n])
        given = arguments("pairwise_steps", n, random, real)
        Q = reference.whole_matrix(
            *(given[each] for each in "source lines columns signs scale extra starts".split())
        )
        if not source:  # all rows are there
            unscaled = reference.whole_matrix(
                *(given[each] for each in "source lines columns signs".split()),
                np.ones_like(given["scale"]),
                np.zeros(n),
                given["starts"],
            )
            given["values"] = unscaled.astype(given["values"].dtype)
            given["where"] = np.arange(n)
            given |= {"lines": np.zeros(0, int), "columns": np.zeros(0, int), "signs": np.zeros(0)}
        tol = 1e-3 if real == "f" else 1e-7
        given |= {"tol": tol, "most": 10**6, "gradient": Q @ given["x"] - random.random(n)}
        linear = given["gradient"] - Q @ given["x"]
        _, written = call(FUNCTIONS["pairwise_steps"], given)
        x, lower, upper = written["x"], given["lower"], given["upper"]
        assert (x >= lower).all()
        assert (x <= upper).all()
        sums = [
            np.add.reduceat(np.append(each, 0.0), given["starts"][:-1]) for each in (x, given["x"])
        ]
        if np.diff(given["starts"]).all():
            assert_allclose(sums[0], sums[1], atol=1e-10)
        exact = Q @ x + linear
        assert reference.violation(exact, x, lower, upper, given["starts"]) <= 1.2 * tol
        assert_allclose(written["gradient"], exact, atol=1e-4 if real == "f" else 1e-10)


def test_pairwise_steps_stop_at_a_row_that_is_absent_or_hold_it():
    given = arguments("pairwise_steps", 30, np.random.default_rng(3))
    given |= {"tol": 1e-9, "most": 10**5}
    absent = np.array([3, 4, 17, 29])
    given["lines"][absent] = -1
    _, written = call(FUNCTIONS["pairwise_steps"], given)
    assert written["met"][2] in absent
    assert_array_equal(written["x"][absent], given["x"][absent])
    _, held = call(FUNCTIONS["pairwise_steps"], given | {"held": 1})
    assert held["met"][2] == -1
    assert_array_equal(held["x"][absent], given["x"][absent])
    free = np.setdiff1d(np.arange(30), absent)
    starts = np.searchsorted(free, given["starts"])
    worst = reference.violation(
        held["gradient"][free], held["x"][free], given["lower"][free], given["upper"][free], starts
    )
    assert worst <= 1e-9


@pytest.mark.parametrize("where", ["gradient", "source", "x"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("real", ["d", "f"])
def test_steps_from_no_number_end(where, bad, real):
    given = arguments("pairwise_steps", 65, np.random.default_rng(4), real)
    given[where].flat[:: 3 if where == "source" else 64] = bad
    (steps,), _ = call(FUNCTIONS["pairwise_steps"], given | {"most": 10**5})
    assert 0 <= steps <= 10**5


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 130])
def test_exact_steps(n):
    for seed in range(8):
        given = arguments("exact_steps", n, np.random.default_rng([seed, n]))
        (found,), written = call(FUNCTIONS["exact_steps"], given)
        (wanted,), outputs = call(FUNCTIONS["exact_steps"], given, reference)
        assert found == wanted
        assert_allclose(written["x"], outputs["x"], rtol=1e-8, atol=1e-8)
    given["most_free"] = 0
    free = np.any((given["lower"] < given["x"]) & (given["x"] < given["upper"]))
    (found,), written = call(FUNCTIONS["exact_steps"], given)
    assert found == (reference.TOO_MANY if free else reference.STEPPED)
    assert_array_equal(written["x"], given["x"])


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_exact_steps_leave_a_singular_system(bad):
    given = arguments("exact_steps", 12, np.random.default_rng(5))
    given["x"] = 0.5 * (given["lower"] + given["upper"])
    given["source"][:] = bad
    given["extra"][:] = 0.0
    (found,), written = call(FUNCTIONS["exact_steps"], given)
    assert found == reference.SINGULAR
    assert_array_equal(written["x"], given["x"])


@pytest.mark.parametrize("given_start", [False, True])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130])
def test_small_programs(n, given_start):
    for seed in range(4):
        given = arguments("solve_small", n, np.random.default_rng([seed, n]))
        if given_start:
            point = [given[each] for each in "lower upper widths starts totals".split()]
            reference.first_point(*point, given["x"])
            given["given"] = 1
        found, written = call(FUNCTIONS["solve_small"], given)
        wanted, outputs = call(FUNCTIONS["solve_small"], given, reference)
        optimal, _, objective = found[:3]
        assert optimal == 1
        scale = abs(given["linear"]) @ abs(written["x"])
        assert_allclose(objective, wanted[1], rtol=1e-6, atol=1e-9 * scale)
        assert_allclose(written["x"], outputs["x"], atol=1e-3)
        known = np.isfinite(outputs["multipliers"])
        assert_allclose(written["multipliers"][known], outputs["multipliers"][known], atol=1e-3)
        Q = reference.whole_matrix(
            *(given[each] for each in "values lines columns signs coupling extra starts".split())
        )
        assert_allclose(written["field"], given["signs"] * (Q @ written["x"]), atol=1e-12 * n)


@pytest.mark.parametrize("where", ["values", "linear"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_small_programs_of_no_numbers_are_not_solved(where, bad):
    given = arguments("solve_small", 40, np.random.default_rng(6))
    given[where].flat[::3] = bad
    found, _ = call(FUNCTIONS["solve_small"], given)
    assert found[0] == 0


@pytest.mark.parametrize("real", ["f", "d"])
def test_exponentials_of_what_is_not_finite_are_the_smallest_or_one(real):
    least = np.exp(-reference.ALONE[np.dtype(real)])
    tile = np.array([[np.nan, -np.inf, -1e30, np.inf, 3.0, 0.0]], real)
    _core.exponentials(tile, np.zeros(1, real), np.zeros(6, real), 1.0)
    assert_allclose(tile, [[least, least, least, 1.0, 1.0, 1.0]], rtol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_gaussian_values_of_what_is_not_finite_are_next_to_zero(bad):
    X = np.random.default_rng(7).normal(size=(70, 3))
    X[5, 1] = bad
    packed, rows, out = np.empty(128 * 3), np.arange(70), np.empty((70, 70))
    _core.pack(X, packed)
    _core.gaussian_rows(X, rows, packed, 0.5, out)
    others = np.delete(rows, 5)
    assert (out[5, others] < 1e-307).all()
    assert (out[others, 5] < 1e-307).all()
    assert_allclose(out[np.ix_(others, others)], reference.gaussian(X[others], X[others], 0.5))
    sums = np.empty(70)
    _core.gaussian_sums(X, rows, rows, 0.5, np.ones((1, 70)), np.zeros(70, int), sums)
    assert_allclose(sums[others], reference.gaussian(X[others], X[others], 0.5).sum(axis=1))


@pytest.mark.parametrize("columns", [1, 2, 65, 127, 128, 129])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("n", [63, 64, 150])
def test_gaussian_sums_with_few_and_many_columns(columns, groups, n):
    random = np.random.default_rng(columns)
    X, Z = random.normal(size=(n, 5)), random.normal(size=(columns, 5))
    packed, out = np.empty(-(-columns // 64) * 64 * 5), np.empty(n)
    _core.pack(Z, packed)
    weights, members = random.normal(size=(groups, columns)), random.integers(groups, size=n)
    _core.gaussian_scores(X, packed, 0.3, weights, members, out)
    wanted = (reference.gaussian(X, Z, 0.3) * weights[members]).sum(axis=1)
    assert_allclose(out, wanted, rtol=0, atol=1e-13 * np.abs(weights).sum())


@pytest.mark.parametrize("n", [1, 2, 63, 65, 130])
def test_active_variables(n):
    """Bounds of what others do hold, and all of them that may matter are in doubt."""
    for seed in range(8):
        given = arguments("solve_active", n, np.random.default_rng([seed, n]))
        found, written = call(FUNCTIONS["solve_active"], given)
        wanted, outputs = call(FUNCTIONS["solve_active"], given, reference)
        status, _, doubts, objective, plain, gap, far = found
        if status:  # the gap of a tiny objective is hard to close
            assert abs(wanted[3]) < 1.0
            continue
        scale = abs(given["linear"]) @ abs(written["x"])
        assert_allclose(objective, wanted[3], rtol=1e-3, atol=1e-6 * scale)
        assert wanted[3] - 1e-9 * scale <= objective <= wanted[3] + gap + 1e-9 * scale
        assert -1e-9 * scale <= plain <= gap + 1e-9 * scale
        assert_allclose(written["lacking"], 0.0, atol=1e-12 * n)
        known = np.isfinite(outputs["multipliers"])
        assert_allclose(written["multipliers"][known], outputs["multipliers"][known], atol=2e-3)
        assert_allclose(written["active"], outputs["active"], atol=5e-2)
        assert (written["above"] - written["below"]).max() <= 1e-3
        # Those that this solution leaves in doubt, and no others.
        x, rows, signs = written["x"], given["row_of"], given["signs"]
        since = signs[rows] * (x[rows] - given["last"])
        reach = np.sqrt(since @ (written["active"] - given["field"][rows]))
        assert_allclose(far, reach, rtol=1e-9, atol=1e-9)
        away, common = -(signs * given["field"] + given["linear"]), written["multipliers"]
        common = common[given["groups"]]
        doubt = (x < given["upper"]) & (away + reach > common)
        doubt |= (x > given["lower"]) & (away - reach < common)
        doubt[rows] = False
        assert_array_equal(written["doubt"][:doubts], np.flatnonzero(doubt))


def test_active_variables_without_room_for_a_total():
    given = arguments("solve_active", 20, np.random.default_rng(0))
    given["lacking"] += 1e3
    (status, *_), _ = call(FUNCTIONS["solve_active"], given)
    assert status == 1
