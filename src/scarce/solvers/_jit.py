"""The one way this library compiles: cached on disk where possible, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

# "contract" lets the compiler fuse multiply and add; "nsz" ignores the sign of zero. Nothing that
# reorders a sum: reassociation next to an inlined exponential has given silently wrong sums.
CONTRACT = frozenset({"contract", "nsz"})
# Only for plain sums, where the order of the terms is free and partial sums run in vector lanes.
REASSOCIATE = CONTRACT | {"reassoc"}


def compiled(fastmath: frozenset[str] = CONTRACT) -> Callable[[F], F]:
    """Compile a flat function on arrays at its first call; keep the machine code on disk if allowed."""

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
