"""The mapping-convergence framework with any mapper and any margin classifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from scarce._arrays import Array
from scarce._frame import HasMethods, Interval, StrOptions, fit_frame
from scarce.classification import SVC
from scarce.one_class import OneClassSVM
from scarce.positive_unlabeled.mapping_convergence._mapping import OneClassMapper
from scarce.positive_unlabeled.mapping_convergence._out_of_bag_mapper import (
    OutOfBagMapper,
    default_bags,
)
from scarce.positive_unlabeled.mapping_convergence._rounds_classifier import PositiveUnlabeled
from scarce.positive_unlabeled.rows._row_source import RowSource, learner_kernel

LOOP_CONSTRAINTS: dict[str, Any] = {
    "keep": [StrOptions({"support", "all"})],
    "pos_label": [Real, str, "boolean", None],
    "map_fallback": [Interval(Real, 0.0, 1.0, closed="both"), None],
    "on_infeasible": [StrOptions({"lower", "error"})],
    "drop_shared": ["boolean"],
    "recheck": ["boolean"],
    "stop_recall": [Interval(Real, 0.0, 1.0, closed="both"), None],
    "stop": [StrOptions({"held_out"}), callable, None],
    "diagnose": ["boolean"],
    "max_rounds": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_memory": [Interval(Real, 0.0, None, closed="neither"), None],
}


class MappingConvergence(PositiveUnlabeled):
    """Run the framework of Yu (2003) with learners of your own; see PositiveUnlabeledSVC first.

    A mapper names strong negatives, unlabelled rows far from the positives. A margin classifier
    separates them from the positives, what it rejects of the other unlabelled rows joins the
    negatives, and so on until nothing more is rejected. The defaults are the parts that work best
    where nothing is tuned, not those of the paper: :class:`SVMC` has these.

    Parameters
    ----------
    mapper : estimator, callable, array of bool or None, default=None
        What names the strong negatives: a mapper such as :class:`OutOfBagMapper`,
        :class:`OneClassMapper`, :class:`OneDNFMapper`, :class:`RocchioMapper` or
        :class:`SpyMapper`; a function of the positive and the unlabelled rows that returns one bool
        per unlabelled row; or one bool per row of `X`, ignored for positives. None is
        ``OutOfBagMapper()``. That and a one-class mapper without a detector have the classifier's
        kernel if it is precomputed or callable. A function gets all unlabelled rows in memory; a
        mapper is given them in blocks. A mapper of your own has
        ``fit(positives, sample_weight, unlabeled)``, where `unlabeled` gives pairs of rows and
        weights as often as it is gone through, and ``score_samples(X)``, below zero for strong
        negatives.
    classifier : estimator or None, default=None
        A margin classifier, with `decision_function`. None is ``SVC(class_weight="equal-total")``;
        that of the paper is ``NuSVC(nu=0.01)``. Its `tol` is lowered to that of this estimator
        where it is larger. ``gamma="scale"`` here and in the mapper's detector means the variance
        of all rows, so that the kernel is the same in all rounds.
    keep : {"support", "all"}, default="all"
        Which negatives stay for the next round: the support vectors (SVMC, fast) or all (SMC).
        "support" needs a classifier with `support_`.
    pos_label : int, float, bool, str or None, default=None
        The label of positive rows; the other one means unlabelled. None: if one of two strings
        means "unlabelled" (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else
        ``classes_[1]``, the label that sorts last.
    map_fallback : float or None, default=0.1
        If the mapper finds no strong negatives, begin with this proportion of the unlabelled rows,
        those of the lowest scores, at least one row, and warn. None makes it an error.
    on_infeasible : {"lower", "error"}, default="lower"
        What to do in a round where the classifier's `nu` is too large for the class sizes: take
        0.999 times the largest value and warn, or raise an error.
    drop_shared : bool, default=True
        Unlabelled rows that equal a positive row never become negatives.
    recheck : bool, default=False
        When the loop has settled, let unlabelled rows that were rejected, dropped by
        ``keep="support"`` and are accepted again join the negatives for good, and go on until there
        are none. The paper has no such step; it costs a look at all unlabelled rows for each.
    stop_recall : float or None, default=None
        End with the last classifier whose recall on the positives is at least this.
    stop : "held_out", callable or None, default="held_out"
        A rule against too many rounds. "held_out" trains without a fifth of the positives, chosen
        by the values of the rows and not by chance, and keeps the round with the largest squared
        recall of these over the proportion accepted; with fewer than five different positives there
        is no such rule. None has the loop go on until nothing more is rejected, as in the paper. A
        function, for example :class:`scarce.model_selection.HeldOutPositives`, is called with the
        history after each round and returns the round whose classifier to keep, counted from 0, and
        whether to go on. Its method ``hold_out(n)``, if it has one, names the positives to hold
        out; their recall is then ``history["held_out_recall"]``.
    diagnose : bool, default=True
        At the end fit the last training set again five times, each without a fold of the
        positives, and warn if their recall is far below that of the others, or if next to nothing
        or everything is accepted. Each costs as much as the last round; turn it off for timing.
    max_rounds : int or None, default=None
        Limit on the trainings. None for no limit but the number of unlabelled rows.
    tol : float, default=1e-5
        Largest violation of the optimality conditions of the learners. With a small `nu` a looser
        tolerance gives models without meaning.
    max_memory : float, default=None
        Memory in MB that a fit of rows in chunks may take here beside the chunks. None: a quarter
        of what is free.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    classifier_ : estimator
        The last classifier trained, or the one that a rule has kept.
    mapper_ : estimator or None
        The fitted mapper; None for a function or mask.
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
        The classifier's `nu` in the round kept; NaN if it has none.
    mapping_seconds_ : float
        Time of the mapper.
    support_ : ndarray of shape (n_SV,)
        Rows of `X` that support the classifier, if it has support vectors.
    support_vectors_, dual_coef_, coef_, intercept_, objective_, dual_gap_, kkt_violation_
        Those of `classifier_`, where it has them. Coefficients are positive for positives,
        whichever label that is.
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
    SVMC : The parts of the paper, a one-class SVM and a nu-SVM of one kernel.

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
    >>> from scarce import MappingConvergence, SVC
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(60, 2)), random.uniform(-6, 6, size=(300, 2))]
    >>> y = np.r_[np.ones(40), np.zeros(320)]  # the first 40 are labelled
    >>> model = MappingConvergence(classifier=SVC()).fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([1., 0.])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "mapper": [HasMethods(["fit", "score_samples"]), callable, "array-like", None],
        "classifier": [HasMethods(["fit", "decision_function"]), None],
        **LOOP_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        mapper: Any = None,
        classifier: Any = None,
        keep: str = "all",
        pos_label: Any = None,
        map_fallback: float | None = 0.1,
        on_infeasible: str = "lower",
        drop_shared: bool = True,
        recheck: bool = False,
        stop_recall: float | None = None,
        stop: Any = "held_out",
        diagnose: bool = True,
        max_rounds: int | None = None,
        tol: float = 1e-5,
        max_memory: float | None = None,
    ) -> None:
        self.mapper = mapper
        self.classifier = classifier
        self.keep = keep
        self.pos_label = pos_label
        self.map_fallback = map_fallback
        self.on_infeasible = on_infeasible
        self.drop_shared = drop_shared
        self.recheck = recheck
        self.stop_recall = stop_recall
        self.stop = stop
        self.diagnose = diagnose
        self.max_rounds = max_rounds
        self.tol = tol
        self.max_memory = max_memory

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            Positive and unlabelled rows. A Dask collection, a path of Parquet files and objects of
            `scarce.chunks` are read in chunks.
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
        if sample_weight is not None and self.classifier is not None:
            if not has_fit_parameter(self.classifier, "sample_weight"):
                raise ValueError(
                    f"classifier={self.classifier} takes no sample_weight; use one that does"
                )
        self._fit(X, y, sample_weight)
        return self

    def _kernel(self) -> Any:
        return getattr(self.classifier, "kernel", None)

    def _learners(self, rows: RowSource, weights: Array) -> tuple[Any, Any]:
        scale: list[float] = []

        def settled(learner: Any) -> Any:
            learner = clone(learner)
            given = learner.get_params(deep=False)
            if not isinstance(given.get("tol", 0.0), str) and given.get("tol", 0.0) > self.tol:
                learner.set_params(tol=self.tol)
            kind = learner_kernel(given.get("kernel"))
            if given.get("gamma") == "scale" and kind.has_parameter("gamma"):
                scale[:] = scale or [rows.scale_gamma(weights)]
                learner.set_params(gamma=kind.scale(scale[0], rows.shape[1]))
            return learner

        classifier = settled(
            SVC(class_weight="equal-total") if self.classifier is None else self.classifier
        )
        if self.keep == "support" and getattr(classifier, "approximation", None) is not None:
            raise ValueError(
                'keep="support" needs exact support vectors, and classifier has approximation='
                f'{classifier.approximation!r}; use keep="all"'
            )
        mapper = OutOfBagMapper() if self.mapper is None else self.mapper
        if hasattr(mapper, "score_samples") and not has_fit_parameter(mapper, "unlabeled"):
            raise ValueError(
                f"mapper={mapper} is not a mapper: its fit takes no unlabeled. Wrap a detector: "
                f"OneClassMapper({mapper})"
            )
        # Of a kernel matrix, or of rows of any kind, only that kernel knows the meaning.
        kernel = self._kernel()
        own = {} if learner_kernel(kernel).has_formula else {"kernel": kernel}
        if isinstance(mapper, OutOfBagMapper) and mapper.bags is None:
            mapper = OutOfBagMapper(default_bags(**own))
        if isinstance(mapper, OneClassMapper):
            detector = OneClassSVM(nu=0.1, **own) if mapper.detector is None else mapper.detector
            mapper = clone(mapper).set_params(detector=settled(detector))
        return mapper, classifier
