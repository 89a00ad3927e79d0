"""Pairwise steps on a block of variables, with rows of a cached program fetched on the way."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce._core import bends_down, next_rows, pairwise_steps
from scarce.solvers._signed import RowCache, SignedForm
from scarce.solvers._step_data import NO_SOURCE, Boxes, StepMatrix
from scarce.solvers._unbounded import refuse_unbounded

BENT = {np.float32: 1e-4, np.float64: 1e-9}  # share of its terms beyond which curvature counts


def matrix_of_block(Q: Array, n_groups: int) -> StepMatrix:
    """Return a block that is ``Q`` itself."""
    n = Q.shape[0]
    scale = np.ones((n_groups, n_groups))
    return StepMatrix(Q, np.arange(n), scale, np.zeros(n), Q.diagonal().astype(np.float64))


def matrix_of_single(rows: RowCache) -> StepMatrix:
    """Return the whole of a cached program, of which few rows are there yet."""
    return StepMatrix(rows.values, rows.where, np.ones((1, 1)), np.zeros(rows.n), rows.diagonal())


def has_negative_curvature(matrix: StepMatrix, starts: Array) -> bool:
    """Say whether a pair of one group has negative curvature; all rows must be there."""
    share = BENT[matrix.values.dtype.type]
    return bool(bends_down(matrix.values, matrix.scale, matrix.extra, starts, share))


def boxes_of(form: SignedForm, block: Array | None) -> Boxes:
    """Return the bounds of the variables of a block; None is all of them, sorted by group."""
    starts = form.group_starts(block)
    if block is None:
        return Boxes(form.lower, form.upper, form.widths, starts)
    return Boxes(form.lower[block], form.upper[block], form.widths[block], starts)


def missing_rows(
    where: Array, boxes: Boxes, gradient: Array, x: Array, asked: int, tol: float
) -> tuple[Array, int]:
    """Return the rows that violate of those that ``where`` calls absent, and how many do clearly.

    The one that was asked for comes first, unless it is -1, then the clearest. There are none if
    nothing violates by more than ``tol``.
    """
    rows, keys = np.empty(x.size, np.int64), np.empty(x.size)
    lower, upper, _, starts = boxes
    count, clear = next_rows(where, lower, upper, starts, gradient, x, asked, tol, rows, keys)
    return rows[:count], clear


def solve_block(
    form: SignedForm,
    matrix: StepMatrix,
    block: Array,
    gradient: Array,
    x: Array,
    tol: float,
    limit: int,
    kept: RowCache | None = None,
) -> tuple[Array, Array, int]:
    """Return the point after pairwise steps on a block, its gradient there, and the steps.

    Rows of the matrix that are absent are ``kept`` when a step asks for them.
    """
    part, local, boxes = x[block], gradient[block], boxes_of(form, block)
    met, steps = np.full(3, -1), 0
    if kept is not None and kept.count == 0:
        kept.keep(np.arange(min(kept.batch, form.n)))
    while True:
        pair = met[:2].copy()
        steps += pairwise_steps(
            *matrix, *boxes, *NO_SOURCE, local, part, tol, limit - steps, met, False
        )
        if met[2] >= 0:
            assert kept is not None
            rows, clear = missing_rows(kept.where, boxes, local, part, int(met[2]), 0.0)
            kept.keep(rows[: min(clear, kept.batch)])
        elif np.array_equal(pair, met[:2]):
            break
        else:
            # Two variables without bounds that no curvature holds; else a long step is taken.
            refuse_unbounded(form, block[met[:2]], np.array([1.0, -1.0]))
    new = x.copy()
    new[block] = part
    return new, local, steps
