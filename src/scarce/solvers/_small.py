"""The short way through a small program: compiled steps, the exact last one, the certificate.

What is out of the ordinary (infinite bounds, singular systems, a tolerance that does not close the
duality gap, very many steps) is left to the loop, which goes on from the point reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import Certificate, extremes, judge
from scarce.solvers._descent import GOAL, Descent
from scarce.solvers._dual import WIDEST
from scarce.solvers._field import Field
from scarce.solvers._newton import SINGULAR_UP_TO, free_variables, is_singular, newton_steps
from scarce.solvers._plain_steps import MOST_STEPS as MOST_PLAIN
from scarce.solvers._plain_steps import compiler_is_loaded, is_worth_it, plain_steps
from scarce.solvers._rules import RULES
from scarce.solvers._signed import SignedForm
from scarce.solvers._space import KEPT

Array = NDArray[Any]

MOST_PAIRWISE = 20_000  # steps, after which the loop goes on
MOST_SHORT = 3  # goals that the short way tries


def is_ordinary(form: SignedForm) -> bool:
    """Say whether the short way may lead anywhere."""
    return form.kept is not None and form.definite and form.bounded


def is_judged_shortly(form: SignedForm) -> bool:
    """Say whether `judge_shortly` may judge, and the compiler is there."""
    return is_ordinary(form) and not form.problem.curved and compiler_is_loaded()


def descend_plainly(
    form: SignedForm, x: Array, tol: float, limit: int
) -> tuple[Array, Field | None, int] | None:
    """Do what `Descent.go` does without the compiler; the kernel values are the plain ones.

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


class ShortWay:
    """The way through an ordinary program, without the compiler while loading it would cost more.

    Parameters
    ----------
    form : SignedForm
        The program.
    x : ndarray of shape (n,)
        A feasible point.
    """

    def __init__(self, form: SignedForm, x: Array) -> None:
        self.form, self.x = form, x
        self.descent: Descent | None = None

    def go(self, tol: float, limit: int) -> tuple[Array, Field | None, int]:
        """Return the point reached, its field if it is worth a judgement, and the steps taken."""
        form, kept = self.form, self.form.kept
        assert kept is not None
        if self.descent is None:
            if is_worth_it(form.n):
                found = descend_plainly(form, self.x, tol, limit)
                if found is not None:
                    self.x = found[0]
                    return found
                kept.compute_again()
            self.descent = Descent(form, self.x)
            if kept.count == form.n and form.n**2 <= KEPT:
                return self.descent.go_at_once(tol, min(limit, MOST_PAIRWISE))
        return self.descent.go(tol, min(limit, MOST_PAIRWISE))


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
