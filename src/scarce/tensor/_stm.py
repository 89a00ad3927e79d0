"""Support tensor machine for two classes (docs/theory/tensor_machines.md)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d

from scarce._arrays import Array
from scarce._classes import two_classes
from scarce._frame import Interval, checked_costs, checked_weights, fit_frame
from scarce._predictions import LabelPredictions
from scarce.reductions import BinaryHalfStep
from scarce.tensor._machine import TensorMachine


class STM(LabelPredictions, ClassifierMixin, TensorMachine):
    """Separate two classes of matrices or tensors with a large margin and weights of low rank.

    ``<W, X> + b`` is positive for ``classes_[1]``, where the weight tensor
    ``W = sum_r u_r^(1) o ... o u_r^(N)`` has ``rank`` terms. One mode's factor is solved for at a
    time, each time a linear `SVC`, and the objective never rises. Different starts may end in
    different models; see `n_init`.

    For more classes wrap it in :class:`sklearn.multiclass.OneVsOneClassifier`, with `X` as rows and
    a `tensor_shape`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of slack. Positive.
    tensor_shape : tuple of int, "auto" or None, default=None
        For `X` given as rows: the shape they take, filled up with zeros and read row by row. "auto"
        is a square just large enough, None leaves rows as they are, a linear SVC. Padding and the
        order of the features have an effect on the model.
    rank : int, default=1
        Number of terms of the weight tensor.
    n_init : int, default=1
        Number of starts, the best model is kept. The first is ones, and for a higher rank the
        leading singular vectors of the difference of the classes; the others are random.
    tol : float, default=1e-6
        Stop when a sweep over all modes, whichever was the first, changes the objective by no more
        than this proportion. Near the optimum the objective changes with the square of the
        distance: weights may be off by the root of `tol`, and below about 1e-13 rounding errors of
        the objective decide, which leaves about 1e-7.
    max_iter : int, default=100
        Largest number of sweeps.
    stop : {"relative", "paper"}, default="relative"
        "paper" stops when the first factor moves by no more than `tol`. That rule depends on the
        scale of the data; it is there for comparison.
    random_state : int, RandomState instance or None, default=None
        Random starts. None is a fixed seed.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    factors_ : list of ndarray of shape (d_m, rank)
        Factors of each mode, the norm of a term shared out evenly.
    coef_ : ndarray of shape `tensor_shape_`
        The weight tensor; `weights_` is another name for it.
    tensor_shape_ : tuple of int
        Shape of a sample.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    support_ : ndarray of shape (n_SV,)
        Indices of the samples with a multiplier in the last half-step.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their multipliers, signed by class.
    objective_ : float
        ``1/2 |W|^2 + C sum of slacks``.
    history_ : dict of list
        Per half-step: "objective", "mode", "change" (of the weight tensor since the sweep before,
        relative), "n_iter" (pairwise steps).
    converged_ : bool
        Whether the stop rule was met.
    n_iter_ : int
        Number of sweeps; the last may end with any mode.
    dual_gap_ : float
        Relative duality gap of the last half-step.
    kkt_violation_ : float
        Violation of the optimality conditions in the last half-step, in units of the margin.
    fit_status_ : int
        0 when the stop rule was met and `kkt_violation_` and `dual_gap_` are within `tol`.
    n_features_in_ : int
        Size of the first mode seen during fit; for rows, the number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    OneClassSTM : The model for one class.
    SVC : The model for vectors, with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import STM
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat(["flat", "steep"], 10)
    >>> X = random.normal(size=(20, 4, 3))
    >>> X[10:] += np.outer([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> model = STM().fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **TensorMachine._allowed_values,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}
    _trivial: ClassVar[str] = (
        "The solution is trivial: nothing separates the classes, so that the weights are zero "
        "and every decision is the same."
    )
    _all_starts_degenerate: ClassVar[str] = (
        "the weights are zero for every start tried: seen through its factors, nothing "
        "separates the classes of X. Use a higher rank, or check whether the samples differ at all."
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        tensor_shape: Any = None,
        rank: int = 1,
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 100,
        stop: str = "relative",
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.tensor_shape = tensor_shape
        self.rank = rank
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the separating hyperplane.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            The samples; for rows see `tensor_shape`. Arrays of float32 and float64 and memory maps
            are not copied.
        y : array-like of shape (n_samples,)
            Labels, two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of `C` per sample; a sample of weight 2 is the same as the sample given twice,
            and a sample of weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        flat, y = self._validated(X, y, reset=True)
        squares = self._squared_norms(flat)
        weights = checked_weights(sample_weight, flat)
        y = column_or_1d(y, warn=True)
        self.classes_, signs = two_classes(y, weights, type(self).__name__)
        rows = np.flatnonzero(weights)
        weights, signs = weights[rows], signs[rows]
        tensors = self._tensors(flat, squares, rows)
        checked_costs("C", self.C, weights * tensors.norm**2)
        problem = BinaryHalfStep(self.C, signs, weights, tensors.norm)
        fit = self._search(tensors, problem)
        self._keep(fit, problem, rows)
        self.intercept_ = np.array([float(fit.solution.multipliers[0])])
        return self

    def _decisions(self, X: Any) -> Array:
        scores = self._raw_scores(X)
        return np.asarray(scores + self.intercept_)
