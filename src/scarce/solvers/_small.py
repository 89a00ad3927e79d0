"""The short way through a small program: compiled steps, the exact last one, the certificate.

What is out of the ordinary (infinite bounds, singular systems, a tolerance that does not close the
duality gap, very many steps) is left to the loop, which goes on from the point reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import Certificate, extremes, judge
from scarce.solvers._dual import WIDEST
from scarce.solvers._field import Field
from scarce.solvers._newton import SINGULAR_UP_TO, free_variables, is_singular, newton_steps
from scarce.solvers._plain_steps import MOST_STEPS as MOST_PLAIN
from scarce.solvers._plain_steps import compiler_is_loaded, is_worth_it, plain_steps
from scarce.solvers._signed import SignedForm
from scarce.solvers._step_data import NO_SOURCE, RULES
from scarce.solvers._steps import boxes_of, matrix_of_kept

Array = NDArray[Any]

MOST_PAIRWISE = 20_000  # steps, after which the loop goes on
MOST_SHORT = 3  # goals that the short way tries
GOAL = 0.3  # share of the tolerance that pairwise steps aim at


def is_ordinary(form: SignedForm) -> bool:
    """Say whether the short way may lead anywhere."""
    return form.kept is not None and form.definite and form.bounded


def is_judged_shortly(form: SignedForm) -> bool:
    """Say whether `judge_shortly` may judge, and the compiler is there."""
    return is_ordinary(form) and not form.problem.curved and compiler_is_loaded()


def descend_plainly(
    form: SignedForm, x: Array, tol: float, limit: int
) -> tuple[Array, Field | None, int] | None:
    """Do what `descend` does without the compiler; the kernel values are the plain ones.

    None when that takes many steps, or when the point is not unique, as with duplicated rows: the
    one that is found must not depend on what is loaded.
    """
    x = x.copy()
    field = Field(form, x, np.float64)
    gradient = form.gradient(x, field.values)
    steps = plain_steps(form, x, gradient, GOAL * tol, limit)
    form.snap(x)
    form.balance(x)
    free = free_variables(form, x)
    if steps == min(limit, MOST_PLAIN) or is_singular(form.block(free, np.float64)):
        return None
    field = Field(form, x, np.float64)
    exact, _ = newton_steps(form, x, form.gradient(x, field.values), SINGULAR_UP_TO, tol)
    if exact is None:
        return x, field, steps
    there = Field(form, exact, np.float64)
    before, after = (_violation(form, *pair) for pair in ((x, field), (exact, there)))
    return (exact, there, steps) if after <= max(before, 0.5 * tol) else (x, field, steps)


def _violation(form: SignedForm, x: Array, field: Field) -> float:
    pull = -form.gradient(x, field.values)
    m, M = extremes(form.problem, pull, pull, x < form.upper, x > form.lower)
    return max(0.0, float((m - M).max()))


def descend(form: SignedForm, x: Array, tol: float, limit: int) -> tuple[Array, Field | None, int]:
    """Return the point reached, its field if it is worth a judgement, and the steps taken."""
    kept = form.kept
    assert kept is not None
    if is_worth_it(form.n):
        found_plainly = descend_plainly(form, x, tol, limit)
        if found_plainly is not None:
            return found_plainly
        kept.compute_again()
    from scarce.solvers._compiled import next_rows
    from scarce.solvers._compiled_small import ABSENT, descend_kept

    order = None if kept.is_sorted else kept.order
    boxes, linear = boxes_of(form, order), form.linear
    x = x.copy() if order is None else x[order]
    if order is not None:
        linear = linear[order]
    if kept.count < form.n:
        kept.keep(np.flatnonzero(x))
        if kept.count == 0:
            kept.keep_some()
    matrix = matrix_of_kept(form, kept)
    gradient, goal = np.empty(form.n), GOAL * tol
    steps, most, met, begun = 0, min(limit, MOST_PAIRWISE), np.full(3, -1), False
    while True:
        more, found = descend_kept(
            matrix,
            boxes,
            NO_SOURCE,
            linear,
            form.totals,
            gradient,
            x,
            tol,
            goal,
            most - steps,
            begun,
            RULES,
            met,
        )
        steps, begun = steps + more, True
        if found != ABSENT:
            break
        kept.keep_next(next_rows(kept.where, boxes, gradient, x, -1, goal))
    values = gradient - linear
    if form.problem.curved:
        values -= matrix.extra * x
    if order is not None:
        both = np.empty((2, form.n))
        both[:, order] = x, values
        x, values = both
    done = steps < most and met[0] < 0 and found >= 0
    return x, Field.of(form, x, form.turn * values) if done else None, steps


def judge_shortly(
    form: SignedForm, x: Array, field: Array, enough: float, error: Array | None = None
) -> Certificate:
    """Do what `judge` does for an ordinary program, in one compiled call.

    Boxes that are far wider than what is in them may need more than that to prove a gap that is
    ``enough``.
    """
    from scarce.solvers._compiled_certificate import judge_ordinary

    multipliers = np.empty(form.n_groups)
    objective, gap, relative, violation, off, share = judge_ordinary(
        x,
        field,
        np.zeros(form.n) if error is None else error,
        form.turn,
        form.linear,
        form.lower,
        form.upper,
        form.groups,
        form.totals,
        form.coupling,
        form.kernel.diagonal(),
        RULES,
        multipliers,
    )
    unclosed = enough < relative < np.inf  # and infinite where a value is not finite
    if unclosed and np.any(form.widths > WIDEST * form.masses(x)[form.groups]):
        return judge(form.problem, form.signs * x, field, error)
    return Certificate(objective, objective - gap, relative, violation, multipliers, off, share)
