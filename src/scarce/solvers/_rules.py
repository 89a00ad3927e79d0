"""Limits that compiled code shares with the rest of the solver."""

from __future__ import annotations

from scarce.solvers._certificate import AT_BOUND, ROUNDED
from scarce.solvers._dual import RESOLVED, ROUNDING
from scarce.solvers._newton import COMPILED_UP_TO, MOST_STEPS, REGULAR
from scarce.solvers._signed import BALANCED
from scarce.solvers._step_data import Rules

LOST = 0.1  # share of a violation by which rounding may move the gradient while steps close it
FOLLOWED = 4  # steps per variable after which the exact gradient is asked for at the latest

RULES = Rules(
    at_bound=AT_BOUND,
    balanced=BALANCED,
    most_free=COMPILED_UP_TO,
    regular=REGULAR,
    most_newton=MOST_STEPS,
    lost=LOST,
    most_steps=FOLLOWED,
    rounded=ROUNDED,
    rounding=ROUNDING,
    resolved=RESOLVED,
)
