"""Positive and unlabelled rows: bags of C-SVMs, a threshold from held-out positives."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, fit_frame, fit_task, keep_quality
from scarce._kernel_machine import KernelMachine
from scarce._predictions import no_nan
from scarce.kernels import Kernel, make_kernel, weighted_scores
from scarce.positive_unlabeled.bags._bag_classifier import BagClassifier, Estimate, with_propensity
from scarce.positive_unlabeled.bags._design import Design
from scarce.positive_unlabeled.bags._draws import Renumbered
from scarce.positive_unlabeled.bags._feature_weights import times_columns
from scarce.positive_unlabeled.bags._passes import cleaner_prior, ranking
from scarce.positive_unlabeled.bags._svc_bags import MeanModel, SVCOutOfBag, mean_model
from scarce.positive_unlabeled.bags._svc_candidates import SVCCandidates, checked_feature_weights
from scarce.positive_unlabeled.rows._given import Given, GivenRows
from scarce.positive_unlabeled.rows._row_source import checked_rows, row_keys

BAG_BYTES_A_ROW = 120  # keys, numbers, weights and scores, of rows that are elsewhere


class SVCFit(NamedTuple):
    """The different rows of a fit, how bags were drawn, scores, and the proportion by cleaner bags.

    Scores are those of labelled rows, and of unlabelled ones before checked negatives.
    """

    rows: Renumbered
    design: Design
    positive: Array
    others: Array
    cleaner: Estimate | None


class PositiveUnlabeledSVC(BagClassifier, GivenRows, KernelMachine):
    """Find a class from a few labelled rows of it and many unlabelled ones, nothing tuned.

    Fifty small C-SVMs separate the labelled rows, less a fifth of them, from as many random
    unlabelled ones. Every row gets a score from the SVMs that were not trained on it. How the
    labelled rows rank among the unlabelled ones by these scores says how wide the kernel should
    be, which columns matter, how many unlabelled rows to accept, how many belong to the class, and
    whether the whole can be trusted. The fitted model is one kernel expansion, the mean of all.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"), an object of
        `scarce.kernels`, or a function of two arrays of rows that returns the matrix of values.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto", "neighbors"} or float, default="scale"
        Coefficient of the kernels that have one. With "scale", ``1 / (n_features * X.var())``, half
        and twice that are tried too, and taken if the out-of-bag area under the curve gains more
        than a standard error.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of slack of a labelled row; unlabelled rows of a bag have the same in total. In bags
        of a rare class up to ten times that, see Notes.
    n_bags : int, default=50
        Number of bags, at least 2. 0 for one SVM of all rows, its scores cross-fitted by five
        folds; its running time grows with the unlabelled rows.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled rows, where it is known. So many are then
        accepted.
    labelling : {"random", "biased"}, default="random"
        "random": labelled rows are a random part of the class. "biased": perhaps easy cases were
        labelled first, and the threshold relies on the shape of the unlabelled scores instead.
    feature_weights : "auto", array-like of shape (n_features,) or None, default="auto"
        What the columns are multiplied by before the kernel. "auto": a column counts the more, the
        better it alone ranks labelled above unlabelled rows; such weights are taken if the
        out-of-bag area under the curve is larger with them by three standard errors, and by more
        where there are more than four columns for each labelled row. Only with ``gamma="scale"``
        and from 2 to 2,000 columns.
    pos_label : int, float, bool, str or None, default=None
        The label of positive rows. None: if one of two strings means "unlabelled"
        (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else the one that sorts last.
    neg_label : int, float, bool, str or None, default=None
        The label of rows that were checked and do not belong to the class, if `y` has them beside
        positive and unlabelled ones. They are negatives in every bag.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=100000
        Limit on the number of pairwise steps of one SVM; -1 for none. Standardised rows take
        some hundreds.
    random_state : int, RandomState instance or None, default=None
        The draws.
    max_memory : float, default=None
        Memory in MB that a fit of rows in chunks may take here beside the chunks: 120 bytes for
        every row, and the rows of the bags. None: a quarter of what is free.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second, whichever the positive one is.
    pos_label_ : label
        The label of positive rows.
    accepted_share_ : float
        Proportion of the unlabelled weight that the threshold accepts, by out-of-bag scores.
    accepted_share_interval_ : tuple of float
        Approximate interval of 95 % for the proportion that should be.
    class_prior_ : float
        Estimated proportion of the class among the unlabelled rows, or the one given: from a
        second pass with cleaner bags, the proportion to accept, and the mean of a presence-only
        logistic curve.
    class_prior_interval_ : tuple of float
        An interval that is meant to hold that proportion; it spans what these say, and reaches
        further down where the class overlaps with the others. It held it in 98 % and 97 % of the
        fits on two halves of our tasks (of rare classes 89 % and 83 %), and its upper end is 4 to
        14 times the lower one in the median of a kind of task. It knows nothing of how the
        labelled rows were chosen.
    probability_curve_ : tuple of float
        Slope and constant of the logistic curve of `predict_proba`.
    probability_curve_interval_ : tuple of tuples
        The same for the ends of `class_prior_interval_`.
    feature_weights_ : ndarray of shape (n_features,) or None
        The weights of the columns that were taken, if any.
    out_of_bag_auc_ : float
        Area under the ROC curve of out-of-bag scores, labelled against unlabelled rows. Perfect is
        ``1 - class_prior / 2``, not 1.
    out_of_bag_auc_se_ : float
        Its standard error.
    out_of_bag_scores_ : tuple of ndarray
        Scores of the labelled and of the unlabelled rows, above 0 for those accepted; of equal rows
        one.
    gamma_ : float
        The kernel's coefficient; 0 for kernels without one.
    C_ : float
        The cost used, higher than `C` for a rare class.
    support_ : ndarray of shape (n_SV,)
        Rows of `X` that the model is a sum over.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients, means over the bags.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function, threshold included.
    objective_ : float
        Mean over the bags of ``1/2 |w|^2 + sum of costs times slacks``.
    dual_gap_, kkt_violation_ : float
        The worst relative duality gap and violation of the optimality conditions of all bags.
    fit_status_ : int
        0 when all bags met the tolerance.
    n_iter_ : int
        Steps of all SVMs of the model.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    PositiveUnlabeledClassifier : The same with any classifier in the bags.
    pu_threshold : The threshold alone, for any scores.
    SVMC : A published method for the same rows.

    Notes
    -----
    Labelled rows are taken for a random part of the class, and unlabelled rows for a sample of all
    there is. That the unlabelled rows hold no positive at all cannot be noticed. A warning of the
    category :class:`scarce.ScarceDataWarning` says when labelled rows do not rank above unlabelled
    ones, and when they are fewer than ten.

    A bag holds hidden rows of the class among its negatives, and a low cost of slack bears them. A
    rare class has few. Where the first bags say a proportion ``a`` below 0.2, they are drawn
    again, up to three times as large and with costs ``min(10, 0.3 / a)`` times as high.

    The proportion to accept is the geometric mean of that of `pu_threshold`, by the ranks of
    labelled rows, and of that of the upper of two normal distributions of one width, fitted to all
    scores. The second has a weight of a half where they agree, and of ``0.5 / (1 + (z / 6)^2)``
    where they are ``z`` standard errors of the first apart, as they are where many rows of a rare
    class are labelled. Few ranks are uncertain: of ``n`` labelled rows the larger of both then has
    a weight of ``exp(-(n / 15)^2)`` beside that mean. Where the second is far larger, perhaps the
    easy rows of the class were labelled first: a warning says so, and the intervals span both. With
    ``labelling="biased"`` the ranks are replaced by what lies above all but a twentieth of the
    labelled rows, with a weight of 0.3.

    A row of weight 2 is the same as the row given twice, but for a precomputed kernel, whose rows
    are taken to be different. A memory-mapped `X` is read in blocks. The cost of training does not
    grow with the unlabelled rows, but for scoring each once. Rows in chunks give the same draws
    and, but for rounding, the same model as in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import PositiveUnlabeledSVC
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(90, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> y = ["yes"] * 40 + ["unknown"] * 350  # 50 more of the class are not labelled
    >>> model = PositiveUnlabeledSVC(random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array(['yes', 'unknown'], dtype='<U7')
    >>> round(model.accepted_share_, 1)
    0.2
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
                "random_state",
                "max_memory",
            )
        },
        **BagClassifier._bag_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "feature_weights": [StrOptions({"auto"}), "array-like", None],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        n_bags: int = 50,
        class_prior: float | None = None,
        labelling: str = "random",
        feature_weights: Any = "auto",
        pos_label: Any = None,
        neg_label: Any = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = 100_000,
        random_state: Any = None,
        max_memory: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.n_bags = n_bags
        self.class_prior = class_prior
        self.labelling = labelling
        self.feature_weights = feature_weights
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.max_memory = max_memory

    _fits_by_chunks: ClassVar[bool] = True

    @fit_frame
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, propensity: Any = None
    ) -> Self:
        """Find the class.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            Positive and unlabelled rows; for a precomputed kernel, the kernel matrix. A Dask
            collection, a path of Parquet files and objects of `scarce.chunks` are read in chunks.
        y : array-like of shape (n_samples,)
            Two different labels, one for positive rows and one for unlabelled ones, and perhaps
            `neg_label`; for rows in chunks also the name of a column, or a Dask collection.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 is the same as the row given twice, and a row of weight 0 or
            less takes no part.
        propensity : array-like of shape (n_samples,), default=None
            The chance that a row like this one is labelled if it belongs to the class, above 0 and
            at most 1, where it is known or modelled; only those of labelled rows are used. They
            then count one over it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        given = self._given_rows(X, y, sample_weight, self.kernel, BAG_BYTES_A_ROW)
        weights = with_propensity(given.weights, given.positive, propensity)
        self._fit_given(replace(given, weights=weights))
        return self

    @fit_frame
    def _fit_member(self, given: Given, *, ranking_only: bool = False) -> SVCFit:
        """Fit to rows that another estimator has checked, perhaps without a class prior."""
        self.classes_, self.pos_label_ = np.array([0, 1]), 1
        self.n_features_in_ = given.rows.shape[1]
        return self._fit_given(given, ranking_only=ranking_only)

    def _fit_given(self, given: Given, *, ranking_only: bool = False) -> SVCFit:
        """Fit, and return what of it is not kept."""
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        keys = np.arange(given.weights.size) if kernel.pairwise else row_keys(given.rows)
        distinct, design = self._design(given, keys, self.C)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        random = np.random.default_rng(seed)
        candidates = SVCCandidates(
            distinct,
            design,
            kernel,
            np.concatenate([each.weights for each in design.pools]),
            checked_feature_weights(self.feature_weights, kernel, given.rows.shape[-1]),
            self.tol,
            self.max_iter,
            self.cache_size,
        )
        with fit_task(self) as task:
            found = ranking(design, candidates, self.class_prior, random, task)
            best = cast(SVCOutOfBag, found.best)
            model, answers = best.model, best.answers
            if not design.n_bags:
                whole = [design.everything()]
                answers = best.bags.programs.answers(whole, best.bags.kernel, task)
                model = mean_model(whole, answers)
            cleaner = None
            if self.class_prior is None and not ranking_only:
                with task.part("prior", None) as part:
                    cleaner = cleaner_prior(found, random, part)
        threshold = self._keep_answers(design, best.positive, found.others, cleaner)
        self.C_ = best.design.cost
        self.feature_weights_ = best.bags.programs.source.column_weights
        self._keep_model(distinct, best.bags.kernel, model, threshold)
        self.objective_ = float(np.mean([each.model.objective for each in answers]))
        self.n_iter_ = max(1, sum(each.solution.n_iter for each in answers))
        keep_quality(self, [each.solution for each in answers])
        above = best.positive - threshold, found.others - threshold  # as decisions are
        return SVCFit(distinct, design, *above, cleaner)

    def _keep_model(
        self, distinct: Renumbered, kernel: Kernel, model: MeanModel, threshold: float
    ) -> None:
        """Store the model, decisions positive for ``classes_[1]``."""
        sign = self._sign()
        self.gamma_ = self._gamma = float(kernel.parameter("gamma", 0.0))
        self.support_ = distinct.where[model.rows].astype(np.int32)
        self.shape_fit_ = distinct.source.shape
        vectors = distinct.gather(model.rows[:0] if kernel.pairwise else model.rows)
        self._sparse = sparse.issparse(vectors) and kernel.has_formula
        if kernel.pairwise:
            vectors = np.empty((0, 0), dtype=vectors.dtype)
        dual = sign * model.coefficients[None, :]
        self.support_vectors_ = sparse.csr_matrix(vectors) if self._sparse else vectors
        self.dual_coef_ = sparse.csr_matrix(dual) if self._sparse else dual
        self.intercept_ = np.array([sign * (model.intercept - threshold)])

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = checked_rows(self, X, self.kernel, reset=False)
        dual = self._dense_dual()

        def score(block: Any) -> Array:
            return self._scores_of(block, dual, np.zeros(block.shape[0], np.int64))

        found = rows.scores(np.arange(rows.shape[0]), score)
        return np.asarray(found + self.intercept_)

    def _scores_of(self, X: Any, dual: Array, groups: Array) -> Array:
        if self.feature_weights_ is None:
            return super()._scores_of(X, dual, groups)
        formula = self._kernel_sum()
        rows = times_columns(self._rows_like_support(X), self.feature_weights_)
        return no_nan(weighted_scores(rows, formula.vectors, dual, formula.kernel, groups))

    def _kernel_sum(self) -> Any:
        found = super()._kernel_sum()
        if found is None or self.feature_weights_ is None:
            return found
        vectors = times_columns(found.vectors, self.feature_weights_)
        return replace(found, vectors=vectors, factors=self.feature_weights_)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel."""
        plain = super().coef_
        if self.feature_weights_ is None:
            return plain
        coef = times_columns(plain, self.feature_weights_**2)  # of the row and of what it meets
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef
