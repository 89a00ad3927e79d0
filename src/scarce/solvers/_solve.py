"""The way into the solver: any program of the family, from a feasible start to a solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scarce import _core
from scarce._arrays import Array
from scarce.parallel import KEPT, single_threaded_blas, small_space, tile_runner
from scarce.solvers._field import Field
from scarce.solvers._loop import Loop, is_cached
from scarce.solvers._program import Progress, QuadraticProgram, Solution
from scarce.solvers._signed import SignedForm, checked_start, fill_groups
from scarce.solvers._steps import boxes_of

SHRINK = 8  # a subsample has this fraction of each group's variables
GUESSED_BY = 32  # one of so many columns is looked at for a guess
SMALLEST_GROUP = 32  # of a group no fewer variables are drawn


def first_point(form: SignedForm) -> Array:
    """Return the feasible point nearest to zero's clip, each group filled in index order."""
    if form.bounded:
        order = None if form.n_groups == 1 else form.groups.argsort(kind="stable")
        x = np.empty(form.n)
        _core.first_point(*boxes_of(form, order), form.totals, x)
        if order is not None:
            x[order] = x.copy()
        return x
    return fill_groups(form, np.maximum(np.minimum(form.upper, 0.0), form.lower))


def guessed_vertex(form: SignedForm) -> Array:
    """Return the vertex for the gradient of the middle of the feasible set, seen by some columns.

    Rows where others are dense have a high gradient there, and are no support vectors. So the rows
    of the matrix that the start takes are mostly those that the solution takes.
    """
    kept = form.kept
    assert kept is not None
    some = kept.order[GUESSED_BY // 2 :: GUESSED_BY]
    room, lacking = form.problem.sums(form.widths), form.missing(form.lower)
    share = np.divide(lacking, room, out=np.zeros(form.n_groups), where=room > 0.0)
    middle = form.lower + share[form.groups] * form.widths
    field = np.zeros(form.n)
    weights = form.weights(some, GUESSED_BY * middle[some])
    kept.accumulate(some, weights, form.groups, field, np.float64)
    return vertex(form, form.gradient(middle, field))


def vertex(form: SignedForm, gradient: Array) -> Array:
    """Return the vertex of the feasible set that is best for a gradient: lowest filled first.

    For boxes that are full for most support vectors it is next to the solution once the gradient
    is about right, which a solved subsample gives.
    """
    order = np.argsort(gradient)
    ranked = gradient[order]
    if (ranked[1:] == ranked[:-1]).any():  # the first of equal ones; a stable sort takes far longer
        order = np.argsort(gradient, kind="stable")
    return fill_groups(form, form.lower.copy(), order)


def subsample(form: SignedForm) -> Array | None:
    """Return the variables of a subsample, even over the groups; None if it is hardly smaller."""
    random = np.random.default_rng(0)
    parts = []
    for g in range(form.n_groups):
        members = np.flatnonzero(form.groups == g)
        size = min(members.size, max(SMALLEST_GROUP, members.size // SHRINK))
        parts.append(random.permutation(members)[:size])
    chosen = np.sort(np.concatenate(parts))
    return chosen if chosen.size <= form.n // 2 else None


def widening(form: SignedForm, chosen: Array) -> Array:
    """Return how much wider the boxes of a subsample must be to stand for those left out."""
    width = form.upper - form.lower
    every = np.bincount(form.groups, width, minlength=form.n_groups)
    drawn = np.bincount(form.groups[chosen], width[chosen], minlength=form.n_groups)
    ratio = np.divide(every, drawn, out=np.ones_like(drawn), where=drawn > 0)
    return np.asarray(ratio[form.groups[chosen]])


NOT_HELD = nullcontext()
# Steps of a program that nobody limits, per variable and at least: data whose sizes span many
# decades would take any number of them. Two thousand rows take some seconds at the most.
STEP_PATIENCE, LEAST_STEP_PATIENCE = 500, 1_000_000
GUESS_FROM = 512  # variables from which a guess of the support vectors saves more than it takes
SUBSAMPLE_ABOVE = 4096  # variables from which a subsample is solved first
STEP_EFFORT = 2_000  # nanoseconds that a variable of a small program takes, about


def solve(
    problem: QuadraticProgram,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: ArrayLike | None = None,
    cache_size: float = 200.0,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Solve a program of the family.

    Parameters
    ----------
    problem : QuadraticProgram
        The program.
    tol : float
        Stop when ``max over groups of m_g - M_g <= tol``, in the program's own scale, and the
        relative duality gap is at most `tol` too.
    max_iter : int
        Largest number of pairwise steps; -1 for as many as are worth it, which is some hundreds
        per variable. A solution that was cut off is feasible and can be given as `start` to go on.
    start : array-like of shape (n,), optional
        Feasible point to begin with. By default large programs begin with a solved subsample.
    cache_size : float
        Memory for kernel values in MB.
    callback : callable, optional
        Called with a `Progress` before the first and after every block; the solver stops when it
        returns something true.

    Returns
    -------
    Solution
        Feasible always; optimal to `tol` when its status says so.
    """
    if not tol > 0:
        raise ValueError(f"tol must be positive, got {tol}")
    if max_iter < -1:
        raise ValueError(f"max_iter must be -1 (no limit) or at least 0, got {max_iter}")
    form = SignedForm(problem)
    endless = max_iter == -1
    budget = max(LEAST_STEP_PATIENCE, STEP_PATIENCE * form.n) if endless else max_iter
    x = None if start is None else checked_start(form, start)
    # Sums by several threads of BLAS are rounded otherwise, and answers must not depend on them.
    held = single_threaded_blas if problem.kernel.needs_blas else NOT_HELD
    with small_space("matrix") as matrix:
        with held:
            form.keep_rows(matrix, cache_size)
            steps = 0
            if callback is None and budget > 0 and is_small(form):
                solution, x, steps = solve_small(form, x, tol, budget)
                if solution is not None:
                    return solution
            loop = Loop(form, tol, budget, cache_size, callback)
            loop.limited, loop.steps = not endless, steps
            if callback is not None and budget > 0 and is_small(form):
                x, solution = _solve_aloud(form, loop, x)
                if solution is not None:
                    return solution
            hint = None
            if x is None:
                x, hint = _begin(form, loop, matrix)
            if budget > 0 and is_cached(form):
                x, solution = loop.run_cached(x)
                if solution is not None:
                    return solution
        with single_threaded_blas:
            if form.single is not None:
                x = loop.first_steps(x)
            return loop.run(x, hint)


def _solve_aloud(form: SignedForm, loop: Loop, x: Array | None) -> tuple[Array, Solution | None]:
    """Solve a small program, with a callback before and after."""
    assert loop.callback is not None
    x = first_point(form) if x is None else x
    if loop.stops_at(x):
        return x, None
    solution, x, loop.steps = solve_small(form, x, loop.tol, loop.budget)
    if solution is not None:
        told = solution.alpha, solution.objective, solution.kkt_violation, loop.steps
        loop.callback(Progress(*told))
    return x, solution


def solve_many(
    problems: Sequence[QuadraticProgram],
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    starts: Sequence[ArrayLike | None] | None = None,
    cache_size: float = 200.0,
) -> list[Solution]:
    """Solve many programs, in threads where there is enough to do.

    Programs on parts of one stored matrix (`scarce.kernels.StoredOperator`) share its values.

    Parameters
    ----------
    problems : sequence of QuadraticProgram
        The programs.
    tol : float
        As for `solve`, for every program.
    max_iter : int
        Likewise.
    starts : sequence of array-like or None, optional
        Where each begins.
    cache_size : float
        Memory for kernel values in MB, of every program.

    Returns
    -------
    list of Solution
        What `solve` returns for each, to the last digit, in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.solvers import DenseMatrix, QuadraticProgram, solve_many
    >>> matrix = DenseMatrix(np.diag([1.0, 3.0]), definite=True)
    >>> programs = [QuadraticProgram(matrix, totals=[t]) for t in (1.0, 2.0)]
    >>> [solution.alpha.tolist() for solution in solve_many(programs, tol=1e-9)]
    [[0.75, 0.25], [1.5, 0.5]]
    """
    found: list[Any] = [None] * len(problems)

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            start = None if starts is None else starts[i]
            found[i] = solve(
                problems[i], tol=tol, max_iter=max_iter, start=start, cache_size=cache_size
            )

    effort = sum(STEP_EFFORT * problem.kernel.n for problem in problems)
    safe = all(problem.kernel.in_threads for problem in problems)
    with tile_runner(effort if safe else 0) as run:
        run(len(problems), work, 1)
    return found


def _begin(form: SignedForm, loop: Loop, matrix: Array) -> tuple[Array, Array | None]:
    """Return a start, and the gradient a solved subsample predicts when the start is zero."""
    x = first_point(form)
    lazy = form.kept is not None and form.kept.count < form.n
    if lazy and GUESS_FROM <= form.n and is_cached(form) and x.any():
        with single_threaded_blas:
            return guessed_vertex(form), None
    if not (loop.rough or x.any()):  # a start need not be good enough to pay for that
        form.keep_single_rows(loop.cache_size)
    if form.single is not None:
        return x, None
    chosen = subsample(form) if form.n > SUBSAMPLE_ABOVE and form.bounded else None
    if chosen is None:
        return x, None
    try:
        part = SignedForm(form.problem.subset(chosen, widening(form, chosen)))
    except ValueError:  # what was drawn cannot carry a group's total
        return x, None
    part.keep_rows(matrix, loop.cache_size)
    left = loop.budget - loop.steps
    smaller = Loop(part, loop.tol, left, loop.cache_size, None, rough=True)
    y = smaller.descend(*_begin(part, smaller, matrix))
    loop.steps += smaller.steps
    spread = np.zeros(form.n)
    spread[chosen] = y
    field = Field(form, spread, form.kernel.precisions[0])
    gradient = form.kernel_signs * field.values + form.linear
    if not x.any():
        # Zero is feasible, costs nothing, and is better than a vertex of a margin problem.
        return x, gradient
    return vertex(form, gradient), None


def is_small(form: SignedForm) -> bool:
    """Say whether all of a program's matrix is there, and the compiled call is for it."""
    return form.kept is not None and form.n**2 <= KEPT and form.definite and form.bounded


def solve_small(
    form: SignedForm, x: Array | None, tol: float, limit: int
) -> tuple[Solution | None, Array, int]:
    """Return the solution if it is proved to be one, the point reached, and the steps taken.

    ``x`` is a feasible point to begin with; by default it is the one next to zero.
    """
    kept, problem = form.kept, form.problem
    assert kept is not None
    n, order = form.n, None if kept.is_sorted else kept.order
    codes, errors = problem.kernel.value_errors()
    columns = (
        kept.kernel.diagonal(),
        form.diagonal,
        form.linear,
        form.lower,
        form.upper,
        form.widths,
        form.kernel_signs,
        codes,
    )
    if order is not None:
        columns = tuple(each[order] for each in columns)  # type: ignore[assignment]
    diagonal, extra, linear, lower, upper, widths, signs, codes = columns
    given = x is not None
    point = np.empty(n) if x is None else (x.copy() if order is None else x[order])
    field, multipliers = np.empty(n), np.empty(form.n_groups)
    with small_space("steps") as space:
        optimal, steps, objective, gap, relative, violation, off, share = _core.solve_small(
            kept.values,
            kept.where,
            kept.columns,
            signs,
            diagonal,
            extra,
            linear,
            lower,
            upper,
            widths,
            form.group_starts(order),
            form.totals,
            form.coupling,
            codes,
            errors,
            point,
            space,
            field,
            multipliers,
            tol,
            min(limit, int(_core.MOST_PAIRWISE)),
            given,
        )
    # The field is written for an optimum only.
    gradient = signs * field + linear if optimal else np.zeros(n)
    if order is not None:
        both = np.empty((2, n))
        both[:, order] = point, gradient
        point, gradient = both
    if not optimal:
        return None, point, steps
    solution = Solution(
        alpha=form.signs * point,
        gradient=form.signs * gradient,
        multipliers=multipliers,
        objective=objective,
        primal_objective=gap - objective,
        dual_gap=relative,
        kkt_violation=violation,
        infeasibility=off,
        relative_infeasibility=share,
        n_iter=steps,
        status="optimal",
        negative_curvature=False,
    )
    return solution, point, steps
