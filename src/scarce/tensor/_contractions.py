"""Tensors contracted with the factors of all modes but one, and what a half-step makes of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import khatri_rao

from scarce._arrays import Array
from scarce.parallel import tile_runner
from scarce.tensor._vectors import Shape, padded

DROPPED = 1e-12  # eigenvalues below this share of the largest are zero up to rounding
TILE_VALUES = 1 << 17  # values turned into float64 at a time, 1 MB


class Tensors:
    """A sample of tensors, read a tile at a time so that the data are never copied whole.

    ``rows``: one flattened tensor a row, without the zeros that fill it up. ``shape``: shape of a
    tensor. ``norm``: what half-steps divide the tensors by, their largest norm. ``lengths``: what
    each tensor is divided by before that: nothing by default.
    """

    def __init__(
        self, rows: Array, shape: Shape, norm: float = 1.0, lengths: Array | None = None
    ) -> None:
        self.rows = rows
        self.shape = shape
        self.norm = norm
        self.n = rows.shape[0]
        self.scales = 1.0 / (np.full(self.n, norm) if lengths is None else lengths * norm)
        self.step = max(1, TILE_VALUES // math.prod(shape))

    @property
    def order(self) -> int:
        """Number of modes."""
        return len(self.shape)

    def tile(self, start: int, stop: int) -> Array:
        """Return some of the tensors in float64, as they were given."""
        rows = np.ascontiguousarray(self.rows[start:stop], dtype=np.float64)
        return padded(rows, self.shape)

    def combine(self, weights: Array) -> Array:
        """Return the weighted sum of the divided tensors."""
        total, weights = np.zeros(math.prod(self.shape)), weights * self.scales
        for start in range(0, self.n, self.step):
            tile = self.tile(start, min(self.n, start + self.step))
            total += weights[start : start + self.step] @ tile.reshape(len(tile), -1)
        return total.reshape(self.shape)

    def contract(self, factors: Sequence[Array], mode: int) -> Array:
        """Return ``X_i x_{q != mode} u_r^(q)`` for every tensor and column, ``(n, d_mode, rank)``.

        ``X_(m) A`` in matrix notation, of divided tensors: the quotients are taken here, not of the
        data. The modes after ``mode`` go first, by a product with a view of the data; nothing is
        transposed.
        """
        size, rank = factors[mode].shape
        left, right = _product(factors[:mode], rank), _product(factors[mode + 1 :], rank)
        out = np.empty((self.n, size, rank))

        def work(start: int, stop: int) -> None:
            tile, part = self.tile(start, stop), out[start:stop]
            if mode == 0:
                np.matmul(tile.reshape(-1, len(right)), right, out=part.reshape(-1, rank))
            elif mode + 1 == self.order:
                tile = tile.reshape(stop - start, len(left), size)
                np.matmul(left.T, tile, out=part.swapaxes(1, 2))
            else:
                inner = tile.reshape(-1, len(right)) @ right
                inner = inner.reshape(stop - start, len(left), size, rank)
                np.einsum("ilmr,lr->imr", inner, left, out=part)
            part *= self.scales[start:stop, None, None]

        with tile_runner(self.n * math.prod(self.shape) * rank) as run:
            run(self.n, work, self.step)
        return out

    def unfolding_gram(self, mode: int) -> Array:
        """Return ``sum_i X_i(m) X_i(m)'`` of divided tensors, of shape ``(d_mode, d_mode)``."""
        size = self.shape[mode]
        total = np.zeros((size, size))
        for start in range(0, self.n, self.step):
            tile = self.tile(start, min(self.n, start + self.step))
            scales = self.scales[start : start + self.step].reshape(-1, *[1] * self.order)
            unfolded = np.moveaxis(scales * tile, mode + 1, 0).reshape(size, -1)
            total += unfolded @ unfolded.T
        return total


def _product(factors: Sequence[Array], rank: int) -> Array:
    """Return the Khatri-Rao product, rows in row-major order of the modes; ones for no factor."""
    return np.asarray(functools.reduce(khatri_rao, factors)) if factors else np.ones((1, rank))


def inner_products(some: Sequence[Array], others: Sequence[Array]) -> Array:
    """Return the Hadamard product of ``U'V`` over the modes; ones for no factor."""
    rank = some[0].shape[1] if some else 1
    return functools.reduce(
        np.multiply, (u.T @ v for u, v in zip(some, others, strict=True)), np.ones((rank, rank))
    )


def inverse_root(factors: Sequence[Array], mode: int) -> Array:
    """Return ``T`` of shape (rank, kept) with ``TT'`` the pseudo-inverse of ``B = A'A``.

    ``W_(m) = U A'`` has the norm ``tr(U B U')``, so that in ``V = U T'^-1`` it is the plain norm of
    ``V``: the half-step is a model on the rows ``X_i(m) A T``, and ``U = V T'``. ``T`` is the
    root ``B^{-1/2}`` turned by an orthogonal matrix, which no inner product notices.
    """
    rank = factors[mode].shape[1]
    others = [factor for m, factor in enumerate(factors) if m != mode]
    B = inner_products(others, others) if others else np.ones((rank, rank))
    if rank == 1:  # whose eigenvalue is itself
        return np.asarray(1.0 / np.sqrt(B))
    values, vectors = np.linalg.eigh(B)
    keep = values > DROPPED * values[-1]
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def full_tensor(factors: Sequence[Array], scales: Array) -> Array:
    """Return ``sum_r scales_r u_r^(1) o ... o u_r^(N)``."""
    shape = tuple(len(factor) for factor in factors)
    return np.asarray(_product(factors, len(scales)) @ scales).reshape(shape)
