"""The one way this library compiles: cached on disk where possible, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

# "contract" lets the compiler fuse multiply and add; "nsz" ignores the sign of zero. Nothing that
# reorders a sum: reassociation next to an inlined exponential has given silently wrong sums.
CONTRACT = frozenset({"contract", "nsz"})
# Only for plain sums, where the order of the terms is free and partial sums run in vector lanes.
REASSOCIATE = CONTRACT | {"reassoc"}
# For scans without NaN.
LOOSE = REASSOCIATE | {"nnan"}


def compiled(fastmath: frozenset[str] = CONTRACT) -> Callable[[F], F]:
    """Compile a flat function on arrays at its first call; keep the code on disk if allowed."""

    def decorate(function: F) -> F:
        options: dict[str, Any] = {
            "nogil": True,
            "fastmath": set(fastmath),
            "error_model": "numpy",
        }
        try:
            return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
        except RuntimeError:  # no directory for the cache can be written
            return numba.njit(**options)(function)  # type: ignore[no-any-return]

    return decorate


def _ordered(operator: str) -> Any:
    """Return the larger (or smaller) of two floats of one type, as the compiler can vectorise it.

    Numba's own ``max`` keeps the rules for NaN, and with them a maximum over an array stays scalar.
    """

    @intrinsic
    def pick(_context: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, values: Any) -> Any:
            flags = ["nnan", "nsz"]
            first = builder.fcmp_ordered(operator, *values, flags=flags)
            return builder.select(first, *values, flags=flags)

        return a(a, a), generate

    return pick


def _recast(source: Any, target: Any) -> Any:
    """Return the number that has the same bits, without leaving the vector registers."""

    @intrinsic
    def same_bits(_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            return builder.bitcast(values[0], context.get_value_type(target))

        return target(source), generate

    return same_bits


_INTERPRETED = bool(getattr(config, "DISABLE_JIT", False))
larger = max if _INTERPRETED else _ordered(">")
smaller = min if _INTERPRETED else _ordered("<")
bits_of = _recast(types.float64, types.int64)
of_bits = _recast(types.int64, types.float64)
if _INTERPRETED:
    bits_of, of_bits = (lambda x: np.float64(x).view(np.int64)), (lambda k: np.int64(k).view(float))
