"""One-class support tensor machine (docs/theory/tensor_machines.md)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from scarce._arrays import Array
from scarce._boundary import on_boundary, rounding_error
from scarce._frame import Interval, checked_weights, fit_frame
from scarce.reductions import OneClassHalfStep
from scarce.solvers import one_class_offset
from scarce.tensor._machine import TensorMachine


class OneClassSTM(OutlierMixin, TensorMachine):
    """Find the half-space where a sample of matrices or tensors lies, with weights of low rank.

    ``<W, X> >= rho`` for almost all samples, far from the origin, where the weight tensor
    ``W = sum_r u_r^(1) o ... o u_r^(N)`` has ``rank`` terms. A matrix of n1 x n2 then has n1 + n2
    weights to learn per term instead of n1 n2, which is the point when samples are few.

    The problem is not convex: one mode's factor is solved for at a time, each time a one-class SVM,
    and the objective never rises. Different starts may end in different models; see `n_init`.

    Data must not be centred: with the origin among the samples there is nothing to be found.

    Parameters
    ----------
    nu : float, default=0.1
        Share of the training weight that may be rejected. In the interval (0, 1]. Every `nu` up to
        ``1 / n_samples`` is the same model, a hard margin: nothing is rejected. `hard_margin_` says
        so; one such value is enough in a grid.
    tensor_shape : tuple of int, "auto" or None, default=None
        For `X` given as rows: the shape they take, filled up with zeros and read row by row. "auto"
        is a square just large enough, None leaves rows as they are, a linear one-class SVM. Padding
        and the order of the features have an effect on the model.
    rank : int, default=1
        Number of terms of the weight tensor.
    n_init : int, default=1
        Number of starts, the best model is kept. The first is the paper's, ones, and for a higher
        rank the leading singular vectors of the sum of the samples; the others are random.
    tol : float, default=1e-6
        Stop when a sweep over all modes changes the objective by no more than this share.
    max_iter : int, default=100
        Largest number of sweeps.
    stop : {"relative", "paper"}, default="relative"
        "paper" stops when the first factor moves by no more than `tol`. That rule depends on the
        scale of the data; it is there for comparison.
    random_state : int, RandomState instance or None, default=None
        Random starts. None is a fixed seed.

    Attributes
    ----------
    factors_ : list of ndarray of shape (d_m, rank)
        Factors of each mode, the norm of a term shared out evenly.
    coef_ : ndarray of shape `tensor_shape_`
        The weight tensor; `weights_` is another name for it.
    tensor_shape_ : tuple of int
        Shape of a sample.
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    support_ : ndarray of shape (n_SV,)
        Indices of the samples with a multiplier in the last half-step.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their multipliers; the sum is 1.
    hard_margin_ : bool
        Whether `nu` is so small that any smaller one gives the same model.
    objective_ : float
        ``1/2 |W|^2 - rho + 1 / (nu n) sum of slacks``.
    history_ : dict of list
        Per half-step: "objective", "mode", "change" (of the weight tensor since the sweep before,
        relative), "n_iter" (pairwise steps).
    converged_ : bool
        Whether the stop rule was met.
    n_iter_ : int
        Number of sweeps.
    dual_gap_ : float
        Relative duality gap of the last half-step.
    kkt_violation_ : float
        Violation of the optimality conditions in the last half-step, relative to the objective.
    fit_status_ : int
        0 when the stop rule was met and `kkt_violation_` and `dual_gap_` are within `tol`.
    n_features_in_ : int
        Size of the first mode seen during fit; for rows, the number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    STM : The machine for two classes.
    OneClassSVM : The machine for vectors, with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSTM
    >>> random = np.random.default_rng(0)
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 1.0]) + 0.1 * random.normal(size=(8, 3, 2))
    >>> model = OneClassSTM(nu=0.25).fit(X)
    >>> model.coef_.shape
    (3, 2)
    >>> model.predict([[[1, 1], [2, 2], [3, 3.2]], [[3, 3], [2, 2], [1, 1]]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TensorMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _trivial: ClassVar[str] = (
        "The solution is trivial: the origin lies among the samples, so that the weights are zero "
        "and every decision is 0. Do not centre the data."
    )
    _all_starts_degenerate: ClassVar[str] = (
        "the weights are zero for every start tried: seen through its factors, the origin lies "
        "among the samples of X. Do not centre the data, or use a larger nu or a higher rank."
    )

    def __init__(
        self,
        *,
        nu: float = 0.1,
        tensor_shape: Any = None,
        rank: int = 1,
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 100,
        stop: str = "relative",
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.tensor_shape = tensor_shape
        self.rank = rank
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.random_state = random_state

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the half-space.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            The sample; for rows see `tensor_shape`. Arrays of float32 and float64 and memory maps
            are not copied.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a sample of weight 2 is the same as the sample given twice, and a sample of
            weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        flat = self._validated(X, reset=True)
        weights = checked_weights(sample_weight, flat)
        rows = np.flatnonzero(weights)
        weights = weights[rows]
        tensors = self._tensors(flat, rows)
        problem = OneClassHalfStep(self.nu, weights, tensors.norm)
        fit = self._search(tensors, problem)
        self._keep(fit, problem, rows)
        # In the last half-step the gradient is the scores.
        scores = fit.solution.gradient * problem.objective_unit
        self.offset_ = np.array([one_class_offset(scores, problem.price, weights)])
        self.intercept_ = -self.offset_
        self._rounding = rounding_error(self.dual_coef_, problem.objective_unit)
        # Dual variables sum to one, so that boxes of one or more cannot bind.
        self.hard_margin_ = bool(weights.min() >= self.nu * weights.sum() * (1 - 1e-12))
        return self

    def score_samples(self, X: Any) -> Array:
        """Return the scores before the offset is subtracted.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            Samples of the shape seen during fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        scores = self._raw_scores(X)
        return on_boundary(scores, self.offset_, self._rounding)

    def decision_function(self, X: Any) -> Array:
        """Return how far each sample is inside the half-space.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            Samples of the shape seen during fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive inside, negative outside, zero on the boundary.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Array:
        """Return +1 for samples inside the half-space or on its boundary and -1 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            Samples of the shape seen during fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
