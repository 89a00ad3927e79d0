"""Binary C-support vector classification."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, checked_prices, fit_frame, keep_quality
from scarce._kernel_machine import KernelMachine
from scarce.classification._base import WarmMachine
from scarce.reductions import c_svc_program, read_c_svc


class SVC(WarmMachine):
    """Separate two classes with a large margin.

    A replacement of :class:`sklearn.svm.SVC` for two classes, with the same parameters, signs and
    attributes. For probabilities wrap it in :class:`sklearn.calibration.CalibratedClassifierCV`,
    for more classes in :class:`sklearn.multiclass.OneVsOneClassifier`.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack; infinite for classes that can be separated.
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
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    class_weight : dict, "balanced", "equal-total" or None, default=None
        Factors of `C` per class. Both words give the classes the same total price: "balanced" that
        of half of all rows, "equal-total" that of the smallest class, whose rows then have the
        factor 1. With few positives among many unlabelled rows take the latter.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Accepted for compatibility; without effect for two classes.
    break_ties : bool, default=False
        Accepted for compatibility; without effect for two classes.
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

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    class_weight_ : ndarray of shape (2,)
        Factors of `C` per class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, those of the first class first.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Signed multipliers.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : ndarray of shape (1,)
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 + C sum of slacks``.
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
    NuSVC : The same with the share of margin errors as its parameter.
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
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "class_weight": [StrOptions({"balanced", "equal-total"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
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
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
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

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the separating surface.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels, two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of `C` per row; a row of weight 2 is the same as the row given twice, and a row
            of weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, start: Array | None) -> Self:
        X, signs, weights = self._prepared(X, y, sample_weight)
        sample = self._sample(X, weights)
        signs = signs[sample.rows]
        prices = checked_prices("C", self.C, sample.weights * self._row_factors(signs))
        program = c_svc_program(sample.operator, signs, prices)
        solution = self._solve(program, self._first_dual_variables(start, sample))
        model = read_c_svc(program, solution)
        self._keep_expansion(sample, signs, model.coefficients)
        self.intercept_ = np.array([model.intercept])
        self.n_iter_ = np.array([max(1, solution.n_iter)], dtype=np.int32)
        self.objective_ = model.objective
        keep_quality(self, [solution])
        return self
