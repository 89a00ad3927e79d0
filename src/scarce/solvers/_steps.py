"""Pairwise steps on a block of variables, with rows of a small program fetched on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import AT_BOUND
from scarce.solvers._kept_rows import KeptRows
from scarce.solvers._signed import SignedForm
from scarce.solvers._single_rows import SingleRows
from scarce.solvers._unbounded import refuse_unbounded

Array = NDArray[Any]

NO_SOURCE = np.empty((0, 0)), np.empty(0, np.int64), np.empty(0), np.empty((0, 0))
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

    @classmethod
    def of_single(cls, rows: SingleRows) -> StepMatrix:
        """Return the whole of a middling program, of which few rows are there yet."""
        n, scale = rows.n, np.ones((1, 1))
        return cls(rows.values, rows.where, scale, np.zeros(n), rows.diagonal())

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
    kept: KeptRows | SingleRows | None = None,
) -> tuple[Array, Array, int]:
    """Return the point after pairwise steps on a block, its gradient there, and the steps.

    Rows of the matrix that are absent are ``kept`` when a step asks for them.
    """
    from scarce.solvers._compiled import next_rows, pairwise_steps

    starts = group_starts(form, block)
    part, local = x[block], gradient[block]
    lower, upper, widths = form.lower[block], form.upper[block], form.widths[block]
    met, steps = np.full(3, -1), 0
    if kept is not None and kept.count == 0:
        kept.keep(np.arange(min(kept.batch, form.n)))
    while True:
        pair = met[:2].copy()
        steps += pairwise_steps(
            *matrix,
            local,
            part,
            lower,
            upper,
            widths,
            starts,
            tol,
            limit - steps,
            AT_BOUND,
            met,
            False,
            *NO_SOURCE,
        )
        if met[2] >= 0:
            assert kept is not None
            rows = next_rows(local, part, lower, upper, starts, kept.where, met[2], 0.0)
            kept.keep(rows[: kept.batch])
        elif np.array_equal(pair, met[:2]):
            break
        else:
            # Two variables without bounds that no curvature holds; else a long step is taken.
            refuse_unbounded(form, block[met[:2]], np.array([1.0, -1.0]))
    new = x.copy()
    new[block] = part
    return new, local, steps
