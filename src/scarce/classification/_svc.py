"""C-support vector classification."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, checked_costs
from scarce.classification._margin_machine import MarginMachine
from scarce.reductions import MarginModel, MarginProblem, c_svc_program, read_c_svc
from scarce.solvers import QuadraticProgram, Solution

if TYPE_CHECKING:
    from scarce._by_chunks import Plan
    from scarce.chunks import BandSolution


class SVC(MarginMachine):
    """Separate classes with a large margin.

    A replacement of :class:`sklearn.svm.SVC`, with the same parameters, signs and attributes. More
    than two classes are one program for every pair of them. For probabilities wrap it in
    :class:`sklearn.calibration.CalibratedClassifierCV`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of one unit of slack; infinite for classes that can be separated.
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
    probability : bool, default="deprecated"
        Accepted for compatibility. False changes nothing, and True is an error that names
        :class:`sklearn.calibration.CalibratedClassifierCV`, as scikit-learn's deprecation does.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    class_weight : dict, "balanced", "equal-total" or None, default=None
        Factors of `C` per class. Both words give the classes the same total cost: "balanced" that
        of half of all rows, "equal-total" that of the smallest class, whose rows then have the
        factor 1. With few positives among many unlabelled rows take the latter.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether decision values of more than two classes are one a class, or one for every pair.
    break_ties : bool, default=False
        Whether the decision values decide between classes that win as many pairs, instead of the
        order of the labels. Only with ``decision_function_shape="ovr"``.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.
    warm_start : bool, default=False
        Begin with the multipliers of the last fit when the number of rows is the same; a fit that
        `max_iter` ended goes on where it stopped.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows. Cost and
        memory are then linear in the number of rows, and the model has `n_components` terms.
    n_components : int, default=500
        Number of rows of the approximation.
    max_memory : float, default=None
        Memory in MB that a fit of rows in chunks may take beside the data; a quarter of what is
        free by default. Rows in chunks are a Dask array or DataFrame, the path of Parquet files, an
        object of `scarce.chunks`, or, for a linear kernel, a memory map larger than this. They need
        ``approximation="nystroem"`` or ``kernel="linear"``, and two classes.
    window : int or None, default=None
        Largest number of rows that `partial_fit` keeps, the newest; None for all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels; decision values of two classes are positive for the second.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of `C` per class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, one class after the other.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Signed multipliers, for each of the pairs that a support vector's class is in: row ``l`` is
        for the pair with class ``l``, or ``l + 1`` from its own class on.
    coef_ : ndarray or CSR of shape (n_pairs, n_features)
        Weights of the features, for a linear kernel; one row for two classes.
    intercept_ : ndarray of shape (n_pairs,)
        Constant of the decision function.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : ndarray of shape (n_pairs,)
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 + C sum of slacks``, the sum over the pairs.
    dual_gap_ : float
        Relative duality gap of the solution, the largest of the pairs; NaN for kernels that may be
        indefinite.
    kkt_violation_ : float
        Violation of the optimality conditions, to be compared with `tol`; the largest of the pairs.
    n_reads_ : int
        Of a fit by chunks or of many rows with an approximation: how often all rows were read.
    history_ : dict of str to list
        Of such a fit, for every round: ``"objective"``, ``"dual_gap"``, ``"kkt_violation"``,
        ``"band_rows"`` (rows that were solved for) and ``"violators"`` (rows that joined them).
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    NuSVC : The same with the fraction of margin errors as its parameter.
    sklearn.svm.SVC : The class this one replaces.

    Examples
    --------
    >>> from scarce import SVC
    >>> X, y = [[-1, -1], [-2, -1], [1, 1], [2, 1]], ["no", "no", "yes", "yes"]
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.predict([[-0.8, -1], [3, 2]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.coef_.round(3)
    array([[0.5, 0.5]])
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X, y)
    >>> model.dual_coef_.shape, model.n_support_, round(model.score(X, y), 3)
    ((2, 60), array([ 7, 29, 24], dtype=int32), 0.973)
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **MarginMachine._allowed_values,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "class_weight": [StrOptions({"balanced", "equal-total"}), dict, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        max_memory: float | None = None,
        window: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.warm_start = warm_start
        self.approximation = approximation
        self.n_components = n_components
        self.max_memory = max_memory
        self.window = window

    _band_from: ClassVar[float] = 20_000  # rows in memory from which bands are faster

    def _program(self, operator: Any, signs: Array, factors: Array) -> QuadraticProgram:
        return c_svc_program(operator, signs, checked_costs("C", self.C, factors))

    def _margin_problem(self, labels: Array, totals: Callable[[], Array]) -> MarginProblem:
        if np.isinf(self.C):
            raise ValueError("C must be finite for rows in chunks, got C=inf")
        return MarginProblem(labels, checked_costs("C", self.C, self.class_weight_))

    def _masses(self, totals: Array) -> Array:
        return np.array([self.C * float(totals.sum())])

    def _read_band(self, solution: BandSolution, problem: MarginProblem, plan: Plan) -> MarginModel:
        terms, nothing = solution.hyperplanes.raw[0], np.zeros(0)
        value = solution.primal_objective
        return MarginModel(terms, float(solution.multipliers[0]), value, nothing)

    def _read(self, program: QuadraticProgram, solution: Solution) -> MarginModel:
        return read_c_svc(program, solution)
