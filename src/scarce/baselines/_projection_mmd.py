"""Margin learning that keeps the domains' mean scores together (docs/theory/baselines.md).

The projected maximum mean discrepancy, LMPROJ.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from scarce._frame import Interval, checked_costs, fit_frame, keep_quality
from scarce.baselines._domains import require_weight, source_rows
from scarce.baselines._parameters import SHARED
from scarce.classification import BinaryMachine
from scarce.reductions import deflated_margin_program, mean_shift, read_deflated_margin


class ProjectionMMDSVM(BinaryMachine):
    """Separate two classes along a direction in which source and target have the same mean.

    A C-SVC on the labelled rows of the source with one more term in its objective, the squared
    difference between the mean scores of source and target::

        1/2 |w|^2 + shift_penalty / 2 (w'(mean of source - mean of target))^2 + C sum of slacks

    The means are those of the kernel's feature map. The labels of target rows are never used.
    Without `sample_domain`, and with ``shift_penalty=0``, it is :class:`SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of one unit of slack.
    shift_penalty : float, default=1.0
        Cost of the squared difference of the mean scores. With a large cost `w` is orthogonal to
        the difference of the means.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` over the rows of both domains, counted by their weights.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    class_weight : dict, "balanced" or None, default=None
        Factors of `C` per class.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    class_weight_ : ndarray of shape (2,)
        Factors of `C` per class.
    mean_distance_ : float
        Distance of the means of source and target in feature space; 0 without domains.
    mean_difference_ : float
        Difference of the mean scores that is left: source minus target.
    support_ : ndarray of shape (n_terms,)
        Indices of the rows of the expansion. Every row of both domains is one when the penalty
        acts, since the means are sums over all rows.
    support_vectors_ : ndarray or CSR of shape (n_terms, n_features)
        The rows of the expansion; empty for a precomputed kernel.
    n_support_ : ndarray of shape (3,)
        Number of rows of the expansion: of the first class, of the second, of the target.
    dual_coef_ : ndarray or CSR of shape (1, n_terms)
        Coefficients of the expansion.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of the objective above.
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
    SVC : The same without the penalty.
    TransferGroupProbabilitySVM : Transfer with proportions of positives in groups of target rows.

    Notes
    -----
    Known as LMPROJ, due to Quanz and Huan [1]_. Their text was not at hand. What is known of the
    method is the idea, an SVM on the source with a penalty on the distance between the projected
    means of the two domains. Chosen here: the hinge loss, the factor 1/2 of the penalty, means
    counted by `sample_weight`, and one mean for all sources together.

    The problem is a C-SVC with the kernel ``k(x, x') - c D(x) D(x')``, where ``D(x)`` is the inner
    product of a row with the difference of the means, and
    ``c = shift_penalty / (1 + shift_penalty * mean_distance_**2)``. No matrix of that kernel is
    stored.

    References
    ----------
    .. [1] B. Quanz and J. Huan, "Large margin transductive transfer learning", CIKM 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import ProjectionMMDSVM
    >>> X = np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [2.0, 4.0]])
    >>> y, domain = [0, 1, -1, -1], [0, 0, -1, -1]  # the labels of the target are not looked at
    >>> model = ProjectionMMDSVM(kernel="linear", shift_penalty=100.0)
    >>> model.fit(X, y, sample_domain=domain).coef_.round(2)
    array([[1., 0.]])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **SHARED,
        "shift_penalty": [Interval(Real, 0.0, None, closed="left")],
    }

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sample_weight": True,
        "sample_domain": True,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        shift_penalty: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.shift_penalty = shift_penalty
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, sample_domain: Any = None) -> Self:
        """Find the separating surface.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows of both domains; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels, two different ones. What it holds for target rows is not looked at.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of `C` and of the proportion in the domain's mean per row; a row of weight 2 is
            the same as the row given twice, and a row of weight 0 or less takes no part.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Domain of each row: at least 0 for a source, one negative value for the target. By
            default all rows are labelled rows of one domain.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = source_rows(sample_domain, X)
        X, signs, weights = self._prepared(X, y, sample_weight, source)
        if source is None:
            source = np.ones(X.shape[0], bool)
        else:
            require_weight(weights, source)
        sample = self._sample(X, weights)
        operator, rows = sample.operator, sample.rows
        signs, source = signs[rows], source[rows]
        shift = mean_shift(operator, sample.weights, source, self.shift_penalty)
        labelled = np.flatnonzero(source)
        factors = self._row_factors(signs[labelled])
        costs = checked_costs("C", self.C, sample.weights[labelled] * factors)
        program = deflated_margin_program(operator, shift, labelled, signs[labelled], costs)
        solution = self._solve(program)
        model = read_deflated_margin(shift, labelled, program, solution)
        support, terms = self._expansion(operator, model.coefficients)
        kinds = np.where(source, (signs > 0).astype(np.intp), 2)[support]
        order = np.argsort(kinds, kind="stable")
        self._keep(X, rows[support[order]], terms[order])
        self._n_support = np.bincount(kinds, minlength=3).astype(np.int32)
        self.mean_distance_ = float(np.sqrt(shift.squared))
        self.mean_difference_ = model.mean_difference
        self.intercept_ = np.array([model.intercept])
        self.n_iter_ = max(1, solution.n_iter)
        self.objective_ = model.objective
        keep_quality(self, [solution])
        return self
