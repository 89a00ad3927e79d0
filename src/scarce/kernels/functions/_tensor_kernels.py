"""Kernels between tensors, for every estimator that takes a callable as its kernel.

The formulas and what they ignore: docs/theory/tensor_kernels.md, "Kernels between tensors".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._rbf import RBFKernel
from scarce.kernels.rows._tensors import PreparedRows, TensorKernel, per_mode, unfolded

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


_TILE = 2_000_000  # products of singular vectors or components held at a time, 16 MB


@dataclass(frozen=True)
class ProductModeKernel(TensorKernel):
    """Product over the modes of a kernel between the unfoldings.

    By default the kernel of a mode is the mean over its slices,
    ``1 / d_m sum_r exp(-gamma |X_r - Y_r|^2)``, for matrices the rows and then the columns. A slice
    that is far off costs its proportion of the mean and no more, so that a broken line or a covered
    corner does not decide alone. An RBF kernel of whole unfoldings would be no tensor kernel: all
    unfoldings have the same distance, and the product is the RBF kernel of the vectors.

    Parameters
    ----------
    tensor_shape : tuple of int, optional
        Shape that vectors are folded to; needed for vectors only.
    gamma : float or tuple of float, default=1.0
        Inverse width, for all modes or each; a mode of width 0 is left out.
    mode_kernel : "slices" or callable, default="slices"
        A callable takes two arrays of unfoldings of shape (n, d_m, p) and (m, d_m, p) and returns
        the matrix of values; `gamma` is then not used.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSVM
    >>> from scarce.kernels import ProductModeKernel
    >>> X = np.random.default_rng(0).normal(1.0, 0.3, size=(8, 4, 3))
    >>> model = OneClassSVM(kernel=ProductModeKernel(gamma=0.5), nu=0.1).fit(X)
    >>> model.predict(np.stack([np.ones((4, 3)), -np.ones((4, 3))]))
    array([ 1, -1])
    """

    gamma: float | tuple[float, ...] = 1.0
    mode_kernel: Literal["slices"] | Callable[[Array, Array], Array] = "slices"

    def __post_init__(self) -> None:
        if not callable(self.mode_kernel) and self.mode_kernel != "slices":
            raise ValueError(
                f'mode_kernel must be "slices" or a callable, got {self.mode_kernel!r}'
            )

    @property
    def definite(self) -> bool:
        """A product of means of RBF kernels is; of a callable it is unknown."""
        return not callable(self.mode_kernel)

    def _reduce(self, tensors: Array) -> Sequence[Array]:
        return [tensors]

    def _compare(self, left: PreparedRows, right: PreparedRows) -> Array:
        (X,), (Y,) = left.parts, right.parts
        values = np.ones((X.shape[0], Y.shape[0]))
        if callable(self.mode_kernel):
            for mode in range(X.ndim - 1):
                values *= self.mode_kernel(unfolded(X, mode), unfolded(Y, mode))
            return values
        for mode, gamma in enumerate(per_mode(self.gamma, X.ndim - 1)):
            if gamma > 0:
                values *= _mean_over_slices(unfolded(X, mode), unfolded(Y, mode), gamma)
        return values


def _mean_over_slices(X: Array, Y: Array, gamma: float) -> Array:
    kernel = RBFKernel(gamma=gamma)
    total = np.zeros((X.shape[0], Y.shape[0]))
    for row in range(X.shape[1]):
        total += kernel.values(X[:, row], Y[:, row])
    return np.asarray(total / X.shape[1])


@dataclass(frozen=True)
class SubspaceKernel(TensorKernel):
    """Compare the subspaces that the slices of a tensor span, mode by mode.

    The value is ``prod_m exp(-gamma_m |V V' - W W'|_F^2)``, where the columns of ``V`` are the
    leading right singular vectors of the unfolding along mode ``m``. For matrices mode 0 compares
    the spaces spanned by the rows, which no mixing of the rows changes; mode 1 those spanned by the
    columns. The kernel sees neither the size of a tensor nor its sign.

    A projection is only defined where the singular values numbered `rank` and `rank` + 1 differ.
    Directions of singular values that are zero up to rounding are left out.

    Parameters
    ----------
    tensor_shape : tuple of int, optional
        Shape that vectors are folded to; needed for vectors only.
    gamma : float or tuple of float, default=1.0
        Inverse width, for all modes or each; a mode of width 0 is left out. The squared distance of
        two subspaces is at most twice `rank`.
    rank : int, default=1
        Dimension of the subspaces, at most.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import SubspaceKernel
    >>> X = np.array([[[1.0, 0.0], [3.0, 0.0]]])
    >>> Y = np.array([[[0.0, 2.0], [0.0, 1.0]]])
    >>> mixed = np.array([[0.0, 1.0], [5.0, 2.0]]) @ X
    >>> rows_only = SubspaceKernel(gamma=(0.5, 0.0))
    >>> rows_only(X, np.concatenate([X, mixed, Y])).round(4)
    array([[1.    , 1.    , 0.3679]])
    """

    # An RBF kernel of projections, per mode.
    definite: ClassVar[bool] = True

    gamma: float | tuple[float, ...] = 1.0
    rank: int = 1

    def __post_init__(self) -> None:
        _check_count("rank", self.rank)

    def _reduce(self, tensors: Array) -> Sequence[Array]:
        if tensors.ndim < 3:
            raise ValueError(
                "SubspaceKernel compares the slices of tensors of order 2 or more, got vectors; "
                "give arrays of shape (n, d1, d2, ...), or tensor_shape"
            )
        widths = per_mode(self.gamma, tensors.ndim - 1)
        return [
            _leading_directions(unfolded(tensors, mode), self.rank if width > 0 else 0)
            for mode, width in enumerate(widths)
        ]

    def _compare(self, left: PreparedRows, right: PreparedRows) -> Array:
        exponents = np.zeros((*left.shape, *right.shape))
        widths = per_mode(self.gamma, len(left.parts))
        for V, W, gamma in zip(left.parts, right.parts, widths, strict=True):
            if gamma == 0:
                continue
            # |VV' - WW'|^2 = rank of V + rank of W - 2 |V'W|^2
            ranks = np.add.outer(*(np.einsum("irp,irp->i", part, part) for part in (V, W)))
            exponents += gamma * np.maximum(ranks - 2.0 * _squared_overlaps(V, W), 0.0)
        return np.asarray(np.exp(-exponents))


def _leading_directions(matrices: Array, rank: int) -> Array:
    """Return leading right singular vectors as rows; zeros for those of singular value zero."""
    n, d, p = matrices.shape
    if rank == 0:
        return np.zeros((n, 0, p))
    _, sizes, directions = np.linalg.svd(matrices, full_matrices=False)
    noise = np.finfo(np.float64).eps * max(d, p) * sizes[:, :1]
    return np.asarray((directions * (sizes > noise)[:, :, None])[:, :rank])


def _squared_overlaps(V: Array, W: Array) -> Array:
    """Return ``|V_i' W_j|_F^2`` for all pairs, in tiles."""
    n, r, p = V.shape
    m, s, _ = W.shape
    overlaps = np.empty((n, m))
    step = max(1, _TILE // max(1, r * m * s))
    for start in range(0, n, step):
        some = V[start : start + step]
        products = (some.reshape(-1, p) @ W.reshape(-1, p).T).reshape(-1, r, m, s)
        overlaps[start : start + step] = np.einsum("irjs,irjs->ij", products, products)
    return overlaps


@dataclass(frozen=True)
class CPKernel(TensorKernel):
    """Compare the rank-one components of two tensors, all with all.

    Every tensor is approximated by ``sum_r x_r^(1) o ... o x_r^(N)`` with the norm of a component
    spread evenly over its factors, and the value is ``sum_{r,s} prod_m k(x_r^(m), y_s^(m))``. The
    signs of the factors of a component are free, as long as their product is given; the value is
    the mean over these choices. Matrices are approximated by their singular values and vectors,
    higher orders by alternating least squares.

    Components are only defined up to ties between singular values; those that are zero up to
    rounding are left out.

    Parameters
    ----------
    tensor_shape : tuple of int, optional
        Shape that vectors are folded to; needed for vectors only.
    gamma : float or tuple of float, default=1.0
        Inverse width of the RBF kernel between factors, for all modes or each.
    rank : int, default=1
        Number of components.
    factor_kernel : {"rbf", "linear"}, default="rbf"
        Kernel between factors. With "linear" the value is the inner product of the approximations.
    n_sweeps : int, default=30
        Sweeps of alternating least squares, for order 3 and more. The number is fixed, so that the
        components of a tensor do not depend on its company.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import CPKernel
    >>> X = np.random.default_rng(0).normal(size=(5, 3, 4))
    >>> kernel = CPKernel(rank=3, factor_kernel="linear")
    >>> np.allclose(kernel(X, X), np.einsum("iab,jab->ij", X, X))
    True
    """

    # Sums of products of the even and of the odd part of a kernel, each positive semidefinite.
    definite: ClassVar[bool] = True

    gamma: float | tuple[float, ...] = 1.0
    rank: int = 1
    factor_kernel: Literal["rbf", "linear"] = "rbf"
    n_sweeps: int = 30

    def __post_init__(self) -> None:
        _check_count("rank", self.rank)
        if self.factor_kernel not in ("rbf", "linear"):
            raise ValueError(f'factor_kernel must be "rbf" or "linear", got {self.factor_kernel!r}')
        _check_count("n_sweeps", self.n_sweeps)

    def _reduce(self, tensors: Array) -> Sequence[Array]:
        return cp_factors(tensors, self.rank, self.n_sweeps)

    def _compare(self, left: PreparedRows, right: PreparedRows) -> Array:
        n, m, rank = left.shape[0], right.shape[0], left.parts[0].shape[1]
        values = np.empty((n, m))
        step = max(1, _TILE // max(1, rank * m * rank))
        for start in range(0, n, step):
            some = left[start : start + step]
            pairs = self._between_components(some, right)
            values[start : start + step] = pairs.reshape(-1, rank, m, rank).sum(axis=(1, 3))
        return values

    def _between_components(self, left: PreparedRows, right: PreparedRows) -> Array:
        """Return the values of all components on the left with all on the right."""
        X, Y = ([part.reshape(-1, part.shape[2]) for part in rows.parts] for rows in (left, right))
        products = [x @ y.T for x, y in zip(X, Y, strict=True)]
        if self.factor_kernel == "linear":
            return np.asarray(np.multiply.reduce(products))
        # k(x, y) and k(-x, y) of a mode are its even part plus and minus its odd part. Over all
        # choices of signs with product +1, the mean of the products is the product of the even
        # parts plus that of the odd parts.
        even, odd = np.float64(1.0), np.float64(1.0)
        widths = per_mode(self.gamma, len(products))
        for x, y, product, gamma in zip(X, Y, products, widths, strict=True):
            norms = np.add.outer(np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y))
            near = np.exp(-gamma * np.maximum(norms - 2.0 * product, 0.0))
            far = np.exp(-gamma * np.maximum(norms + 2.0 * product, 0.0))
            even, odd = even * (near + far) / 2.0, odd * (near - far) / 2.0
        there = np.outer(X[0].any(axis=1), Y[0].any(axis=1))
        return np.asarray((even + odd) * there)


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
