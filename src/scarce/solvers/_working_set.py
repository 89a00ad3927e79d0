"""Which variables the loop works on next: the working set, a block of ``Q``."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import extreme_rows, violation_keys
from scarce.solvers._newton import free_variables
from scarce.solvers._signed import SignedForm, extremes_of
from scarce.solvers.certificate._judge import midpoints

SMALLEST_BLOCK = 128  # variables of a block beside the free ones, at least
FIRST_BLOCK = 256  # the same, at first, in a small program
LARGEST_FIRST_BLOCK = 2048  # and in a large one


class WorkingSets:
    """Choose blocks of a program that a cache can hold."""

    def __init__(self, form: SignedForm, cache_size: float) -> None:
        self.form = form
        self.cache_size = cache_size
        # Violators beside the free variables, at first.
        self.extra = min(max(FIRST_BLOCK, form.n // 32), LARGEST_FIRST_BLOCK)

    def extremes(self, gradient: Array, x: Array) -> tuple[Array, Array]:
        """Return ``m`` and ``M`` of every group."""
        return extremes_of(self.form, gradient, x)

    def select(
        self, gradient: Array, x: Array, middle: Array, goal: float, extra: int, precision: Any
    ) -> Array:
        """Return the free variables and the worst violators, sorted by group."""
        form = self.form
        if form.kept is not None:  # all of it: choosing would cost more than it saves
            return form.kept.order
        keys = np.empty(form.n)
        sides = (x, form.lower, form.upper, form.groups)
        violation_keys(gradient, *sides, middle, keys)
        free = free_variables(form, x)
        violators = int(np.count_nonzero(keys > 0.5 * goal))
        others = min(extra, max(SMALLEST_BLOCK, 2 * violators))
        largest = self._largest_block(precision)
        if free.size + min(others, SMALLEST_BLOCK) <= largest:
            keys[free] = np.inf
        # Both ends of each group: many rows that tie on one side must not crowd out the other.
        ends = np.empty(2 * form.n_groups, np.int64)
        extreme_rows(gradient, *sides, ends[: form.n_groups], ends[form.n_groups :])
        keys[ends[ends >= 0]] = np.inf
        return self._largest(keys, min(free.size + others, largest))

    def predicted(self, hint: Array, x: Array, precision: Any) -> Array:
        """Return the variables that a subsample's gradient says will leave their bounds."""
        form = self.form
        middle = midpoints(*self.extremes(hint, x))[form.groups]
        gain = np.maximum(
            np.where(form.upper > x, -hint - middle, -np.inf),
            np.where(form.lower < x, hint + middle, -np.inf),
        )
        size = max(FIRST_BLOCK, int(np.count_nonzero(gain > 0)))
        return self._largest(gain, min(size, self._largest_block(precision)))

    def _largest_block(self, precision: Any) -> int:
        held = 0 if self.form.single is None else self.form.single.nbytes
        left = max(self.cache_size * 1e6 - held, 0.0)
        fitting = int(np.sqrt(left / np.dtype(precision).itemsize))
        return max(SMALLEST_BLOCK, fitting)

    def _largest(self, keys: Array, size: int) -> Array:
        n = keys.size
        if size >= n:
            chosen = np.arange(n)
        else:
            chosen = np.sort(np.argpartition(keys, n - size)[n - size :])
        return chosen[np.argsort(self.form.groups[chosen], kind="stable")]
