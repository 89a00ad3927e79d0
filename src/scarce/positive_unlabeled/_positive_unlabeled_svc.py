"""Positive and unlabelled rows: bags of margin machines, a threshold from held-out positives."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._frame import Interval, fit_frame, fit_task, keep_quality
from scarce._kernel_machine import KernelMachine
from scarce.chunks._lazy import lazily
from scarce.kernels import Kernel, make_kernel
from scarce.positive_unlabeled._draws import Renumbered, pools
from scarce.positive_unlabeled._equal_rows import row_keys
from scarce.positive_unlabeled._given import given_rows
from scarce.positive_unlabeled._lee_liu import LeeLiuScored
from scarce.positive_unlabeled._out_of_bag import Design
from scarce.positive_unlabeled._passes import all_passes
from scarce.positive_unlabeled._programs import MeanModel, Programs
from scarce.positive_unlabeled._rows import RowSource, checked_rows
from scarce.positive_unlabeled._threshold import PUThreshold

WIDTHS = (1.0, 0.5, 2.0)  # times gamma "scale", the usual one first
BYTES_A_ROW = 120  # keys, numbers, weights and scores, of rows that are elsewhere


class PositiveUnlabeledSVC(LeeLiuScored, ClassifierMixin, KernelMachine):
    """Find a class from a few labelled rows of it and a heap of unlabelled ones, nothing tuned.

    Fifty small machines separate the labelled rows, less a fifth of them, from as many random
    unlabelled ones. Every row gets a score from the machines that were not trained on it. How the
    labelled rows rank among the unlabelled ones by these scores says how wide the kernel should
    be, how many unlabelled rows to accept, how many belong to the class, and whether the whole can
    be trusted. The fitted model is one machine, the mean of the fifty.

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
        Price of slack of a labelled row; unlabelled rows of a bag have the same in total. In bags
        of a rare class up to ten times that, see Notes.
    n_bags : int, default=50
        Number of bags, at least 2. 0 for one machine of all rows, its scores cross-fitted by five
        folds; its cost grows with the unlabelled rows.
    class_prior : float or None, default=None
        Share of the class among the unlabelled rows, where it is known. So many are then accepted.
    pos_label : int, float, bool, str or None, default=None
        The label of positive rows; the other one means unlabelled. None: if one of two strings
        means "unlabelled" (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else
        ``classes_[1]``, the label that sorts last.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=100000
        Limit on the number of pairwise steps of one machine; -1 for none. Standardised rows take
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
        Share of the unlabelled weight that the threshold accepts, by out-of-bag scores.
    accepted_share_interval_ : tuple of float
        Approximate interval of 95 % for the share that should be.
    class_prior_ : float
        Estimated share of the class among the unlabelled rows, or the one given: from a second pass
        with cleaner bags, together with the share to accept, which counts as thirty labelled rows.
    class_prior_interval_ : tuple of float
        Approximate interval: from the lower to the upper end of two of 95 %, one of resampled
        labelled rows in the second pass, the other that of the share to accept. On purpose a wide
        one; still above the share for a rare class that overlaps with the others. It knows the
        number of labelled rows, not how they were chosen.
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
        The price used, higher than `C` for a rare class.
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
        Mean over the bags of ``1/2 |w|^2 + sum of prices times slacks``.
    dual_gap_, kkt_violation_ : float
        The worst relative duality gap and violation of the optimality conditions of all bags.
    fit_status_ : int
        0 when all bags met the tolerance.
    n_iter_ : int
        Steps of all machines of the model.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    pu_threshold : The threshold alone, for any scores.
    SVMC : A published method for the same rows.

    Notes
    -----
    Labelled rows are taken for a random part of the class, and unlabelled rows for a sample of all
    there is. That the unlabelled rows hold no positive at all cannot be noticed. A warning of the
    category :class:`scarce.ScarceDataWarning` says when labelled rows do not rank above unlabelled
    ones, and when they are fewer than ten.

    A bag holds hidden rows of the class among its negatives, and a low price of slack bears them. A
    rare class has few. Where the first bags say a share ``a`` below 0.2, they are drawn again, up
    to three times as large and with prices ``min(10, 0.3 / a)`` times as high.

    The share to accept is that of `pu_threshold`, which is uncertain where labelled rows are few.
    Therefore two normal distributions of one width are fitted to the out-of-bag scores as well, and
    what they say of the share counts as ten labelled rows do. Where they say far more than the
    ranks of labelled rows, perhaps the easy rows of the class were labelled first: a warning tells,
    and the intervals span both.

    There is no `predict_proba`: the density of ranks times `class_prior_`, tried on simulated rows,
    was off by 0.02 to 0.15 on average, and by up to 0.3 between 0.2 and 0.8.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
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
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "n_bags": [Interval(Integral, 0, None, closed="left")],
        "class_prior": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "pos_label": [Real, str, "boolean", None],
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

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
        pos_label: Any = None,
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
        self.pos_label = pos_label
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.max_memory = max_memory

    _fits_by_chunks: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the class.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            Positive and unlabelled rows; for a precomputed kernel, the kernel matrix. A Dask
            collection, a path of Parquet files and objects of `scarce.chunks` are read in chunks.
        y : array-like of shape (n_samples,)
            Two different labels, one for positive rows and one for unlabelled ones; for rows in
            chunks also the name of a column, or a Dask collection.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 is the same as the row given twice, and a row of weight 0 or
            less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        given = given_rows(self, X, y, sample_weight, self.kernel, BYTES_A_ROW)
        self._fit_rows(given.rows, given.positive, given.weights)
        return self

    @fit_frame
    def _fit_ranking(self, source: RowSource, positive: Array, weights: Array) -> Renumbered:
        """Fit to rows that another estimator has checked, without a class prior."""
        self.classes_, self.pos_label_ = np.array([0, 1]), 1
        self.n_features_in_ = source.shape[1]
        return self._fit_rows(source, positive, weights, ranking_only=True)

    def _fit_rows(
        self, source: RowSource, positive: Array, weights: Array, *, ranking_only: bool = False
    ) -> Renumbered:
        """Fit, and return the different rows that took part."""
        if self.n_bags == 1:
            raise ValueError("n_bags must be 0 (one machine of all rows) or at least 2, got 1")
        distinct, design = self._design(source, positive, weights)
        programs = Programs(distinct, self.tol, self.max_iter, self.cache_size)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        random = np.random.default_rng(seed)
        with fit_task(self) as task:
            passes = all_passes(
                design,
                programs,
                self._kernels(source, weights),
                self.class_prior,
                random,
                task,
                ranking_only=ranking_only,
            )
        best, unlabelled, answers = passes.best, passes.unlabelled, passes.answers
        found = passes.threshold()
        self.class_prior_, self.class_prior_interval_ = passes.prior_beside(found)
        self._keep_threshold(found, best.positive, unlabelled, design.unlabelled.weights)
        self.C_ = best.design.price
        self._keep_model(distinct, best.kernel, passes.model, found.threshold)
        solutions = [answer.solution for answer in answers]
        self.objective_ = float(np.mean([answer.model.objective for answer in answers]))
        self.n_iter_ = max(1, sum(solution.n_iter for solution in solutions))
        keep_quality(self, solutions)
        return distinct

    def _design(
        self, source: RowSource, positive: Array, weights: Array
    ) -> tuple[Renumbered, Design]:
        """Return the rows that take part, equal ones as one, and how bags are drawn from them."""
        if make_kernel(self.kernel, 1.0, self.degree, self.coef0).pairwise:
            keys = np.arange(source.shape[0])
        else:
            keys = row_keys(source)
        distinct, positives, unlabelled = pools(source, keys, positive, weights)
        if positives.n < 2:
            raise ValueError(
                "at least two different positive rows are needed, so that one can be held out; got "
                f"1 sample labelled {self.pos_label_!r}. Label more rows, or see pos_label if "
                "positive and unlabelled rows are swapped"
            )
        return distinct, Design(positives, unlabelled, C=self.C, n_bags=self.n_bags)

    def _kernels(self, source: RowSource, weights: Array) -> list[Kernel]:
        """Return the kernels to try, those of three widths where the width is not given."""
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if getattr(kernel, "gamma", None) != "scale":
            return [source.settled(kernel, weights)]
        # Rounded, so that equal samples in another order have the same width to the last bit.
        width = float(f"{kernel.scale(source.scale_gamma(weights), source.shape[1]):.10g}")
        return [replace(kernel, gamma=factor * width) for factor in WIDTHS]  # type: ignore[type-var]

    def _keep_threshold(
        self, found: PUThreshold, positive: Array, unlabelled: Array, weights: Array
    ) -> None:
        above = unlabelled > found.threshold
        self.accepted_share_ = float(weights[above].sum() / weights.sum())
        self.accepted_share_interval_ = found.interval
        self.out_of_bag_auc_, self.out_of_bag_auc_se_ = found.auc, found.auc_se
        self.out_of_bag_scores_ = (positive - found.threshold, unlabelled - found.threshold)

    def _keep_model(
        self, distinct: Renumbered, kernel: Kernel, model: MeanModel, threshold: float
    ) -> None:
        """Store the model, decisions positive for ``classes_[1]``."""
        sign = 1.0 if self.pos_label_ == self.classes_[1] else -1.0
        self.gamma_ = self._gamma = float(getattr(kernel, "gamma", 0.0))
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

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``, whichever label is the positive one.
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, self.kernel, reset=False)
        dual = self._dense_dual()

        def score(block: Any) -> Array:
            return self._scores_of(block, dual, np.zeros(block.shape[0], np.int64))

        found = rows.scores(np.arange(rows.shape[0]), score)
        return np.asarray(found + self.intercept_)

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[(decisions > 0).astype(np.intp)])
