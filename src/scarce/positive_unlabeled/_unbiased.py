"""Positive and unlabelled rows with a known class prior: one convex program of an unbiased risk."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._arrays import Array
from scarce._frame import Interval, checked_costs, checked_weights, fit_frame, keep_quality
from scarce._kernel_machine import KernelMachine
from scarce._predictions import LabelPredictions
from scarce.kernels import Kernel, make_operator, weighted_scores
from scarce.positive_unlabeled._lee_liu import LeeLiuScored
from scarce.positive_unlabeled.rows._given import GivenRows, check_both
from scarce.reductions import double_hinge_program, read_double_hinge


class UnbiasedPUSVC(LabelPredictions, LeeLiuScored, GivenRows, ClassifierMixin, KernelMachine):
    """Minimise the unbiased risk of du Plessis et al. (2015) for a class prior that is known.

    With the proportion of the class among the unlabelled rows known, the errors on rows that were
    never labelled can be counted without a label: those on unlabelled rows taken for negatives,
    less what the class contributes to them, which the labelled rows tell. With the double hinge
    for a loss that is a convex program, here one of the family that `scarce.solvers` solves.

    Parameters
    ----------
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled rows. It must be given; `class_prior_` of a
        :class:`PositiveUnlabeledSVC` is an estimate.
    C : float, default=1.0
        Weight of a labelled row against ``1/2 |w|^2``.
    kernel : str, kernel object or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"), an object of
        `scarce.kernels`, or a function of two arrays of rows that returns the matrix of values.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto", "neighbors"} or float, default="scale"
        Coefficient of the kernels that have one.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    pos_label : int, float, bool, str or None, default=None
        The label of positive rows; the other one means unlabelled. None: if one of two strings
        means "unlabelled" (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else
        ``classes_[1]``, the label that sorts last.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    verbose : bool, default=False
        Print one line per block of steps.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second, whichever the positive one is.
    pos_label_ : label
        The label of positive rows.
    class_prior_ : float
        The class prior used.
    support_ : ndarray of shape (n_SV,)
        Rows of `X` that the model is a sum over.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients. Every labelled row has the same, times its weight.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    objective_ : float
        Optimum of ``1/2 |w|^2 + C n_labelled / class_prior`` times the risk.
    dual_gap_, kkt_violation_ : float
        Relative duality gap, and violation of the optimality conditions.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Steps of the solver.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    PositiveUnlabeledSVC : Needs no class prior, and is what to try first.

    Notes
    -----
    Rows weigh as in ``1/2 |w|^2 - C sum_i f(x_i) + C n_labelled / (class_prior n_unlabelled)
    sum_j max(0, (1 + f(x_j)) / 2, f(x_j))`` over labelled rows ``i`` and unlabelled rows ``j``. The
    risk can be negative on a sample, and a flexible kernel makes it so; the correction that keeps
    it above zero ("nnPU") is not convex and is not offered.

    References
    ----------
    M. C. du Plessis, G. Niu, M. Sugiyama, "Convex formulation for learning from positive and
    unlabeled data", ICML 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import UnbiasedPUSVC
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(90, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> y = ["yes"] * 40 + ["unknown"] * 350
    >>> model = UnbiasedPUSVC(class_prior=50 / 350).fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array(['yes', 'unknown'], dtype='<U7')
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **{
            name: KernelMachine._allowed_values[name]
            for name in (
                "kernel",
                "degree",
                "gamma",
                "coef0",
                "tol",
                "cache_size",
                "max_iter",
                "verbose",
            )
        },
        "class_prior": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "pos_label": [Real, str, "boolean", None],
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __init__(
        self,
        *,
        class_prior: float | None = None,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        pos_label: Any = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        verbose: bool = False,
    ) -> None:
        self.class_prior = class_prior
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.pos_label = pos_label
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the risk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Positive and unlabelled rows; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Two different labels, one for positive rows and one for unlabelled ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 is the same as the row given twice, and a row of weight 0 or
            less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validated(X, y, reset=True)
        labels: Array = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        positive = self._settle_labels(labels).positive
        weights = checked_weights(sample_weight, X)
        check_both(positive, ~positive, weights)
        self.class_prior_ = self._prior()
        kernel = self._settled_kernel(X, weights)
        labelled = np.flatnonzero(positive & (weights > 0))
        others = np.flatnonzero(~positive & (weights > 0))
        own = checked_costs("C", self.C, weights[labelled])
        total = float(own.sum())
        costs = weights[others] * (total / (self.class_prior_ * float(weights[others].sum())))
        operator = make_operator(self._part(X, others), kernel)
        self._check_diagonal(operator)
        program = double_hinge_program(
            operator, _sums(X, others, labelled, own, kernel), costs, total
        )
        solution = self._solve(program)
        model = read_double_hinge(program, solution)
        sign = 1.0 if self.pos_label_ == self.classes_[1] else -1.0
        taken = np.flatnonzero(model.coefficients)
        support = np.concatenate([labelled, others[taken]])
        coefficients = np.concatenate([own, model.coefficients[taken]])
        self._keep(X, support, sign * coefficients)
        self.intercept_ = np.array([sign * model.intercept])
        # From what is kept: in the program's own value far larger numbers cancel.
        scores = [_sums(X, rows, support, coefficients, kernel) for rows in (labelled, others)]
        values = scores[1] + model.intercept
        losses = np.maximum(np.maximum((1.0 + values) / 2.0, values), 0.0)
        squared = float(own @ scores[0] + model.coefficients @ scores[1])
        gained = float(own @ scores[0]) + total * model.intercept
        self.objective_ = squared / 2.0 - gained + float(costs @ losses)
        self.n_iter_ = max(1, solution.n_iter)
        keep_quality(self, [solution])
        return self

    def _prior(self) -> float:
        if self.class_prior is None:
            raise ValueError(
                "class_prior must be given, the proportion of the class among the unlabelled rows, "
                "got None. Where it is unknown, PositiveUnlabeledSVC().fit(X, y).class_prior_ "
                "and scarce.positive_unlabeled.estimate_prior are estimates with an interval"
            )
        return float(self.class_prior)

    def _decisions(self, X: Any) -> Array:
        return np.asarray(self._raw_scores(X) + self.intercept_)


def _sums(X: Any, rows: Array, columns: Array, weights: Array, kernel: Kernel) -> Array:
    """Return ``sum_j weights_j k(x_i, x_j)`` over the columns for each of the rows."""
    if kernel.pairwise:
        return np.asarray(X[np.ix_(rows, columns)] @ weights, dtype=np.float64)
    # Scores of sparse float32 rows have its precision; this is a term of the program.
    left, right = (X[part].astype(np.float64, copy=False) for part in (rows, columns))
    return weighted_scores(left, right, weights, kernel)
