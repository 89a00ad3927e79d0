"""Kernel mean matching (docs/theory/baselines.md)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils import check_array

from scarce._arrays import Array
from scarce.kernels import make_kernel, scale_gamma
from scarce.solvers import DenseMatrix, QuadraticProgram, solve


def kernel_mean_matching(
    X_source: Any,
    X_target: Any,
    *,
    gamma: float | None = None,
    largest: float = 1000.0,
    slack: float | None = None,
    tol: float = 1e-6,
) -> Array:
    """Return weights of source rows whose mean in feature space is that of the target's rows.

    For a learner that takes `sample_weight`, when the two sets of rows differ in how often a row
    occurs and in nothing else (covariate shift). With the RBF kernel ``k`` the weights minimise ::

        |sum_i weights[i] phi(x_i) / n_source - sum_j phi(z_j) / n_target|^2

    with ``0 <= weights <= largest`` and ``|mean(weights) - 1| <= slack``.

    Parameters
    ----------
    X_source : array-like of shape (n_source, n_features)
        Rows that have labels.
    X_target : array-like of shape (n_target, n_features)
        Rows to predict.
    gamma : float, default=None
        Of the RBF kernel. None is ``1 / (n_features * X.var())`` over the rows of both.
    largest : float, default=1000.0
        Upper bound of a weight.
    slack : float, default=None
        How far the mean weight may be from 1. None is ``(sqrt(n_source) - 1) / sqrt(n_source)``,
        as the paper advises.
    tol : float, default=1e-6
        Largest violation of the optimality conditions, on the scale of a kernel value.

    Returns
    -------
    ndarray of shape (n_source,)
        The weights.

    Notes
    -----
    Due to Huang and others [1]_. The matrix of ``n_source^2`` kernel values is kept in memory.

    References
    ----------
    .. [1] J. Huang, A. J. Smola, A. Gretton, K. M. Borgwardt and B. Schölkopf, "Correcting sample
       selection bias by unlabeled data", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.baselines import kernel_mean_matching
    >>> source = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> target = np.array([[2.0], [3.0], [3.0]])
    >>> kernel_mean_matching(source, target, gamma=1.0).round(1)
    array([0. , 0. , 1.3, 2.7])
    """
    X = check_array(X_source, dtype=np.float64, input_name="X_source")
    Z = check_array(X_target, dtype=np.float64, input_name="X_target")
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X_target must have the {X.shape[1]} features of X_source, got {Z.shape[1]}"
        )
    n = len(X)
    slack = 1.0 - 1.0 / math.sqrt(n) if slack is None else slack
    if not 0.0 <= slack < math.inf:
        raise ValueError(f"slack must be a finite number from 0 on, got {slack!r}")
    least = max(1.0 - slack, 0.0)
    if not least <= largest < math.inf:
        raise ValueError(
            f"largest must be finite and at least 1 - slack = {least:g}, got {largest!r}"
        )
    kernel = make_kernel("rbf", scale_gamma(np.concatenate([X, Z])) if gamma is None else gamma)
    # The variables are weights / n. One more, which the objective does not see, takes up what
    # their sum may differ by.
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, :n] = kernel.values(X, X)
    linear = np.append(-kernel.values(X, Z).mean(axis=1), 0.0)
    most = 1.0 + slack
    upper = np.append(np.full(n, largest / n), most - least)
    program = QuadraticProgram(DenseMatrix(matrix), totals=[most], upper=upper, linear=linear)
    return np.asarray(solve(program, tol=tol).alpha[:n] * n)
