"""Errors and warnings that must come, so that the checks run without a test framework."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


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
