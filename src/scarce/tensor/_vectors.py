"""Vectors as tensors: zeros appended, then cut into rows (docs/theory/tensor_kernels.md)."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce._frame import note

Shape = tuple[int, ...]

SAFE_SQUARES = (1e-200, 1e200)  # sums of squares that lost nothing by underflow


def vectors_to_tensors(X: ArrayLike, tensor_shape: Any = "auto") -> Array:
    """Return each row of a matrix as a tensor: zeros are appended, the order is row-major.

    This is what `OneClassSTM` and `STM` do with rows when they have a `tensor_shape`. Padding is
    not neutral: cells without data still cost norm, and the model depends on the order of the
    features.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    tensor_shape : "auto" or tuple of int, default="auto"
        Shape of one tensor, with at least `n_features` cells. "auto" is the square of side
        ``ceil(sqrt(n_features))``.

    Returns
    -------
    ndarray of shape (n_samples, d1, ..., dk)
        A view of `X` when no zeros are needed.

    Examples
    --------
    >>> from scarce.tensor import vectors_to_tensors
    >>> vectors_to_tensors([[1.0, 2.0, 3.0]])
    array([[[1., 2.],
            [3., 0.]]])
    """
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must be an array of rows, got {rows.ndim} dimensions")
    return padded(rows, shape_for_vectors(tensor_shape, rows.shape[1]))


def shape_for_vectors(tensor_shape: Any, n_features: int) -> Shape:
    """Return the shape that rows of so many features take."""
    if tensor_shape is None:
        return (n_features,)
    if isinstance(tensor_shape, str) and tensor_shape == "auto":
        side = math.isqrt(max(n_features - 1, 0)) + 1  # the square root, rounded up
        return (side, side)
    shape = checked_shape(tensor_shape)
    unused = math.prod(shape) - n_features
    if unused >= math.prod(shape) // max(shape) > 1:
        note(
            f"tensor_shape={shape} has {math.prod(shape)} cells for the {n_features} columns of X: "
            f"{unused} cells are filled up with zeros, and a smaller shape would do"
        )
    if math.prod(shape) < n_features:
        raise ValueError(
            f"tensor_shape={shape} has {math.prod(shape)} cells, fewer than the {n_features} "
            f'features of X; give a shape with at least {n_features} cells, or "auto"'
        )
    return shape


def checked_shape(tensor_shape: Any) -> Shape:
    """Return a shape as a tuple of positive integers."""
    sizes = np.atleast_1d(np.asarray(tensor_shape, dtype=object)).tolist()
    if not sizes or not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise ValueError(
            "tensor_shape must hold at least one size, all of them positive integers, got "
            f"{tensor_shape!r}"
        )
    return tuple(int(size) for size in sizes)


def largest_rank(shape: Shape) -> int:
    """Return a number of terms with which any tensor of a shape can be written."""
    return math.prod(shape) // max(shape)


def are_safe(squares: Array) -> bool:
    """Say whether sums of squares lost nothing to underflow or overflow; those of zeros did."""
    return bool(((squares > SAFE_SQUARES[0]) & (squares < SAFE_SQUARES[1])).all())


def unit_rows(rows: Array) -> Array:
    """Return rows divided by their norms, in float64, lest near ones become equal; zeros stay."""
    rows = np.ascontiguousarray(rows)  # sums in one order, however the rows were laid out
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    if are_safe(squares):  # in one pass
        return np.asarray(np.divide(rows, np.sqrt(squares)[:, None], dtype=np.float64))
    rows = rows.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(np.divide(scaled, norms, out=scaled, where=norms > 0))


def padded(rows: Array, shape: Shape, order: Literal["C", "F"] = "C") -> Array:
    """Return rows as tensors of a shape that has room for them."""
    missing = math.prod(shape) - rows.shape[1]
    if missing:
        rows = np.concatenate([rows, np.zeros((rows.shape[0], missing), rows.dtype)], axis=1)
    if order == "F":
        positions = np.arange(rows.shape[1]).reshape(shape, order="F").reshape(-1)
        rows = rows[:, positions]
    return rows.reshape(rows.shape[0], *shape)
