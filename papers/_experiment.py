"""What an experiment is: settings, repetitions, and a function that runs one cell of the two."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from papers._results import BEST_OF_GRID, FIXED, SELECTED, Figure, Table

QUICK, WHOLE = GRIDS = ("quick", "paper")
"""A few values of each parameter, or the paper's ranges."""

UNTUNED = "scarce, untuned"
"""The column of the library's own default for the task."""


@dataclass(frozen=True)
class Outcome:
    """What one method reached in one cell, under one protocol for its parameters."""

    method: str
    protocol: str
    values: dict[str, float]
    """Figures by name of metric, in the unit the paper prints."""
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Record:
    """An outcome and the cell it belongs to."""

    setting: str
    repetition: int
    outcome: Outcome


@dataclass(frozen=True)
class Experiment:
    """One table of a paper.

    A cell is one setting and one repetition, with all methods on the same data, so that methods
    can be compared in pairs. ``run(seed=..., grid=..., methods=..., **settings[name])`` runs one,
    or those of its methods that are named; it is a function of a module, so that it can be sent to
    another process, and depends on nothing but its arguments and the data sets. Repetition r has
    the same seed in every setting.
    """

    key: str
    title: str
    caption: str
    """The protocol, and every choice made where the paper leaves one open."""
    metrics: Mapping[str, str]
    methods: tuple[str, ...]
    reference: str
    """The method that all others are tested against."""
    settings: Mapping[str, Mapping[str, Any]]
    run: Callable[..., list[Outcome]]
    repetitions: int
    quick_repetitions: int = 3
    quick_settings: tuple[str, ...] = ()
    """Settings of a quick run; empty means all."""
    quick_methods: tuple[str, ...] = ()
    """Methods of a quick run; empty means all."""
    needs: tuple[str, ...] = ()
    """Data sets that every setting needs; a setting may name more in its own ``data`` value."""
    printed: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    """The paper's figures by setting, method and metric."""
    draw: Callable[[Table, list[Record]], tuple[Figure, ...]] | None = None
    """Makes the figures of this table."""


@dataclass(frozen=True)
class Paper:
    """A paper and its tables."""

    key: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]


def fixed(method: str, measure: Callable[[], dict[str, float]], **parameters: Any) -> list[Outcome]:
    """Return the outcome of a method whose parameters were settled beforehand."""
    start = time.perf_counter()
    values = measure()
    return [Outcome(method, FIXED, values, parameters, time.perf_counter() - start)]


def both_protocols(
    method: str,
    grid: Iterable[dict[str, Any]],
    attempt: Callable[..., tuple[float, dict[str, float]] | None],
) -> list[Outcome]:
    """Run a method over a grid and return what either protocol for its parameters reaches.

    Parameters
    ----------
    method : str
        Name of the method.
    grid : iterable of dict
        Parameters to try. Earlier ones win ties.
    attempt : callable
        ``attempt(**parameters)`` fits, and returns a criterion that needs no test label (more is
        better) and the figures on the test rows, the first of which is the one that "best of
        grid" is the best of. None where the parameters are infeasible.

    Returns
    -------
    list of Outcome
        One for each protocol; none when nothing in the grid was feasible.
    """
    tried = []
    for parameters in grid:
        start = time.perf_counter()
        result = attempt(**parameters)
        if result is not None:
            tried.append((*result, parameters, time.perf_counter() - start))
    if not tried:
        return []
    selected = max(tried, key=lambda trial: trial[0])
    best = max(tried, key=lambda trial: next(iter(trial[1].values())))
    return [
        Outcome(method, protocol, values, parameters, seconds)
        for protocol, (_, values, parameters, seconds) in (
            (SELECTED, selected),
            (BEST_OF_GRID, best),
        )
    ]
