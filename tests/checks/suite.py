"""All checks, and which of them an estimator can take."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.checks.registry import Subject


@dataclass(frozen=True)
class Check:
    """A function of a `Subject`, and the traits it asks for."""

    run: Callable[[Subject], None]
    needs: frozenset[str]

    @property
    def name(self) -> str:
        return self.run.__name__


CHECKS: list[Check] = []


def check(*needs: str) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Register a check for subjects with the given traits."""

    def register(run: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CHECKS.append(Check(run, frozenset(needs)))
        return run

    return register


def checks_for(subject: Subject) -> Iterator[Check]:
    """Return the checks that apply to a subject."""
    # Importing a module registers its checks.
    from tests.checks import composition, errors, hostile, invariance, persistence, running

    assert all((composition, errors, hostile, invariance, persistence, running))
    return (each for each in CHECKS if each.needs <= subject.traits)


def assert_same_decisions(one: Any, other: Any, X: Any, share: float, new: Any = None) -> None:
    """Compare the decisions of two fitted models to a share of their size."""
    expected = one.decision_function(X)
    found = other.decision_function(X if new is None else new)
    scale = abs(expected).max()
    assert scale > 0
    assert abs(found - expected).max() <= share * scale
