"""Sums of rank-one tensors that approximate given ones, many at a time."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce.kernels.rows._tensors import unfolded

NEGLIGIBLE = 1e-12  # eigenvalues of the normal equations below this share of the largest are zero


def cp_factors(tensors: Array, rank: int, n_sweeps: int) -> list[Array]:
    """Return factors of shape (n, rank, d_m), one array per mode.

    The factors of a component have equal norms; their outer products add up to the approximation. A
    component that is zero up to rounding has zeros in all its factors.
    """
    order = tensors.ndim - 1
    if order == 1:  # a vector is one component
        return [tensors[:, None, :]]
    if order == 2:
        left, sizes, right = np.linalg.svd(tensors, full_matrices=False)
        factors = [np.moveaxis(left, 1, 2)[:, :rank], right[:, :rank]]
        return _balanced(factors, sizes[:, :rank])
    factors = _least_squares(tensors, rank, n_sweeps)
    norms = [np.linalg.norm(factor, axis=2) for factor in factors]
    units = [
        np.divide(factor, norm[:, :, None], out=np.zeros_like(factor), where=norm[:, :, None] > 0)
        for factor, norm in zip(factors, norms, strict=True)
    ]
    return _balanced(units, np.multiply.reduce(norms))


def _balanced(units: list[Array], sizes: Array) -> list[Array]:
    """Return factors of equal norm from unit factors and the components' sizes."""
    largest = sizes.max(axis=1, keepdims=True, initial=0.0)
    noise = 16 * np.finfo(np.float64).eps * max(unit.shape[2] for unit in units)
    shares = np.where(sizes > noise * largest, sizes, 0.0) ** (1.0 / len(units))
    return [unit * shares[:, :, None] for unit in units]


def _least_squares(tensors: Array, rank: int, n_sweeps: int) -> list[Array]:
    """Alternate between the modes, from the leading singular vectors of the unfoldings."""
    order = tensors.ndim - 1
    matrices = [unfolded(tensors, mode) for mode in range(order)]
    factors = [_start(matrix, rank) for matrix in matrices]
    for _ in range(n_sweeps):
        for mode in range(order):
            others = [factor for m, factor in enumerate(factors) if m != mode]
            rows = others[0]
            for other in others[1:]:  # Khatri-Rao product, in the order of the unfolding
                rows = np.einsum("irp,irq->irpq", rows, other).reshape(*rows.shape[:2], -1)
            inverse = np.linalg.pinv(rows @ rows.swapaxes(1, 2), NEGLIGIBLE, hermitian=True)
            factors[mode] = inverse @ rows @ matrices[mode].swapaxes(1, 2)
    return factors


def _start(matrices: Array, rank: int) -> Array:
    """Return leading left singular vectors as rows; fixed random ones if there are too few."""
    left = np.moveaxis(np.linalg.svd(matrices, full_matrices=False)[0], 1, 2)[:, :rank]
    n, found, d = left.shape
    more = np.random.default_rng(0).normal(size=(max(0, rank - found), d)) / np.sqrt(d)
    return np.concatenate([left, np.broadcast_to(more, (n, *more.shape))], axis=1)
