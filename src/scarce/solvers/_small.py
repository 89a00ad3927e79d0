"""Small programs: start, steps, the exact last step and the verdict in one compiled call.

What is out of the ordinary (singular systems, a diagonal of its own, a proof that needs plain
kernel values, very many steps) is left to the loop, which goes on from the point reached.
"""

from __future__ import annotations

import numpy as np

from scarce import _core
from scarce._arrays import Array
from scarce.parallel import KEPT, small_space
from scarce.solvers._signed import SignedForm
from scarce.solvers._solution import Solution


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
    gradient = signs * field + linear
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
