"""Support vector mapping convergence: the framework's instance of the paper."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, fit_frame
from scarce._kernel_machine import KernelMachine
from scarce.classification import SVC, NuSVC
from scarce.kernels import kernel_type, make_kernel
from scarce.one_class import OneClassSVM
from scarce.positive_unlabeled.mapping_convergence._mapping import OneClassMapper
from scarce.positive_unlabeled.mapping_convergence._mapping_convergence import LOOP_CONSTRAINTS
from scarce.positive_unlabeled.mapping_convergence._rounds_classifier import PositiveUnlabeled
from scarce.positive_unlabeled.rows._row_source import RowSource


class SVMC(PositiveUnlabeled):
    """Run the method of Yu (2003) on positive and unlabelled rows; see PositiveUnlabeledSVC first.

    A one-class SVM of the positives names strong negatives among the unlabelled rows; a nu-SVM
    separates the two; what it rejects joins the negatives, of which only the support vectors are
    kept; and so on until nothing more is rejected.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel of both models.
    gamma : {"scale", "auto", "neighbors"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` of all rows, counted by their weights.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    nu : float, default=0.01
        Proportion of margin errors of the nu-SVM. In the interval (0, 1]. See `on_infeasible`;
        where a small value leaves no margin it is raised to 0.02, 0.05, 0.1, 0.2 and so on.
    learner : {"nusvc", "csvc"}, default="nusvc"
        The second model. The C-SVM has a margin whatever the classes are.
    C : float, default=1.0
        Cost of slack of the C-SVM.
    mapping_nu : float, default=0.1
        `nu` of the one-class SVM, in the interval (0, 1]. Its threshold is lowered until it accepts
        every positive.
    mapping_gamma : float or None, default=None
        Another `gamma` for the one-class SVM.
    map_slack : float or None, default=0.0
        Lower its threshold further, by this many times the median minus the minimum of the
        positives' scores. None leaves the threshold of the one-class SVM as it is.
    map_fallback : float or None, default=0.1
        If there are no strong negatives, begin with this proportion of the unlabelled rows, those
        of the lowest scores, at least one row, and warn. None makes it an error.
    keep : {"support", "all"}, default="support"
        Which negatives stay for the next round: the support vectors (SVMC) or all (SMC).
    pos_label : int, float, bool, str or None, default=None
        The label of positive rows; the other one means unlabelled. None: if one of two strings
        means "unlabelled" (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else
        ``classes_[1]``, the label that sorts last.
    on_infeasible : {"lower", "error"}, default="lower"
        What to do in a round where `nu` is too large for the class sizes: take 0.999 times the
        largest value and warn, or raise an error.
    drop_shared : bool, default=True
        Unlabelled rows that equal a positive row never become negatives.
    recheck : bool, default=False
        When the loop has settled, let unlabelled rows that were rejected, dropped by
        ``keep="support"`` and are accepted again join the negatives for good, and go on until there
        are none. The paper has no such step; it costs a look at all unlabelled rows for each.
    stop_recall : float or None, default=None
        End with the last classifier whose recall on the positives is at least this.
    stop : "held_out", callable or None, default=None
        Another rule against too many rounds; see :class:`MappingConvergence`.
    diagnose : bool, default=True
        At the end fit the last training set again five times, each without a fold of the
        positives, and warn if their recall is far below that of the others, or if next to nothing
        or everything is accepted. Each costs as much as the last round; turn it off for timing.
    max_rounds : int or None, default=None
        Limit on the trainings. None for no limit but the number of unlabelled rows.
    tol : float, default=1e-5
        Largest violation of the optimality conditions. With a small `nu` a looser tolerance gives
        models without meaning.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=-1
        Limit on the number of pairwise steps of one training; -1 for none.
    max_memory : float, default=None
        Memory in MB that a fit of rows in chunks may take here beside the chunks. None: a quarter
        of what is free.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    classifier_ : NuSVC or SVC
        The last model trained, or the one that a rule has kept.
    mapper_ : OneClassMapper
        The fitted mapper.
    pos_label_ : label
        The label of positive rows.
    accepted_share_ : float
        Proportion of the unlabelled weight that the classifier accepts.
    held_out_recall_ : float
        Recall of positives left out of refits of the final training set; NaN without `diagnose`.
    class_prior_ : float
        Estimated proportion of the class among the unlabelled rows, `accepted_share_`; NaN where a
        warning says that the boundary cannot be trusted.
    class_prior_interval_ : tuple of float
        Approximate interval of 95 %, if what is accepted belongs to the class: the proportion
        accepted over the recall of held-out positives; NaN without `diagnose`.
    taken_back_ : float
        Proportion of the unlabelled weight that some round has rejected and that the classifier, no
        longer trained on it, accepts: with ``keep="support"`` the kept negatives may not hold the
        whole boundary. It is part of `accepted_share_`. A warning says if it is large.
    history_ : dict of lists
        One value per round: "negatives" (rows trained on), "rejected" (newly), "accepted" (rows
        that may still be), "taken_back" (rows added by rechecks so far), "accepted_share" (of the
        unlabelled weight, by all rounds so far), "recall" (on the positives), "nu" (used), "guard"
        (empty, "nu lowered" or "nu raised"), "support_vectors", "n_iter", "seconds";
        "held_out_recall" if positives were held out.
    n_rounds_ : int
        Number of rounds.
    round_kept_ : int
        Round whose classifier was kept, counted from 0; the last unless a rule decided otherwise.
    converged_ : bool
        Whether the loop ended by itself or by a rule, not by `max_rounds`, a callback or a round
        without a margin.
    nu_ : float
        `nu` in the round kept; NaN for a C-SVM.
    mapping_seconds_ : float
        Time of the mapper.
    support_ : ndarray of shape (n_SV,)
        Rows of `X` that support the classifier.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients, positive for positives, whichever label that is.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decisions.
    objective_ : float
        Optimum of the model kept.
    dual_gap_ : float
        Its relative duality gap.
    kkt_violation_ : float
        Its violation of the optimality conditions, to be compared with `tol`.
    fit_status_ : int
        0 when the tolerance was met and the loop ended by itself or by a rule.
    n_iter_ : int
        Steps of all trainings.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    PositiveUnlabeledSVC : What to use unless this method is what you want: it needs no tuning.
    MappingConvergence : The same with any mapper and any margin classifier.

    Notes
    -----
    A memory-mapped `X` (``numpy.load(..., mmap_mode="r")``) is read in blocks and never loaded
    whole. The theory page "Mapping convergence" has the algorithm, its guards and its limits.

    References
    ----------
    H. Yu, "SVMC: single-class classification with support vector machines", IJCAI 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import SVMC
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(60, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> y = ["yes"] * 40 + ["unknown"] * 320  # the first 40 are labelled
    >>> model = SVMC(gamma=0.1, pos_label="yes").fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array(['yes', 'unknown'], dtype='<U7')
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **{
            name: KernelMachine._allowed_values[name]
            for name in ("kernel", "gamma", "degree", "coef0", "cache_size", "max_iter")
        },
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "learner": [StrOptions({"nusvc", "csvc"})],
        "C": [Interval(Real, 0.0, None, closed="right")],
        "mapping_nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "mapping_gamma": [Interval(Real, 0.0, None, closed="left"), None],
        "map_slack": [Interval(Real, 0.0, None, closed="left"), None],
        **LOOP_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        nu: float = 0.01,
        learner: str = "nusvc",
        C: float = 1.0,
        mapping_nu: float = 0.1,
        mapping_gamma: float | None = None,
        map_slack: float | None = 0.0,
        map_fallback: float | None = 0.1,
        keep: str = "support",
        pos_label: Any = None,
        on_infeasible: str = "lower",
        drop_shared: bool = True,
        recheck: bool = False,
        stop_recall: float | None = None,
        stop: Any = None,
        diagnose: bool = True,
        max_rounds: int | None = None,
        tol: float = 1e-5,
        cache_size: float = 200,
        max_iter: int = -1,
        max_memory: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.learner = learner
        self.C = C
        self.mapping_nu = mapping_nu
        self.mapping_gamma = mapping_gamma
        self.map_slack = map_slack
        self.map_fallback = map_fallback
        self.keep = keep
        self.pos_label = pos_label
        self.on_infeasible = on_infeasible
        self.drop_shared = drop_shared
        self.recheck = recheck
        self.stop_recall = stop_recall
        self.stop = stop
        self.diagnose = diagnose
        self.max_rounds = max_rounds
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.max_memory = max_memory

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the boundary.

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
        self._fit(X, y, sample_weight)
        return self

    def _kernel(self) -> Any:
        return self.kernel

    def _learners(self, rows: RowSource, weights: Array) -> tuple[Any, Any]:
        shared = {
            "kernel": self.kernel,
            "degree": self.degree,
            "coef0": self.coef0,
            "gamma": self._one_gamma(rows, weights),
            "tol": self.tol,
            "cache_size": self.cache_size,
            "max_iter": self.max_iter,
        }
        detector = OneClassSVM(nu=self.mapping_nu, **shared)
        if self.mapping_gamma is not None:
            detector.set_params(gamma=self.mapping_gamma)
        classifier = (
            NuSVC(nu=self.nu, **shared) if self.learner == "nusvc" else SVC(C=self.C, **shared)
        )
        return OneClassMapper(detector, slack=self.map_slack), classifier

    def _one_gamma(self, rows: RowSource, weights: Array) -> float:
        """Return one gamma for both models and all rounds."""
        if not kernel_type(self.kernel).has_parameter("gamma"):
            return 1.0
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        return float(rows.settled(kernel, weights).gamma)  # type: ignore[attr-defined]
