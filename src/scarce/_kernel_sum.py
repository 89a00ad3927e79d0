"""A fitted model as a formula: sums of kernel functions, for whoever takes it apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels import Kernel


@dataclass(frozen=True)
class KernelSum:
    """``f_o(x) = sum_j weights[o, j] k(x, vectors[j]) + own k(x, x) + constants[o]``.

    Attributes
    ----------
    kernel : Kernel
        With numbers for its parameters.
    vectors : ndarray or CSR of shape (n_terms, n_features)
        The rows it is compared with.
    weights : ndarray of shape (n_outputs, n_terms)
        One line for each decision value.
    constants : ndarray of shape (n_outputs,)
        What is added.
    own : float
        Factor of the row's value with itself: not zero for distances to a centre.
    voted : bool
        Whether outputs are pairs of classes that are voted on, rather than decision values.
    factors : ndarray of shape (n_features,) or None
        What the columns of `x` are multiplied by first; the vectors already are.
    """

    kernel: Kernel
    vectors: Any
    weights: Array
    constants: Array
    own: float = 0.0
    voted: bool = False
    factors: Array | None = None

    @property
    def dense_vectors(self) -> Array:
        """The vectors as an array of float64."""
        vectors = self.vectors.toarray() if sparse.issparse(self.vectors) else self.vectors
        return np.asarray(vectors, dtype=np.float64)

    def scaled(self, factor: float, shift: float = 0.0) -> KernelSum:
        """Return ``factor f(x) + shift``."""
        return replace(
            self,
            weights=factor * self.weights,
            constants=factor * self.constants + shift,
            own=factor * self.own,
        )

    def plus(self, other: KernelSum) -> KernelSum:
        """Return the sum with another of the same kernel and number of outputs."""
        return replace(
            self,
            vectors=np.vstack([self.dense_vectors, other.dense_vectors]),
            weights=np.hstack([self.weights, other.weights]),
            constants=self.constants + other.constants,
            own=self.own + other.own,
        )
