"""The program in signed variables, in which every equality is a plain sum, and its kernel rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce._core import AT_BOUND, BALANCED, add_rows, gather_block, group_extremes
from scarce.parallel import KEPT
from scarce.solvers._operator import DenseMatrix, SymmetricOperator
from scarce.solvers._program import QuadraticProgram
from scarce.solvers._step_data import NO_INDEX, Source

BATCH_VALUES = 1 << 16  # kernel values computed at a time: below, the call costs more than they do
SMALLEST_BATCH = 64  # rows
GROWTH = 3  # rows kept for each row of the next batch: the more were needed, the more will be
MIRRORED = 1 << 20  # values of a matrix of which half are copied in less time than they take
SPREAD = 16  # one of so many rows is computed before it is asked which others are needed


class RowCache(SymmetricOperator):
    """Rows of a matrix in one precision, variables sorted by group.

    Positions in that order are called *places*. Every variable that ever moved needs its row
    against all others for the gradient; a block of the matrix is a part of those rows. Operators
    that can compute single rows are asked for those that the solver needs, in batches; others for
    the whole. What is stored anyway is used where it is, and other precisions are the operator's
    own business.

    ``values``: memory for the rows, in the precision they are kept in. ``order``: the variable at
    every place; by default places are the variables themselves. ``lazily``: whether single rows
    will do.
    """

    writes_rows = True

    def __init__(
        self,
        kernel: SymmetricOperator,
        values: Array,
        order: Array | None = None,
        *,
        lazily: bool = True,
    ) -> None:
        self.n, self.definite, self.name = kernel.n, kernel.definite, kernel.name
        self.kernel, self.precision = kernel, values.dtype.type
        self.is_sorted = order is None or bool((order[1:] > order[:-1]).all())
        self.order = np.arange(self.n) if order is None else order
        self.lazily = lazily and kernel.writes_rows
        self.where: Array  # the row of memory of every place, -1 for none
        self.columns: Array = NO_INDEX  # of every place in such a row, if not the places themselves
        if kernel.shares_values:
            index = kernel.index
            self.values, self.columns = kernel.values, index
            if not self.is_sorted:
                self.columns = index[self.order]
            self.where, self.count = self.columns, self.n
            return
        self._source = kernel if self.is_sorted else kernel.subset(self.order)
        self.values = values
        self.count = 0
        if not self.lazily or self.n**2 <= KEPT:
            self.where = np.empty(self.n, np.int64)
            self._keep_all()
        else:
            self.where = np.full(self.n, -1)

    @property
    def batch(self) -> int:
        """How many rows to compute at a time: more, the more have been needed."""
        return min(max(SMALLEST_BATCH, BATCH_VALUES // self.n, self.count // GROWTH), self.n)

    @property
    def nbytes(self) -> int:
        """Memory of the rows that are kept."""
        return self.count * self.n * self.values.itemsize

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: its own, and what the operator has beyond."""
        return (np.float64,) if self.precision == np.float64 else self.kernel.precisions

    def diagonal(self) -> Array:
        """Return the diagonal of the kernel."""
        return self.kernel.diagonal()

    def own_values(self) -> Array:
        """Return the diagonal by place, as the rows have it."""
        if self.count < self.n:
            return self.diagonal()[self.order]
        columns = self.columns if self.columns.size else np.arange(self.n)
        return np.asarray(self.values[self.where, columns])

    def source(self, signs: Array) -> Source:
        """Return what steps copy rows from; it follows what is kept."""
        return Source(self.values, self.where, self.columns, signs)

    def keep(self, places: Array) -> None:
        """Compute the rows of these places, unless they are kept already."""
        absent = places[self.where[places] < 0]
        if absent.size == 0:
            return
        if 2 * absent.size > self.n:
            self._keep_all()  # of which symmetry saves half
            return
        end = self.count + absent.size
        self._source.write_rows(absent, self.values[self.count : end])
        self.where[absent] = np.arange(self.count, end)
        self.count = end

    def keep_some(self) -> None:
        """Compute the rows of a batch that is evenly spread over all places."""
        self.keep(np.arange(0, self.n, self.n // max(self.batch, self.n // SPREAD)))

    def keep_next(self, places: Array, wanted: int) -> None:
        """Compute the rows of a batch of these places, the first; of all, if most are wanted."""
        every_row = 2 * wanted > self.n and self.n**2 <= MIRRORED
        self.keep(places if every_row else places[: self.batch])

    def _keep_all(self) -> None:
        all_rows = np.arange(self.n)
        if isinstance(self._source, DenseMatrix) and self._source.values.dtype == self.precision:
            self.values = np.ascontiguousarray(self._source.values)
        else:
            self._source.write_block(all_rows, self.values)
        self.where[:] = all_rows
        self.count = self.n

    def block(self, indices: Array) -> Array:
        """Return ``K[i, j]`` of some variables."""
        out = np.empty((indices.size, indices.size), self.precision)
        self.write_block(indices, out)
        return out

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        if out.dtype != self.precision:
            self.kernel.write_block(indices, out)
            return
        places = self._places(indices)
        self.keep(places)
        columns = self.columns[places] if self.columns.size else places
        gather_block(self.values, self.where[places], columns, out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        plain = weights.shape[0] == 1 and self.is_sorted and not self.columns.size
        if precision != self.precision or not (plain or precision == np.float64):
            self.kernel.accumulate(columns, weights, groups, out, precision)
            return
        places = self._places(columns)
        self.keep(places)
        if plain:
            add_rows(self.values, self.where[places], np.ascontiguousarray(weights[0]), out)
            return
        rows = self.values[self.where[places]]
        sums = weights @ (rows[:, self.columns] if self.columns.size else rows)
        out[self.order] += sums[groups[self.order], np.arange(self.n)]

    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        return self.kernel.error_bound(accumulated, precision)

    # The rest is the operator's.

    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows, without what is kept."""
        return self.kernel.subset(indices)

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``."""
        return self.kernel.sums(rows, columns, weights, groups, precision)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return self.kernel.reference(rows, columns)

    def _places(self, indices: Array) -> Array:
        return indices if self.is_sorted else self._place[indices]

    @cached_property
    def _place(self) -> Array:
        return np.argsort(self.order)


EXACT_ROWS = 2048  # variables of a program whose rows are kept in double precision
# Tiles of half a matrix: the more there are, the less of the other half is computed.
QUADRATIC_ROWS, QUADRATIC_TILES = 256, 16


class SignedForm:
    """Substitute ``x = signs * alpha``.

    Equalities become ``sum of x over the group = total``. With ``s``, the products of both signs
    (`kernel_signs` here), the gradient in ``x`` is ``s * field + diagonal * x + linear``, where the
    *field* ``sum_j A[g_i, g_j] K[i, j] s_j x_j`` is the only part that needs kernel values.
    """

    def __init__(self, problem: QuadraticProgram) -> None:
        self.problem = problem
        self.kernel: SymmetricOperator = problem.kernel
        # Rows that are kept: in double precision if all of them are few, else in single.
        self.kept: RowCache | None = None
        self.single: RowCache | None = None
        self.n = problem.kernel.n
        self.n_groups = problem.n_groups
        self.groups: Array = problem.groups
        self.totals: Array = problem.totals
        self.signs: Array = problem.signs
        parts = problem.signed
        self.lower, self.upper, self.linear, self.kernel_signs, self.bounded, self.widths = parts
        self.diagonal: Array = problem.diagonal
        self.coupling: Array = problem.coupling
        self.definite = problem.definite

    @cached_property
    def all_rows(self) -> Array:
        """Every variable."""
        return np.arange(self.n)

    @cached_property
    def plain(self) -> bool:
        """Whether there is nothing to do to a block of kernel values."""
        same = bool((self.kernel_signs == self.kernel_signs[0]).all())
        return same and bool((self.coupling == 1).all()) and not self.problem.curved

    def group_starts(self, block: Array | None = None) -> Array:
        """Return where the groups of a block begin, and its end; None is all variables.

        The variables of a block are sorted by group.
        """
        groups = self.groups if block is None else self.groups[block]
        if self.n_groups == 1:
            return np.array([0, groups.size])
        return np.searchsorted(groups, np.arange(self.n_groups + 1))

    def masses(self, x: Array) -> Array:
        """Return the sum of all ``|x|`` of each group: what its equality's error is relative to."""
        return self.problem.sums(np.abs(x))

    def missing(self, x: Array) -> Array:
        """Return what each group lacks of its total."""
        return np.asarray(self.totals - self.problem.sums(x))

    def snap(self, x: Array) -> None:
        """Put values that are at a bound up to rounding exactly there.

        Rounding is relative to the values, not to a box that may be wider by any factor.
        """
        near = AT_BOUND * np.minimum(self.widths, self.masses(x)[self.groups])
        np.copyto(x, self.lower, where=x <= self.lower + near)
        np.copyto(x, self.upper, where=x >= self.upper - near)

    def balance(self, x: Array) -> None:
        """Give what rounding took from a group's total to its variable with the most room."""
        missing, masses = self.missing(x), self.masses(x)
        for g in np.flatnonzero(np.abs(missing) > BALANCED * masses):
            members = np.flatnonzero(self.groups == g)
            room = np.minimum(x - self.lower, self.upper - x)[members]
            most = members[room.argmax()]
            if room.max() > abs(missing[g]):
                x[most] += missing[g]

    def keep_rows(self, space: Array, cache_size: float) -> None:
        """Keep the rows of a small program's matrix, in the space if they fit."""
        size = self.n**2
        # Steps have a copy in single precision.
        if self.n > EXACT_ROWS or 1.5 * size * space.itemsize > cache_size * 1e6:
            return
        order = None if self.n_groups == 1 else self.groups.argsort(kind="stable")
        room = space[:size] if size <= space.size else np.empty(size)
        room = room.reshape(self.n, self.n)
        self.kept = RowCache(self.problem.kernel, room, order, lazily=self.definite)
        self.kernel = self.kept

    def keep_single_rows(self, cache_size: float) -> None:
        """Keep rows in single precision if all of them would fit; for one definite group."""
        kernel = self.problem.kernel
        eligible = self.n_groups == 1 and self.bounded and self.definite and self.kept is None
        if not (eligible and self.plain and 4e-6 * self.n**2 <= cache_size):
            return
        if kernel.writes_rows and kernel.precisions[0] == np.float32:
            memory = np.empty((self.n, self.n), np.float32)  # of the rows that are kept
            self.single = self.kernel = RowCache(kernel, memory)

    def gradient(self, x: Array, field: Array) -> Array:
        """Return the gradient in ``x``."""
        quadratic = self.kernel_signs * field
        if self.problem.curved:
            quadratic += self.diagonal * x
        return np.asarray(quadratic + self.linear)

    def objective(self, x: Array, field: Array) -> float:
        """Return ``1/2 x'Qx + linear'x``."""
        return float(x @ (0.5 * (self.kernel_signs * field + self.diagonal * x) + self.linear))

    def weights(self, columns: Array, change: Array) -> Array:
        """Return what a change of some variables weighs in the field of each group's rows."""
        # Of one group the coupling is one number.
        coupling = self.coupling if self.n_groups == 1 else self.coupling[:, self.groups[columns]]
        return np.asarray(coupling * (self.kernel_signs[columns] * change))

    def exact_field(self, x: Array, rows: Array) -> Array:
        """Return the field of some rows from the operator's plain float64 values."""
        support = x.nonzero()[0]
        weights = self.weights(support, x[support])
        kernel = self.problem.kernel
        return kernel.reference_sums(rows, support, weights, self.groups[rows])

    def quadratic(self, x: Array, allowed: float) -> float:
        """Return the kernel part of ``x'Qx`` in the best precision, from half the matrix if it can.

        From plain values where the bound of its rounding is above what is allowed.
        """
        kernel, support = self.problem.kernel, x.nonzero()[0]
        own, groups = (self.kernel_signs * x)[support], self.groups[support]
        best = kernel.precisions[-1]
        spread = np.zeros(self.n)
        weights = self.weights(support, x[support])
        spread[support] = np.abs(weights).max(axis=0)
        if np.abs(own) @ kernel.error_bound(spread, best)[support] > allowed:
            return float(own @ self.exact_field(x, support))
        if not kernel.writes_rows:
            field = np.zeros(self.n)
            kernel.accumulate(support, weights, self.groups, field, best)
            return float(own @ field[support])
        total, step = 0.0, max(QUADRATIC_ROWS, -(-support.size // QUADRATIC_TILES))
        for first in range(0, support.size, step):
            tile, rest = slice(first, first + step), slice(first, None)
            once = weights[:, rest].copy()
            once[:, :step] *= 0.5  # the square on the diagonal holds every pair twice
            sums = kernel.sums(support[tile], support[rest], once, groups[tile], best)
            total += 2.0 * float(own[tile] @ sums)
        return total

    def block(self, indices: Array, precision: Any, space: Array | None = None) -> Array:
        """Return ``Q`` in ``x`` for some variables, in the space if given."""
        if self.kept is not None:
            Q = self.kept.block(indices)
        else:
            size = indices.size**2
            Q = np.empty(size, precision) if space is None else space[:size]
            Q = Q.reshape(indices.size, indices.size)
            (self.single or self.problem.kernel).write_block(indices, Q)
        if not self.plain:
            # Rows and columns one after the other: an outer product would be as large as the block.
            groups, kernel_signs = self.groups[indices], self.kernel_signs[indices].astype(Q.dtype)
            Q *= kernel_signs
            Q *= kernel_signs[:, None]
            if not (self.coupling == 1).all():
                scales = self.coupling[:, groups].astype(Q.dtype)
                for g in range(self.n_groups):
                    Q[groups == g] *= scales[g]
            Q.flat[:: indices.size + 1] += self.diagonal[indices]
        return Q


def extremes_of(form: SignedForm, gradient: Array, x: Array) -> tuple[Array, Array]:
    """Return ``m`` and ``M`` of every group; an empty side is minus or plus infinity."""
    m, M = np.empty(form.n_groups), np.empty(form.n_groups)
    group_extremes(gradient, x, form.lower, form.upper, form.groups, m, M)
    return m, M


def checked_start(form: SignedForm, alpha: ArrayLike) -> Array:
    """Return a given point in signed variables; it must be feasible up to rounding."""
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape != (form.n,) or not np.isfinite(alpha).all():
        raise ValueError(f"start must be {form.n} finite numbers, got shape {alpha.shape}")
    x = np.clip(form.signs * alpha, form.lower, form.upper)
    room = 1e-6 * max(1.0, float(np.abs(alpha).max()))
    if np.abs(x - form.signs * alpha).max() > room:
        i = int(np.abs(x - form.signs * alpha).argmax())
        raise ValueError(f"start breaks the bounds of variable {i}: got {alpha[i]}")
    sums = np.bincount(form.groups, x, minlength=form.n_groups)
    off = np.abs(sums - form.totals)
    if (off > room * np.sqrt(form.n)).any():
        g = int(off.argmax())
        raise ValueError(
            f"start breaks the equality of group {g}: it sums to {sums[g]}, not {form.totals[g]}"
        )
    return fill_groups(form, x)


def feasible_start(problem: QuadraticProgram, alpha: ArrayLike) -> Array:
    """Return the feasible point next to a given one, as a start for `solve`.

    Values outside the box are clipped; what then is missing from a group's total is spread over its
    variables in index order. Multipliers of a fit with other parameters or rows become a start.

    Parameters
    ----------
    problem : QuadraticProgram
        The program to be solved.
    alpha : array-like of shape (n,)
        Any finite point.

    Returns
    -------
    ndarray of shape (n,)
        A feasible point.
    """
    form = SignedForm(problem)
    x = np.clip(form.signs * np.asarray(alpha, dtype=np.float64), form.lower, form.upper)
    return form.signs * fill_groups(form, x)


def fill_groups(form: SignedForm, x: Array, order: Array | None = None) -> Array:
    """Move variables, in order, until every group meets its total."""
    short = np.abs(form.missing(x)) > 1e-12 * (np.abs(form.totals) + form.masses(x))
    order = np.arange(form.n) if order is None else order
    for g in np.flatnonzero(short):  # the others are met up to rounding
        members = order[form.groups[order] == g] if form.n_groups > 1 else order
        missing = form.totals[g] - x[members].sum()
        bound = (form.upper if missing > 0 else form.lower)[members]
        room = np.abs(bound - x[members])
        used = np.concatenate([[0.0], np.cumsum(room)[:-1]])
        share = np.clip(abs(missing) - used, 0.0, room)
        x[members] = np.where(share == room, bound, x[members] + np.sign(missing) * share)
    form.snap(x)
    return x
