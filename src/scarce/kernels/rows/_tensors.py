"""Rows that are tensors, and what a tensor kernel compares of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array


class PreparedRows:
    """Rows reduced to what a kernel compares, so that this is done once and not for every block.

    A callable kernel with a method `prepare` gets these in place of the rows. They are indexed like
    an array of rows.
    """

    def __init__(self, row_shape: tuple[int, ...], *parts: Array) -> None:
        self.row_shape = row_shape  # of the tensors they come from
        self.parts = parts

    @property
    def shape(self) -> tuple[int]:
        """Number of rows."""
        return (self.parts[0].shape[0],)

    def __getitem__(self, rows: Any) -> PreparedRows:
        return PreparedRows(self.row_shape, *(part[rows] for part in self.parts))


def prepared_rows(kernel: Any, X: Any) -> Any:
    """Return the rows as a callable kernel wants them: prepared, if it can do that."""
    function = kernel.function
    return function.prepare(X) if hasattr(function, "prepare") else X


@dataclass(frozen=True)
class TensorKernel:
    """Base of kernels between tensors: prepare the rows of both sides, then compare.

    A subclass has the methods `_reduce`, from tensors to arrays with one entry per tensor, and
    `_compare`, from two `PreparedRows` to the matrix of values.
    """

    tensor_shape: tuple[int, ...] | None = None

    def __call__(self, X: Any, Y: Any) -> Array:
        """Return the matrix of kernel values.

        Parameters
        ----------
        X, Y : array-like of shape (n, d1, ..., dk) and (m, d1, ..., dk)
            The tensors; vectors of shape (n, d) and (m, d) if there is a `tensor_shape`.

        Returns
        -------
        ndarray of shape (n, m)
            ``k(X_i, Y_j)``, in float64.
        """
        left = self.prepare(X)
        right = left if Y is X else self.prepare(Y)
        if left.row_shape != right.row_shape:
            raise ValueError(
                f"tensors of shape {left.row_shape} cannot be compared with tensors of shape "
                f"{right.row_shape}"
            )
        return self._compare(left, right)

    def prepare(self, X: Any) -> PreparedRows:
        """Return what the kernel compares of some rows; it takes these in place of the rows.

        Parameters
        ----------
        X : array-like of shape (n, d1, ..., dk), or PreparedRows
            The tensors; vectors of shape (n, d) if there is a `tensor_shape`.

        Returns
        -------
        PreparedRows
            One entry per row.
        """
        if isinstance(X, PreparedRows):
            return X
        tensors = as_tensors(X, self.tensor_shape)
        return PreparedRows(tensors.shape[1:], *self._reduce(tensors))

    def _reduce(self, tensors: Array) -> Sequence[Array]:
        raise NotImplementedError

    def _compare(self, left: PreparedRows, right: PreparedRows) -> Array:
        raise NotImplementedError


def as_tensors(X: Any, tensor_shape: tuple[int, ...] | None = None) -> Array:
    """Return finite tensors in float64, one per row; vectors are padded with zeros and folded.

    ``X``: the tensors, or vectors of shape (n, d). ``tensor_shape``: shape that vectors are folded
    to, row by row, after zeros were appended to fill it.
    """
    if sparse.issparse(X):
        raise ValueError("tensor kernels take dense arrays, got a sparse matrix; use X.toarray()")
    rows: Array = np.asarray(X, dtype=np.float64)
    if rows.ndim < 2:
        raise ValueError(f"X must have shape (n, d1, ..., dk), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("X holds NaN or infinity; tensor kernels need finite values")
    if tensor_shape is None or rows.shape[1:] == tuple(tensor_shape):
        return rows
    room = int(np.prod(tensor_shape))
    if rows.ndim > 2 or rows.shape[1] > room:
        raise ValueError(
            f"tensor_shape={tuple(tensor_shape)} takes tensors of that shape or vectors of at most "
            f"{room} features, got rows of shape {rows.shape[1:]}"
        )
    padded = np.pad(rows, ((0, 0), (0, room - rows.shape[1])))
    return np.asarray(padded.reshape(rows.shape[0], *tensor_shape))


def unfolded(tensors: Array, mode: int) -> Array:
    """Return the unfoldings along one mode, of shape (n, d_mode, product of the others)."""
    front = np.moveaxis(tensors, mode + 1, 1)
    return np.asarray(front.reshape(*front.shape[:2], int(np.prod(front.shape[2:]))))


def per_mode(gamma: Any, order: int) -> tuple[float, ...]:
    """Return one width per mode from one number for all, or from one number for each."""
    given = np.asarray(gamma)
    widths = given.astype(np.float64) if given.dtype.kind in "fiu" else np.array(np.nan)
    fitting = widths.shape in ((), (order,)) and np.isfinite(widths).all() and (widths >= 0).all()
    if not fitting:
        raise ValueError(
            f"gamma must be a number not below 0, or one for each of the {order} modes, got "
            f"{gamma!r}"
        )
    return tuple(np.broadcast_to(widths, order).tolist())
