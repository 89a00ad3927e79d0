"""Which training rows a calibrated detector leaves out because they may not belong to the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scarce._arrays import Array
from scarce._frame import num_samples, safe_indexing
from scarce.held_out import most_dropped, odd_groups, odd_rows, representatives
from scarce.kernels import distinct_rows
from scarce.model_selection._detector import FitData, is_kernel_machine, last_step, plain, wide


@dataclass(frozen=True)
class Trimming:
    """The rows of a fit, and how they are held out."""

    # detector, fitted: as given, and fitted to all rows
    detector: Any
    fitted: Any
    data: FitData  # the rows
    parts: list[Array]  # rows that are held out together
    counted: Array  # rows of the class that count
    weights: Array  # how often each of them counts

    def odd_rows(self, contamination: float | str) -> tuple[Array, Array]:
        """Return which of the rows that count may not belong to the class, as `odd_rows` does."""
        all_rows = np.arange(num_samples(self.data.X))
        far_off = wide(self.detector, self.data)
        seen = self.data.held_out(far_off, None, all_rows, self.parts, alone=True)[0]
        return odd_rows(
            contamination,
            seen[self.counted],
            lambda: self._held_out(self.data, self.parts),
            self.weights,
            self._tight_groups(far_off, most_dropped(contamination)),
        )

    def _held_out(self, data: FitData, parts: list[Array]) -> Array:
        all_rows = np.arange(num_samples(data.X))
        return data.held_out(self.detector, self.fitted, all_rows, parts)[0][self.counted]

    def _tight_groups(self, far_off: Any, most: float) -> list[Array]:
        """Return groups of nearly equal rows that are odd together."""
        if not is_kernel_machine(far_off):
            return []
        seen = self.data.fitted(clone(far_off))
        rows = safe_indexing(self.data.X, self.counted)
        if len(getattr(seen, "steps", ())) > 1:
            rows = seen[:-1].transform(rows)
        rows = plain(rows)
        first, members = distinct_rows(rows)
        places, groups = representatives(
            lambda i, j: last_step(seen)._values_of(rows, first[i], first[j]),
            members,
            self.weights,
            most,
        )
        if not groups:
            return []
        n = num_samples(self.data.X)
        stand, part_of = np.arange(n), np.full(n, -1)
        stand[self.counted] = self.counted[first[places]]
        for number, part in enumerate(self.parts):
            part_of[part] = number
        # Rows that are as one are held out as one.
        parts = [np.flatnonzero(part_of[stand] == number) for number in range(len(self.parts))]
        alike = FitData(safe_indexing(self.data.X, stand), self.data.y, self.data.given)
        together = self._held_out(alike, [part for part in parts if part.size])
        return odd_groups(groups, together, self.weights)
