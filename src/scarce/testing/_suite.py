"""All checks, and which of them an estimator can take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce.testing._subject import Subject, scores_of


@dataclass(frozen=True)
class Check:
    """A function of a `Subject`, and the traits it asks for."""

    run: Callable[[Subject], None]
    needs: frozenset[str]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.run.__name__


CHECKS: list[Check] = []


def check(*needs: str) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Register a check for subjects with the given traits."""

    def register(run: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CHECKS.append(Check(run, frozenset(needs)))
        return run

    return register


def all_checks() -> list[Check]:
    """Return every check there is."""
    # Importing a module registers its checks.
    from scarce.testing import (
        _composition,
        _errors,
        _hostile,
        _invariance,
        _persistence,
        _running,
        _scales,
        _threads,
        _weights,
    )

    modules = _composition, _errors, _hostile, _invariance, _persistence, _running
    assert all((*modules, _scales, _threads, _weights))
    return CHECKS


def checks_for(subject: Subject) -> Iterator[Check]:
    """Return the checks that apply to a subject."""
    return (each for each in all_checks() if each.needs <= subject.traits)


def assert_same_decisions(one: Any, other: Any, X: Any, share: float, new: Any = None) -> None:
    """Compare the decisions of two fitted models to a proportion of their size."""
    expected = scores_of(one, X)
    found = scores_of(other, X if new is None else new)
    scale = abs(expected).max()
    assert scale > 0, "every decision is zero"
    difference = float(np.abs(found - expected).max())
    assert difference <= share * scale, (
        f"decisions of up to {scale:.3g} differ by {difference:.3g}, more than {share:g} of that"
    )
