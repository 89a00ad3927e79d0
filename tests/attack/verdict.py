"""Claims of a fitted machine against the truth."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLACK = 1e-2  # share of `tol` by which a claim may be too low
FEASIBLE = 1e-9  # share of the multipliers by which equalities and bounds may be off
SINGLE = 1e-6  # share of an objective that is lost when most sums are kept in single precision
STATUS = 1e-6  # share by which a certified violation or gap may be above `tol`


@dataclass(frozen=True)
class Claims:
    """What a fitted machine says of its solution."""

    violation: float
    gap: float
    objective: float
    status: int
    warned: bool
    tol: float
    single: bool = False  # whether there are rows enough for sums in single precision

    @property
    def certified(self):
        return self.status == 0 and not self.warned


@dataclass(frozen=True)
class Facts:
    """What is true of it, in the units of its claims. None: cannot be told from outside."""

    violation: float | None
    relative_gap: float | None
    objectives: tuple[float, float]  # dual and primal value
    objective_noise: float
    infeasibility: float | None
    definite: bool | None  # None: either answer is right
    notes: list[str] = field(default_factory=list)  # of anything else that is wrong


def complaints(claims: Claims, facts: Facts) -> list[str]:
    """Return what is wrong with the claims: the kind of falsehood, then the figures."""
    found = list(facts.notes)
    slack = SLACK * claims.tol
    if not np.isfinite(claims.violation):
        found.append(f"violation: claimed {claims.violation}")
    if claims.status != 0 and not claims.warned:
        found.append(f"silent: status {claims.status} without a warning")
    if claims.status == 0 and not claims.violation <= claims.tol:
        found.append(f"status: 0 with a claimed violation of {claims.violation:.3g}")
    if facts.violation is not None:
        if claims.violation + slack < facts.violation:
            found.append(f"violation: claimed {claims.violation:.3g}, true {facts.violation:.3g}")
        if claims.certified and facts.violation > claims.tol * (1 + STATUS):
            found.append(f"certified: violation {facts.violation:.3g}, tol {claims.tol:g}")
    if facts.infeasibility is not None and claims.certified and facts.infeasibility > FEASIBLE:
        found.append(f"certified: infeasible by {facts.infeasibility:.3g}")
    found += _gap_complaints(claims, facts, slack)
    size = max(map(abs, facts.objectives))
    room = facts.objective_noise + slack * size  # as exact as the gap that is relative to it
    if claims.single:
        room += SINGLE * size
    if not claims.certified and np.isfinite(claims.gap):
        room += claims.gap * size  # of a point on the way, whose multipliers were kept
    low, high = min(facts.objectives) - room, max(facts.objectives) + room
    if not low <= claims.objective <= high:
        found.append(f"objective: claimed {claims.objective:.9g}, true {low:.9g} to {high:.9g}")
    return found


def _gap_complaints(claims: Claims, facts: Facts, slack: float) -> list[str]:
    found: list[Any] = []
    if facts.definite is False:
        if not np.isnan(claims.gap):
            found.append(f"gap: {claims.gap:.3g} claimed for a kernel that may be indefinite")
        return found
    if facts.definite and np.isnan(claims.gap):
        found.append("gap: NaN for a definite kernel")
    if facts.relative_gap is None or np.isnan(claims.gap):
        return found
    # Above 1 the objectives have different signs, and the figure falls as the primal one grows.
    if claims.gap + slack < min(facts.relative_gap, 1.0):
        found.append(f"gap: claimed {claims.gap:.3g}, true {facts.relative_gap:.3g}")
    if claims.certified and claims.gap > claims.tol * (1 + STATUS):
        found.append(f"certified: gap claimed {claims.gap:.3g}, tol {claims.tol:g}")
    elif claims.certified and facts.relative_gap > claims.tol * (1 + STATUS) + slack:
        found.append(f"certified: gap {facts.relative_gap:.3g}, tol {claims.tol:g}")
    return found
