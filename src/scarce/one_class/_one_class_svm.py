"""One-class support vector machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin, _fit_context
from sklearn.callback import with_callbacks
from sklearn.utils._param_validation import Interval

from scarce._kernel_machine import KernelMachine, all_or_nothing
from scarce.kernels import weighted_scores
from scarce.one_class._boundary import on_boundary, rounding_error
from scarce.one_class._trivial import warn_if_trivial
from scarce.solvers import QuadraticProgram, one_class_offset

Array = NDArray[Any]


class OneClassSVM(OutlierMixin, KernelMachine):
    """Find the region where most of a sample lies.

    A replacement of :class:`sklearn.svm.OneClassSVM` with the same parameters, signs, scale and
    attributes, whose solver is many times faster on large samples, whose weights mean repetition,
    and which says how exact its answer is.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel. A callable takes two arrays of rows and returns the matrix of values; it is
        called on blocks of rows.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` with rows counted by their weights, "auto" is
        ``1 / n_features``.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in LIBSVM's scale.
    nu : float, default=0.5
        At most this share of the training weight is rejected, and at least this share belongs to
        support vectors. In the interval (0, 1].
    shrinking : bool, default=True
        Accepted for compatibility; the solver chooses its active variables itself.
    cache_size : float, default=200
        Memory for kernel values in MB.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    warm_start : bool, default=False
        Begin with the multipliers of the last fit when the number of rows is the same; a fit that
        `max_iter` ended goes on where it stopped.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows. Cost and
        memory are then linear in the number of rows, and the model has `n_components` terms.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors (of the landmark rows of an approximation).
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients, which sum to ``nu`` times the total weight.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 - rho + 1 / (nu n) sum of slacks``, weights of mean 1.
    dual_gap_ : float
        Relative duality gap of the solution.
    kkt_violation_ : float
        Violation of the optimality conditions, to be compared with `tol`.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    sklearn.svm.OneClassSVM : The class this one replaces.
    sklearn.linear_model.SGDOneClassSVM : A linear one-class SVM by stochastic descent.

    Examples
    --------
    >>> from scarce import OneClassSVM
    >>> X = [[0], [0.44], [0.45], [0.46], [1]]
    >>> model = OneClassSVM(gamma="auto").fit(X)
    >>> model.predict(X)
    array([-1,  1,  1,  1, -1])
    >>> model.score_samples(X).round(3)
    array([1.78 , 2.055, 2.056, 2.056, 1.733])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        warm_start: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The sample; for a precomputed kernel, the kernel matrix.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 is the same as the row given twice, and a row of weight 0 or
            less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._validated(X, reset=True)
        weights = self._checked_weights(sample_weight, X)
        previous = self._previous(X.shape[0])
        rows = np.flatnonzero(weights)
        kernel = self._make_kernel(X, weights)
        operator = self._make_operator(X, kernel, rows)
        mass = self.nu * float(weights.sum())
        # LIBSVM's scale: multipliers up to the weight, summing to nu times the total weight.
        program = QuadraticProgram(operator, totals=[mass], upper=weights[rows])
        solution = self._solve(program, None if previous is None else previous[rows])
        alpha = solution.alpha
        support, coefficients = self._expansion(operator, alpha)
        self._keep(X, rows[support], coefficients)
        self.offset_ = np.array([self._offset(X, rows, weights, solution)])
        self.intercept_ = -self.offset_
        largest = float(np.abs(operator.diagonal()).max())
        single = X.dtype == np.float32 and self.kernel in ("rbf", "poly", "sigmoid")
        self._rounding = rounding_error(np.asarray(coefficients), largest, single)
        self.n_iter_ = max(1, solution.n_iter)
        self.objective_ = -solution.objective / mass**2
        warn_if_trivial(self.objective_, largest / 2, self.kernel)
        return self

    def _offset(self, X: Any, rows: Array, weights: Array, solution: Any) -> float:
        """Return the offset: the equality's multiplier, or the order statistic of the scores.

        With every row at its bound (nu = 1) the multiplier's interval has no upper end, and an
        approximated model is cut where its own scores reject the share nu: both are the order
        statistic.
        """
        at_top = bool((solution.alpha >= weights[rows]).all())
        if self.approximation is None and not at_top:
            return -float(solution.multipliers[0])
        scores = solution.gradient
        if self.approximation is not None:
            part = X if rows.size == X.shape[0] else X[rows]
            scores = weighted_scores(
                part, self.support_vectors_, self._dense_dual(), self._fitted_kernel()
            )
        price = 1.0 / (self.nu * float(weights.sum()))
        return one_class_offset(scores, price, weights[rows])

    @property
    def n_support_(self) -> Array:
        """Number of support vectors."""
        return np.array([len(self.support_)], dtype=np.int32)

    def decision_function(self, X: Any) -> Array:
        """Return how far each row is inside the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive inside, negative outside, zero on the boundary.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    def score_samples(self, X: Any) -> Array:
        """Return the scores before the offset is subtracted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        return on_boundary(self._raw_scores(X), self.offset_, self._rounding)

    def predict(self, X: Any) -> Array:
        """Return +1 for rows inside the region or on its boundary and -1 for the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
