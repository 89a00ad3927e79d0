"""The noise of the paper on uncertain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array


@dataclass(frozen=True, eq=False)
class NoisyRows:
    """Rows of which some were disturbed.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    is_noisy : ndarray of bool of shape (n,)
        Which of them were disturbed.
    scales : ndarray of shape (d,)
        Standard deviation of the noise in each feature.
    """

    X: Array
    is_noisy: Array
    scales: Array


def add_noise(
    X: Any, *, random_state: Any, share: float = 0.4, spread: Any = None, factor: float = 2.0
) -> NoisyRows:
    """Add noise to a proportion of the rows, as Xiao, Liu, Yu and Hao (2014) do in training sets.

    Each feature draws the standard deviation of its noise evenly from 0 to `factor` times its own
    spread. The rows chosen get independent normal noise.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows. Sparse rows are an error: noise would fill them.
    random_state : int or Generator
        The seed.
    share : float, default=0.4
        Proportion of the rows that get noise.
    spread : array-like of shape (d,), default=None
        Standard deviation of each feature over the whole data. None takes that of `X`.
    factor : float, default=2.0
        Largest ratio of noise to spread.

    Returns
    -------
    NoisyRows
        The rows (a copy), which were disturbed, and the standard deviations drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.datasets import add_noise
    >>> noisy = add_noise(np.eye(10), random_state=0)
    >>> int(noisy.is_noisy.sum()), noisy.scales.shape
    (4, (10,))
    """
    if sparse.issparse(X):
        raise TypeError(
            "X must be dense, since noise would fill a sparse matrix; reduce it first, for "
            "instance by TruncatedSVD"
        )
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share must be between 0 and 1, got {share}")
    rng = np.random.default_rng(random_state)
    X = np.asarray(X)
    X = X.astype(np.result_type(X, np.float32))
    spread = X.std(axis=0, dtype=float) if spread is None else np.asarray(spread, dtype=float)
    if spread.shape != X.shape[1:]:
        raise ValueError(
            f"spread must have one value per feature, {X.shape[1]}, got shape {spread.shape}"
        )
    scales = rng.uniform(0.0, factor * spread)
    is_noisy = np.zeros(len(X), dtype=bool)
    is_noisy[rng.permutation(len(X))[: round(share * len(X))]] = True
    X[is_noisy] += rng.normal(0.0, scales, size=(int(is_noisy.sum()), X.shape[1]))
    return NoisyRows(X, is_noisy, scales)
