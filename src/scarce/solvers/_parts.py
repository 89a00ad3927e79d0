"""Many small programs on parts of one stored matrix, each solved in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import FEASIBLE
from scarce.solvers._check import LITTLE
from scarce.solvers._descent import GOAL
from scarce.solvers._plain_steps import is_worth_it
from scarce.solvers._problem import QuadraticProgram
from scarce.solvers._rules import RULES
from scarce.solvers._small import MOST_PAIRWISE, MOST_SHORT
from scarce.solvers._solution import Solution
from scarce.solvers._space import KEPT, small_space
from scarce.solvers._step_data import Boxes, Source

Array = NDArray[Any]

Run = Callable[[int, Callable[[int, int], None], int], None]


class ErrorBins(NamedTuple):
    """What bounds the rounding of sums: the bin of every row, and tables for two bins."""

    codes: Array
    errors: Array  # of one value
    sizes: Array  # of one value


class Part(Protocol):
    """Some rows of a stored matrix, as an operator; see `StoredOperator`."""

    values: Array
    index: Array

    def diagonal(self) -> Array:
        """Return the diagonal of the part."""

    def error_bins(self) -> ErrorBins:
        """Return the bounds for the rows of the part."""


def solve_parts(
    programs: Sequence[QuadraticProgram], *, tol: float, max_iter: int, run: Run
) -> list[Solution | None]:
    """Solve programs whose kernels are parts of one stored matrix.

    Parameters
    ----------
    programs : sequence of QuadraticProgram
        The programs.
    tol, max_iter
        Those of `solve`.
    run : callable
        ``run(n, work, 1)`` calls ``work(i, i + 1)`` for each number below n, in any thread.

    Returns
    -------
    list of Solution or None
        None for a program that is out of the ordinary; `solve` takes it.
    """
    found: list[Solution | None] = [None] * len(programs)
    if is_worth_it(max(program.kernel.n for program in programs)):
        return found
    limit = MOST_PAIRWISE if max_iter == -1 else min(max_iter, MOST_PAIRWISE)

    def work(start: int, stop: int) -> None:
        for i in range(start, stop):
            if _is_ordinary(programs[i]):
                found[i] = _solve_part(programs[i], tol, limit)

    run(len(programs), work, 1)
    return found


def _is_ordinary(program: QuadraticProgram) -> bool:
    """Say whether the compiled way is for a program: small, bounded, definite."""
    small = program.kernel.n**2 <= KEPT and not program.curved and program.signed.bounded
    return small and program.definite


def _solve_part(program: QuadraticProgram, tol: float, limit: int) -> Solution | None:
    from scarce.solvers._compiled_parts import solve_part

    part: Part = program.kernel  # type: ignore[assignment]
    lower, upper, linear, turn, _, _ = program.signed
    groups, index, diagonal, bins = program.groups, part.index, part.diagonal(), part.error_bins()
    n = groups.size
    starts, order = np.array([0, n]), None
    if program.n_groups > 1:
        order = groups.argsort(kind="stable")
        columns = (lower, upper, linear, turn, groups, index, diagonal)
        lower, upper, linear, turn, groups, index, diagonal = (each[order] for each in columns)
        bins = bins._replace(codes=bins.codes[order])
        starts = np.searchsorted(groups, np.arange(program.n_groups + 1))
    x, field, multipliers = np.empty(n), np.empty(n), np.empty(program.n_groups)
    with small_space("steps") as space:
        optimal, steps, judged = solve_part(
            Source(part.values, index, index, turn),
            space.view(np.float32)[: n * n].reshape(n, n),
            diagonal,
            linear,
            Boxes(lower, upper, upper - lower, starts),
            groups,
            program.totals,
            program.coupling,
            bins,
            tol,
            GOAL * tol,
            (LITTLE, MOST_SHORT, FEASIBLE),
            limit,
            RULES,
            x,
            field,
            multipliers,
        )
    if not optimal:
        return None
    gradient = turn * field + linear
    if order is not None:
        both = np.empty((2, n))
        both[:, order] = x, gradient
        x, gradient = both
    objective, _, gap, violation, off, share = judged
    return Solution(
        alpha=program.signs * x,
        gradient=program.signs * gradient,
        multipliers=multipliers,
        objective=objective,
        dual_gap=gap,
        kkt_violation=violation,
        infeasibility=off,
        relative_infeasibility=share,
        n_iter=steps,
        status="optimal",
        negative_curvature=False,
    )
