"""What the parameters of an estimator may be, and the error that says so.

scikit-learn checks its own estimators so, in the same words, by names that are private there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy import sparse

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "validate_parameters",
]


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a type or a value that is not accepted."""


@dataclass(frozen=True)
class Interval:
    """Numbers of a type between two bounds; None is no bound.

    A side that is closed without a bound takes in infinity.
    """

    kind: type
    left: float | None
    right: float | None
    closed: Literal["left", "right", "both", "neither"] = field(kw_only=True)

    def accepts(self, value: Any) -> bool:
        """Say whether a value is one of them."""
        number: Any = value
        if not isinstance(value, self.kind) or number != number:
            return False
        left = -math.inf if self.left is None else self.left
        right = math.inf if self.right is None else self.right
        above = left <= number if self.closed in ("left", "both") else left < number
        below = number <= right if self.closed in ("right", "both") else number < right
        return bool(above and below)

    def __str__(self) -> str:
        convert = int if self.kind is Integral else float
        left = "-inf" if self.left is None else convert(self.left)
        right = "inf" if self.right is None else convert(self.right)
        opened = "[" if self.closed in ("left", "both") else "("
        ended = "]" if self.closed in ("right", "both") else ")"
        number = "an int" if self.kind is Integral else "a float"
        return f"{number} in the range {opened}{left}, {right}{ended}"


@dataclass(frozen=True)
class Options:
    """A few values of a type."""

    kind: type
    options: Collection[Any]

    def accepts(self, value: Any) -> bool:
        """Say whether a value is one of them."""
        return isinstance(value, self.kind) and value in self.options

    def __str__(self) -> str:
        return f"a {_type_name(self.kind)} among {{{', '.join(map(repr, self.options))}}}"


class StrOptions(Options):
    """A few strings."""

    def __init__(self, options: Collection[str]) -> None:
        super().__init__(str, options)


@dataclass(frozen=True)
class HasMethods:
    """Objects with these methods."""

    methods: Collection[str]

    def accepts(self, value: Any) -> bool:
        """Say whether a value is such an object."""
        return all(callable(getattr(value, name, None)) for name in self.methods)

    def __str__(self) -> str:
        return f"an object implementing {_listed([repr(each) for each in self.methods], 'and')}"


@dataclass(frozen=True)
class InstancesOf:
    """Instances of a class."""

    kind: type

    def accepts(self, value: Any) -> bool:
        """Say whether a value is one."""
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return f"an instance of {_type_name(self.kind)!r}"


class NoValue:
    """None alone."""

    def accepts(self, value: Any) -> bool:
        """Say whether a value is None."""
        return value is None

    def __str__(self) -> str:
        return "None"


class Callables:
    """Whatever can be called."""

    def accepts(self, value: Any) -> bool:
        """Say whether a value can be called."""
        return callable(value)

    def __str__(self) -> str:
        return "a callable"


class NotANumber:
    """NaN alone."""

    def accepts(self, value: Any) -> bool:
        """Say whether a value is NaN."""
        return isinstance(value, Real) and not isinstance(value, Integral) and bool(value != value)

    def __str__(self) -> str:
        return "numpy.nan"


class ArrayLikes:
    """Whatever has rows."""

    def accepts(self, value: Any) -> bool:
        """Say whether a value has rows."""
        if sparse.issparse(value) or np.isscalar(value):
            return False
        return any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))

    def __str__(self) -> str:
        return "an array-like"


class Iterables:
    """Whatever can be gone through, but strings."""

    def accepts(self, value: Any) -> bool:
        """Say whether a value can be gone through."""
        return isinstance(value, Iterable) and not isinstance(value, str)

    def __str__(self) -> str:
        return "an iterable"


BOOLEANS = [InstancesOf(bool), InstancesOf(np.bool_)]
NAMED: dict[str, list[Any]] = {
    "array-like": [ArrayLikes()],
    "boolean": BOOLEANS,
    "cv_object": [
        Interval(Integral, 2, None, closed="left"),
        HasMethods(["split", "get_n_splits"]),
        Iterables(),
        NoValue(),
    ],
    "nan": [NotANumber()],
    "random_state": [
        Interval(Integral, 0, 2**32 - 1, closed="both"),
        InstancesOf(np.random.RandomState),
        NoValue(),
    ],
    "verbose": [Interval(Integral, 0, None, closed="left"), *BOOLEANS],
}


def validate_parameters(estimator: Any) -> None:
    """Refuse the first parameter that its class's ``_allowed_values`` do not accept.

    ``estimator``: parameters that its class says nothing of are accepted.

    Raises
    ------
    InvalidParameterError
        It names the parameter, the value, and what is accepted.
    """
    allowed = estimator._allowed_values
    for name, value in estimator.get_params(deep=False).items():
        if name not in allowed or allowed[name] == "no_validation":
            continue
        rules = [_rules(each) for each in allowed[name]]
        if not any(rule.accepts(value) for alternatives in rules for rule in alternatives):
            accepted = _listed([_listed(list(map(str, each)), "or") for each in rules], "or")
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {accepted}. "
                f"Got {value!r} instead."
            )


def _rules(constraint: Any) -> list[Any]:
    """Return the alternatives that one entry of ``_allowed_values`` stands for."""
    if isinstance(constraint, str):
        return NAMED[constraint]
    if constraint is None:
        return [NoValue()]
    if constraint is callable:
        return [Callables()]
    return [InstancesOf(constraint)] if isinstance(constraint, type) else [constraint]


def _listed(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _type_name(kind: type) -> str:
    if kind.__module__ == "builtins":
        return kind.__qualname__
    if kind in (Real, Integral):
        return "float" if kind is Real else "int"
    return f"{kind.__module__}.{kind.__qualname__}"
