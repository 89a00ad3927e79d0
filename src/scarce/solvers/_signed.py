"""The program in signed variables, in which every equality is a plain sum; feasible points."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce._core import AT_BOUND, BALANCED, group_extremes
from scarce.solvers._operator import SymmetricOperator
from scarce.solvers._program import QuadraticProgram
from scarce.solvers._row_cache import RowCache

EXACT_ROWS = 2048  # variables of a program whose rows are kept in double precision


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
