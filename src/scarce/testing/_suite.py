"""All checks, and which of them an estimator can take."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from scarce.testing._subject import Subject, scores_of


@contextmanager
def raises(kind: type[BaseException], match: str = "") -> Iterator[None]:
    """Fail unless the block raises an error of this kind whose words match."""
    try:
        yield
    except kind as error:
        if not re.search(match, str(error), re.DOTALL):
            raise AssertionError(
                f"{kind.__name__} must match {match!r}, but says {str(error)!r}"
            ) from error
        return
    raise AssertionError(f"no {kind.__name__} was raised; its words should match {match!r}")


@contextmanager
def warns(kind: type[Warning], match: str = "") -> Iterator[list[warnings.WarningMessage]]:
    """Fail unless the block warns so; gives the list of such warnings, and passes on others."""
    found: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    for each in caught:
        if issubclass(each.category, kind) and re.search(match, str(each.message), re.DOTALL):
            found.append(each)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if not found:
        seen = [str(each.message) for each in caught]
        raise AssertionError(f"no {kind.__name__} matches {match!r}; warned of: {seen}")


def required(module: str, extra: str) -> Any:
    """Import what a check needs beyond the library's own requirements."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this check needs {module}: install the extra that holds it, "
            f'pip install "scarce[{extra}]", or leave the check out with skip='
        ) from error


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
    )

    assert all((_composition, _errors, _hostile, _invariance, _persistence, _running))
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
