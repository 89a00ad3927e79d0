"""Pairwise steps on a block of variables, with rows of a small program fetched on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import AT_BOUND
from scarce.solvers._kept_rows import KeptRows
from scarce.solvers._signed import SignedForm
from scarce.solvers._unbounded import refuse_unbounded

Array = NDArray[Any]

BENT = {np.float32: 1e-4, np.float64: 1e-9}  # share of its terms beyond which curvature counts


class StepMatrix(NamedTuple):
    """``scale[g_i, g_j] values[where[i], j]`` plus ``extra`` on the diagonal."""

    values: Array
    where: Array
    scale: Array
    extra: Array
    diagonal: Array

    @classmethod
    def of_block(cls, Q: Array, n_groups: int) -> StepMatrix:
        """Return a block that is ``Q`` itself."""
        n = Q.shape[0]
        scale = np.ones((n_groups, n_groups))
        return cls(Q, np.arange(n), scale, np.zeros(n), Q.diagonal().astype(np.float64))

    @classmethod
    def of_kept(cls, form: SignedForm, kept: KeptRows) -> StepMatrix:
        """Return the whole of a small program."""
        own, extra = kept.own_values(), form.diagonal
        if form.n_groups == 1:
            own = form.coupling[0, 0] * own
        else:
            groups, extra = form.groups[kept.order], extra[kept.order]
            own = form.coupling[groups, groups] * own
        return cls(kept.values, kept.where, form.coupling, extra, own + extra)

    def bends_down(self, starts: Array) -> bool:
        """Say whether a pair of one group has negative curvature; all rows must be there."""
        from scarce.solvers._compiled import bends_down

        share = BENT[self.values.dtype.type]
        return bool(bends_down(self.values, self.scale, self.extra, starts, share))


def group_starts(form: SignedForm, block: Array) -> Array:
    """Return where the groups of a block begin, and its end."""
    if form.n_groups == 1:
        return np.array([0, block.size])
    return np.searchsorted(form.groups[block], np.arange(form.n_groups + 1))


def solve_block(
    form: SignedForm,
    matrix: StepMatrix,
    block: Array,
    gradient: Array,
    x: Array,
    tol: float,
    limit: int,
) -> tuple[Array, Array, int]:
    """Return the point after pairwise steps on a block, its gradient there, and the steps."""
    from scarce.solvers._compiled import next_rows, pairwise_steps

    kept = form.kept
    starts = group_starts(form, block)
    part, local = x[block], gradient[block]
    lower, upper, widths = form.lower[block], form.upper[block], form.widths[block]
    met, steps = np.full(2, -1), 0
    if kept is not None and kept.count == 0:
        kept.keep_some()
    while True:
        pair = met.copy()
        steps += pairwise_steps(
            *matrix, local, part, lower, upper, widths, starts, tol, limit - steps, AT_BOUND, met
        )
        if not np.array_equal(pair, met):
            # Two variables without bounds that no curvature holds; else a long step is taken.
            refuse_unbounded(form, block[met], np.array([1.0, -1.0]))
            continue
        if kept is None or kept.count == form.n or steps >= limit:
            break
        absent = next_rows(local, part, lower, upper, starts, kept.where, tol)
        if absent.size == 0:
            break
        kept.keep_next(absent)
    new = x.copy()
    new[block] = part
    return new, local, steps
