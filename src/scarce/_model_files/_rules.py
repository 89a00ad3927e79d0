"""What a stored attribute must be: its type, its shape in named sizes, its range."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import check_sparse


class StateError(ValueError):
    """Something that a model holds does not fit the rest of it."""


class Sizes:
    """Sizes by name, such as the number of features, each with the attribute that first said it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}

    def get(self, name: str) -> int | None:
        """Return a size, None if nothing said it."""
        return self._known[name][0] if name in self._known else None

    def fit(self, where: str, shape: tuple[int, ...], expected: tuple[Any, ...]) -> None:
        """Compare a shape with names of sizes; unknown ones are learnt, "*" is any."""
        if len(shape) != len(expected):
            raise StateError(f"{where} has shape {shape}, expected {len(expected)} dimensions")
        for axis, (seen, name) in enumerate(zip(shape, expected, strict=True)):
            if name == "*":
                continue
            if isinstance(name, int):
                wanted, reason = name, ""
            else:
                wanted, teller = self._known.setdefault(name, (seen, where))
                reason = f", as {teller} says"
            if seen != wanted:
                raise StateError(
                    f"{where} has shape {shape}, expected {wanted} along axis {axis}{reason}"
                )

    def learn(self, name: str, value: int, where: str) -> None:
        """Keep a size, or compare it with the one that is known."""
        self.fit(where, (value,), (name,))


@dataclass(frozen=True)
class Rule:
    """What an attribute must be.

    Attributes
    ----------
    kinds : str
        Kinds of NumPy's types that are accepted.
    shape : tuple or None
        Names of sizes, numbers, "*"; None for a single number.
    finite : bool
        Whether every number must be finite.
    optional : bool
        Whether None is accepted.
    low : float
        The least value that is accepted.
    below : str
        Name of the size that values must be below.
    rows : bool
        Whether it may be CSR.
    """

    kinds: str
    shape: tuple[Any, ...] | None
    finite: bool = True
    optional: bool = False
    low: float = -np.inf
    below: str = ""
    rows: bool = False

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value that breaks the rule."""
        if value is None and self.optional:
            return
        if self.shape is None:
            self._check_number(where, value)
            return
        if self.rows and sparse.issparse(value):
            if value.format != "csr":
                raise StateError(f"{where} is in {value.format} format, expected CSR")
            check_sparse(value, where)
            sizes.fit(where, value.shape, self.shape)
            value = value.data
        else:
            if not isinstance(value, np.ndarray):
                raise StateError(f"{where} is {_named(value)}, expected an array")
            sizes.fit(where, value.shape, self.shape)
        self._check_values(where, value, sizes)

    def _check_number(self, where: str, value: Any) -> None:
        boolean = isinstance(value, bool | np.bool_)
        whole = isinstance(value, Integral) and not boolean
        if not (boolean if self.kinds == "b" else whole if self.kinds == "i" else _is_real(value)):
            expected = {"b": "True or False", "i": "a whole number"}.get(self.kinds, "a number")
            raise StateError(f"{where} is {_named(value)}, expected {expected}")
        if self.finite and not np.isfinite(float(value)):
            raise StateError(f"{where} is {value}, expected a finite number")
        if value < self.low:
            raise StateError(f"{where} is {value}, expected at least {self.low:g}")

    def _check_values(self, where: str, values: Any, sizes: Sizes) -> None:
        if values.dtype.kind not in self.kinds or not values.dtype.isnative:
            raise StateError(f"{where} is of type {values.dtype.str}, expected {self._types()}")
        if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
            raise StateError(f"{where} is of type {values.dtype}, expected float32 or float64")
        if values.size == 0 or values.dtype.kind not in "iuf":
            return
        if self.finite and not np.isfinite(values).all():
            raise StateError(f"{where} holds NaN or infinite values, expected finite ones")
        if values.min() < self.low:
            raise StateError(f"{where} holds {values.min()}, expected at least {self.low:g}")
        limit = sizes.get(self.below)
        if limit is not None and values.max() >= limit:
            raise StateError(f"{where} holds {values.max()}, expected values below {limit}")

    def _types(self) -> str:
        names = {"f": "floating point", "i": "whole numbers", "b": "booleans", "U": "texts"}
        return " or ".join(names[kind] for kind in self.kinds if kind in names) + " of this system"


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _named(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def number(*, finite: bool = True, optional: bool = False, low: float = -np.inf) -> Rule:
    """Return the rule of one number."""
    return Rule("f", None, finite=finite, optional=optional, low=low)


def whole(low: float = 0) -> Rule:
    """Return the rule of one whole number."""
    return Rule("i", None, low=low)


def flag() -> Rule:
    """Return the rule of a boolean."""
    return Rule("b", None)


def floats(*shape: Any, optional: bool = False, low: float = -np.inf) -> Rule:
    """Return the rule of an array of finite floating point numbers."""
    return Rule("f", shape, optional=optional, low=low)


def rows(*shape: Any, optional: bool = False) -> Rule:
    """Return the rule of rows of data, dense or CSR."""
    return Rule("f", shape, optional=optional, rows=True)


def places(*shape: Any, below: str = "", low: float = 0, optional: bool = False) -> Rule:
    """Return the rule of an array of whole numbers."""
    return Rule("i", shape, low=low, below=below, optional=optional)


def labels(*shape: Any) -> Rule:
    """Return the rule of labels: numbers, booleans or texts, not NaN."""
    return Rule("biufUO", shape)
