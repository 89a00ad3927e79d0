"""Support vector regression, the proportion of rows outside the tube given."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from scarce._arrays import Array
from scarce._frame import Interval
from scarce.reductions import TubeRegression, nu_svr_program, read_nu_svr
from scarce.regression._tube_machine import TubeMachine
from scarce.solvers import QuadraticProgram, Solution


class NuSVR(TubeMachine):
    """Fit a function within a tube that leaves out a given proportion of the rows.

    A replacement of :class:`sklearn.svm.NuSVR`, with the same parameters, signs and attributes.

    Parameters
    ----------
    nu : float, default=0.5
        At most this proportion of the weight lies outside the tube, and at least this proportion
        belongs to support vectors. In the interval (0, 1].
    C : float, default=1.0
        Cost of one unit of slack.
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
    shrinking : bool, default=True
        Accepted for compatibility; the solver chooses its active variables itself.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in the scale of the targets.
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
    window : int or None, default=None
        Largest number of rows that `partial_fit` keeps, the newest; None for all.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Signed multipliers, positive where a value is too low.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the function.
    epsilon_ : float
        Half width of the tube that was found.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 + C (nu n epsilon + sum of slacks)``, rows counted by weights.
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
    SVR : The same with the width of the tube as its parameter.
    sklearn.svm.NuSVR : The class this one replaces.

    Examples
    --------
    >>> from scarce import NuSVR
    >>> X, y = [[0], [1], [2], [3]], [0.5, 3.5, 4.5, 7.5]
    >>> model = NuSVR(kernel="linear", C=10.0, nu=0.5).fit(X, y)
    >>> model.coef_.round(3), model.intercept_.round(3), round(model.epsilon_, 3)
    (array([[2.]]), array([1.]), 0.5)
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **TubeMachine._allowed_values,
        "C": [Interval(Real, 0.0, None, closed="neither")],  # the tube's width costs nu * C
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        warm_start: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
        window: int | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state
        self.window = window

    def _program(self, operator: Any, targets: Array, costs: Array) -> QuadraticProgram:
        return nu_svr_program(operator, targets, nu=self.nu, costs=costs)

    def _read(self, program: QuadraticProgram, solution: Solution) -> TubeRegression:
        return read_nu_svr(program, solution)

    def _keep_more(self, model: TubeRegression) -> None:
        self.epsilon_ = model.width
