"""Support vector data description."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._kernel_machine import Sample
from scarce._kernel_sum import KernelSum
from scarce._predictions import no_nan, rounding_error
from scarce.kernels import make_operator
from scarce.one_class._base import SAME, OneClassMachine
from scarce.reductions import SVDDModel, read_svdd, svdd_linear_term, svdd_program
from scarce.solvers import QuadraticProgram, Solution


class SVDD(OneClassMachine):
    """Find the smallest ball in feature space that holds most of a sample.

    The ball of centre ``c`` and radius ``R`` minimises ``R^2 + 1 / (nu n) sum of slacks``, where a
    row's slack is how far its squared distance to the centre exceeds ``R^2``. A ball does not
    depend on where the origin is, so that rows may be centred. With a kernel that is the same for
    every row and itself, such as rbf, the region is that of :class:`OneClassSVM`.

    Parameters
    ----------
    nu : float, default=0.5
        At most this proportion of the training weight is rejected, and at least this proportion
        belongs to support vectors. In the interval (0, 1].
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel. A callable takes two arrays of rows and returns the matrix of values; it is
        called on blocks of rows. A precomputed one must have a constant diagonal for new rows to
        be scored.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` with rows counted by their weights, "auto" is
        ``1 / n_features``.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in the scale of :class:`OneClassSVM`.
    cache_size : float, default=200
        Memory for kernel values in MB.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    warm_start : bool, default=False
        Begin with the dual variables of the last fit when the number of rows is the same; a fit
        that `max_iter` ended goes on where it stopped.
    approximation : {None, "nystroem"}, default=None
        "nystroem" looks for the centre among the combinations of `n_components` random rows. Cost
        and memory are then linear in the number of rows, and the model has `n_components` terms.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.
    offset : {"training", "left_out"} or None, default=None
        Whose scores set the radius; see `OneClassSVM`.
    false_alarms : float or None, default=None
        Proportion of new rows of the class that may be rejected; see `OneClassSVM`.
    contamination : float or "auto", default=0.0
        Proportion of the training rows that may not belong to the class; see `OneClassSVM`.
    window : int or None, default=None
        Largest number of rows that `partial_fit` keeps, the newest; None for all.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors (of the landmark rows of an approximation).
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients in the centre, which sum to 1.
    coef_ : ndarray or CSR of shape (1, n_features)
        The centre, for a linear kernel.
    offset_ : ndarray of shape (1,)
        ``|c|^2 - R^2``; ``decision_function = score_samples - offset_``.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    left_out_scores_ : ndarray of shape (n_samples,)
        For ``offset="left_out"``: score of every row by a model without it and its equals; below
        `offset_` it is odd among the others. NaN for rows of weight 0.
    false_alarms_ : float
        For ``offset="left_out"``: the proportion that was asked for.
    false_alarm_range_ : tuple of float
        For ``offset="left_out"``: 90 % range, approximate, of the proportion of new rows rejected.
    dropped_ : ndarray of shape (n_dropped,)
        Rows that took no part in the fit because of `contamination`.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of ``R^2 + 1 / (nu n) sum of slacks``, weights of mean 1.
    dual_gap_ : float
        Relative duality gap of the solution; NaN for kernels that may be indefinite.
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
    OneClassSVM : A hyperplane that keeps the sample away from the origin.

    Notes
    -----
    Scores are ``|c|^2 - |phi(x) - c|^2``, minus the squared distance to the centre up to the
    constant ``|c|^2`` of the model, and decisions ``R^2 - |phi(x) - c|^2``.

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, "Support vector data description", Machine Learning 54, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import SVDD
    >>> X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, -1.0]])
    >>> model = SVDD(kernel="linear", nu=0.1).fit(X)
    >>> model.coef_.round(3) + 0.0  # the centre
    array([[2., 0.]])
    >>> model.decision_function([[2.0, 0.0], [5.0, 0.0]]).round(3)  # R^2 = 4
    array([ 4., -5.])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        name: allowed
        for name, allowed in OneClassMachine._allowed_values.items()
        if name != "shrinking"
    }
    _fits_by_chunks: ClassVar[bool] = False
    _score_factor = 2.0  # of ``2 <c, phi(x)> - k(x, x)``

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        warm_start: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
        offset: str | None = None,
        false_alarms: float | None = None,
        contamination: float | str = 0.0,
        window: int | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state
        self.offset = offset
        self.false_alarms = false_alarms
        self.contamination = contamination
        self.window = window

    def _program(self, sample: Sample) -> QuadraticProgram:
        norms = np.asarray(sample.operator.diagonal())
        return svdd_program(sample.operator, norms, nu=self.nu, weights=sample.weights)

    def _linear_term(self, sample: Sample, mass: float) -> Array:
        return svdd_linear_term(mass, sample.operator.diagonal())

    def _coefficient_scale(self, program: QuadraticProgram) -> float:
        return 1.0 / float(program.totals[0])

    def _read(
        self, program: QuadraticProgram, solution: Solution, sums: Array | None, largest: float
    ) -> SVDDModel:
        norms = np.asarray(program.kernel.diagonal())
        # New rows of a precomputed kernel do not tell their own norms.
        constant = bool(np.ptp(norms) <= SAME * np.abs(norms).max())
        self._squared_norm = float(norms.mean()) if constant else None
        return read_svdd(program, solution, None if sums is None else 2.0 * sums - norms)

    def _score_rounding(self, terms: Array, largest: float) -> float:
        height = 0.5 * (float(self.offset_[0]) + largest)  # above a row far from all others
        own = rounding_error(np.ones(1), largest)
        inner = self._boundary_rounding(terms, largest, height, self._boundary_share)
        return 2.0 * inner + own

    def _sum_at(self, scores: Any) -> Any:
        return 0.5 * (scores + 1.0)  # of kernels that are 1 for a row with itself

    def _checked_scores(self, X: Any) -> Array:
        return no_nan(np.asarray(2.0 * super()._checked_scores(X) - self._squared_norms(X)))

    def _kernel_sum(self) -> KernelSum | None:
        plain = super()._kernel_sum()
        if plain is None:
            return None
        return replace(plain, weights=self._score_factor * plain.weights, own=-1.0)

    def _squared_norms(self, X: Any) -> Any:
        """Return ``k(x, x)`` of checked rows."""
        if not self._kernel_type.pairwise:
            return make_operator(X, self._fitted_kernel()).diagonal()
        if self._squared_norm is None:
            raise ValueError(
                'kernel="precomputed" does not show k(x, x) of new rows, which the distance to a '
                "centre needs, and the diagonal of the training matrix is not constant; give the "
                "kernel as a function of two arrays of rows, or a matrix of a constant diagonal"
            )
        return self._squared_norm
