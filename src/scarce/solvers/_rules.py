"""Limits that compiled code shares with the rest of the solver."""

from __future__ import annotations

from scarce.solvers._certificate import AT_BOUND, ROUNDED
from scarce.solvers._dual import RESOLVED, ROUNDING
from scarce.solvers._newton import MOST_STEPS, REGULAR, SINGULAR_UP_TO
from scarce.solvers._signed import BALANCED
from scarce.solvers._step_data import Rules

EARLY = 30.0  # multiple of the goal of steps at which the exact step is tried first
EXACT = 1e-6  # share of that goal below which no better bounds are looked for
EARLY_FREE = 160  # free variables beyond which steps to the goal take less time than two systems
LOST = 0.1  # share of a violation by which rounding may move the gradient while steps close it
FOLLOWED = 4  # steps per variable after which the exact gradient is asked for at the latest

RULES = Rules(
    at_bound=AT_BOUND,
    balanced=BALANCED,
    most_free=SINGULAR_UP_TO,
    regular=REGULAR,
    most_newton=MOST_STEPS,
    early=EARLY,
    exact=EXACT,
    lost=LOST,
    most_steps=FOLLOWED,
    rounded=ROUNDED,
    rounding=ROUNDING,
    resolved=RESOLVED,
)
EARLY_RULES = RULES._replace(most_free=EARLY_FREE)
