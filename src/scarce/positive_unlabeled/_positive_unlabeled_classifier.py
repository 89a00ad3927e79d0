"""Positive and unlabelled samples with any classifier in the bags."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._frame import (
    HasMethods,
    Interval,
    checked_weights,
    collected_notes,
    fit_frame,
    fit_task,
    note,
    validate_data,
)
from scarce._sklearn import CallbackSupportMixin
from scarce.positive_unlabeled._positive_unlabeled_svc import PositiveUnlabeledSVC
from scarce.positive_unlabeled.bags._bag_classifier import BagClassifier, with_propensity
from scarce.positive_unlabeled.bags._design import Design
from scarce.positive_unlabeled.bags._estimator_bags import (
    EstimatorBags,
    mean_scores,
    score_method,
    weight_argument,
)
from scarce.positive_unlabeled.bags._feature_weights import times_columns
from scarce.positive_unlabeled.bags._forest import forest_scores, out_of_bag_trees
from scarce.positive_unlabeled.bags._passes import Ranking, cleaner_prior
from scarce.positive_unlabeled.rows._given import Given, GivenRows, check_both, refuse_missing
from scarce.positive_unlabeled.rows._row_source import MemoryRows, TableRows, checked_rows, row_keys

TREES_A_BAG = 6


class PositiveUnlabeledClassifier(BagClassifier, GivenRows, CallbackSupportMixin, BaseEstimator):
    """Find a class from a few labelled samples of it and many unlabelled ones, by any classifier.

    Clones of a classifier separate the labelled samples, less a fifth of them, from as many random
    unlabelled ones. Every sample gets a score from the clones that were not trained on it, and
    these scores tell the threshold, the proportion of the class, probabilities, and whether the
    whole can be trusted, as in :class:`PositiveUnlabeledSVC`.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier or pipeline with `decision_function` or `predict_proba`. Weights of samples
        are handed to it if its `fit` takes them, else samples are repeated. None is the mean of a
        :class:`PositiveUnlabeledSVC` and of extremely randomised trees, each standardised by its
        scores of the unlabelled samples: standardise the features first.
    n_bags : int, default=50
        Number of bags, at least 2. With ``estimator=None`` six times as many trees.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled samples, where it is known. So many are
        accepted.
    labelling : {"random", "biased"}, default="random"
        "random": labelled samples are a random part of the class. "biased": perhaps easy cases
        were labelled first, and the threshold relies on the shape of the unlabelled scores.
    pos_label : int, float, bool, str or None, default=None
        The label of positive samples. None: if one of two strings means "unlabelled"
        (`scarce.positive_unlabeled.UNLABELED_WORDS`) the other, else the one that sorts last.
    neg_label : int, float, bool, str or None, default=None
        The label of samples that were checked and do not belong to the class, if `y` has them
        beside positive and unlabelled ones. They are negatives in every bag.
    random_state : int, RandomState instance or None, default=None
        The draws, and the `random_state` of every clone that has one.
    n_jobs : int or None, default=None
        Number of bags fitted at a time, as in joblib. The model is the same.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second, whichever the positive one is.
        With `neg_label` that and the positive one, else the unlabelled and the positive one.
    pos_label_ : label
        The label of positive samples.
    estimators_ : list of estimators
        The fitted clones; none with ``estimator=None``.
    svc_, trees_ : PositiveUnlabeledSVC or None, dict or None
        The two halves of the model with ``estimator=None``; the trees are arrays.
    accepted_share_ : float
        Proportion of the unlabelled weight that the threshold accepts, by out-of-bag scores.
    accepted_share_interval_ : tuple of float
        Approximate interval of 95 % for the proportion that should be.
    class_prior_ : float
        Estimated proportion of the class among the unlabelled samples, or the one given.
    class_prior_interval_ : tuple of float
        An interval that is meant to hold that proportion, wide where the class overlaps with the
        others.
    probability_curve_ : tuple of float
        Slope and constant of the logistic curve of `predict_proba`.
    probability_curve_interval_ : tuple of tuples
        The same for the ends of `class_prior_interval_`.
    out_of_bag_auc_, out_of_bag_auc_se_ : float
        Area under the ROC curve of out-of-bag scores, labelled against unlabelled samples, and its
        standard error. Perfect is ``1 - class_prior / 2``, not 1.
    out_of_bag_scores_ : tuple of ndarray
        Scores of the labelled and of the unlabelled samples, above 0 for those accepted; of equal
        samples one.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    PositiveUnlabeledSVC : One kernel model, faster, with a certificate, and ONNX.
    scarce.positive_unlabeled.estimate_prior : The proportion of the class from any scores.

    Notes
    -----
    Equal samples are treated as one of their total weight, where they are numbers. Tables with
    other columns are handed to the classifier as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce import PositiveUnlabeledClassifier
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(3, 1, size=(90, 2)), random.normal(0, 1, size=(300, 2))]
    >>> y = ["yes"] * 40 + ["unknown"] * 350  # 50 more of the class are not labelled
    >>> model = PositiveUnlabeledClassifier(LogisticRegression(), random_state=0).fit(X, y)
    >>> model.predict([[3.0, 3.0], [0.0, 0.0]])
    array(['yes', 'unknown'], dtype='<U7')
    >>> round(model.class_prior_, 2)
    0.1...
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **BagClassifier._bag_constraints,
        "estimator": [HasMethods(["fit", "get_params"]), None],
        "n_bags": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_bags: int = 50,
        class_prior: float | None = None,
        labelling: str = "random",
        pos_label: Any = None,
        neg_label: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_bags = n_bags
        self.class_prior = class_prior
        self.labelling = labelling
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, propensity: Any = None) -> Self:
        """Find the class.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Positive and unlabelled samples.
        y : array-like of shape (n_samples,)
            Two different labels, one for positive samples and one for unlabelled ones, and perhaps
            `neg_label`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a sample of weight 2 is the same as the sample given twice, and one of weight 0
            or less takes no part.
        propensity : array-like of shape (n_samples,), default=None
            The chance that a sample like this one is labelled if it belongs to the class, above 0
            and at most 1; only those of labelled samples are used. They then count one over it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.estimator is None:
            given = self._given_rows(X, y, sample_weight, "rbf", 0)
        else:
            self._check_estimator(sample_weight, propensity)
            given = self._given_table(X, y, sample_weight)
        weights = with_propensity(given.weights, given.positive, propensity)
        given = replace(given, weights=weights)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        if self.estimator is None:
            self._fit_default(given, seed)
        else:
            self._fit_bags(given, seed)
        return self

    def _check_estimator(self, sample_weight: Any, propensity: Any) -> None:
        if isinstance(self.estimator, type):
            raise ValueError(
                f"estimator must be a classifier, not its class: got {self.estimator.__name__}, "
                f"give {self.estimator.__name__}()"
            )
        score_method(self.estimator)
        if hasattr(self.estimator, "__sklearn_tags__"):  # others may be classifiers all the same
            kind = get_tags(self.estimator).estimator_type
            if kind not in ("classifier", None):
                raise ValueError(
                    f"estimator must be a classifier, got {type(self.estimator).__name__}, of the "
                    f"type {kind!r}"
                )
        weighted = "sample_weight" if sample_weight is not None else "propensity"
        needed = sample_weight is not None or propensity is not None
        if needed and weight_argument(self.estimator) is None:
            raise ValueError(
                f"{weighted} is given, and estimator={type(self.estimator).__name__} takes no "
                "sample_weight in fit; use a classifier that does, or leave it out"
            )

    def _given_table(self, X: Any, y: Any, sample_weight: Any) -> Given:
        """Return rows of any table; what they must be is the classifier's business."""
        refuse_missing(y)
        validate_data(self, X, skip_check_array=True)
        labels: Array = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        rows = TableRows(X)
        found = self._settle_labels(labels)
        weights = checked_weights(sample_weight, rows)
        given = Given(rows, found.positive, found.negative, weights, sample_weight is not None)
        check_both(given.positive, given.unlabelled, weights)
        return given

    def _fit_bags(self, given: Given, seed: int) -> None:
        """Fit bags of the classifier."""
        numbers = given.rows.numbers()  # type: ignore[attr-defined]
        keys = np.arange(given.weights.size) if numbers is None else row_keys(MemoryRows(numbers))
        distinct, design = self._design(given, keys, 1.0)
        bags = EstimatorBags(distinct, self.estimator, seed, self.n_jobs)
        random = np.random.default_rng(seed)
        all_rows, cleaner = design.all_rows(), None
        with fit_task(self) as task:
            with task.part("bags") as part:
                best = bags.fitted(design, design.parts(random, all_rows), part)
            found = Ranking(best, bags, best.others(all_rows[0]), design.ranked(random))
            if self.class_prior is None:
                with task.part("prior") as part:
                    cleaner = cleaner_prior(found, random, part)
        self.svc_: PositiveUnlabeledSVC | None = None
        self.trees_: dict[str, Array] | None = None
        self.estimators_ = best.estimators
        self.threshold_ = self._keep_answers(design, best.positive, found.others, cleaner)

    def _fit_default(self, given: Given, seed: int) -> None:
        """Fit a kernel model and trees to the same rows; what decides is the mean of both."""
        svc = PositiveUnlabeledSVC(
            n_bags=self.n_bags,
            class_prior=self.class_prior,
            labelling=self.labelling,
            random_state=seed,
        )
        random = np.random.default_rng(seed)
        with fit_task(self) as task:
            with task.part("svc"), collected_notes() as notes:
                distinct, design, *own, cleaner = svc._fit_member(given)
            rows = distinct.gather(np.arange(distinct.shape[0]))
            largest = _largest_values(rows)
            self._scale = 1.0 / np.where(largest > 0, largest, 1.0)
            trees = replace(design, n_bags=TREES_A_BAG * self.n_bags)
            parts = trees.parts(random, trees.all_rows())
            with task.part("trees"):
                self.trees_, scores = out_of_bag_trees(
                    self._of_trees(rows), parts, seed, self.n_jobs
                )
        for message, category in notes:  # what the scores tell is said of the mean of both
            if issubclass(category, ConvergenceWarning):
                note(message, category)
        self.svc_, self.estimators_ = svc, []
        others = np.concatenate([design.unlabelled.rows, design.negatives.rows])
        theirs = scores[design.positives.rows], scores[others]
        self._standards = np.array([_mean_and_width(design, each) for _, each in (own, theirs)])
        positive, others = (self._mean(pair) for pair in zip(own, theirs, strict=True))
        self.threshold_ = self._keep_answers(design, positive, others, cleaner)

    def _of_trees(self, rows: Any) -> Any:
        """Return rows as trees see them: of 32 bits, whose range is small."""
        return times_columns(rows, self._scale).astype(np.float32)

    def _mean(self, scores: Any) -> Array:
        """Return the mean of the scores of both members, each standardised."""
        members = [
            (each - middle) / width
            for each, (middle, width) in zip(scores, self._standards, strict=True)
        ]
        return np.asarray(np.mean(members, axis=0))

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        if self.svc_ is None or self.trees_ is None:
            validate_data(self, X, reset=False, skip_check_array=True)
            rows = TableRows(X)
            found = mean_scores(self.estimators_, rows, np.arange(rows.shape[0]))
        else:
            read = checked_rows(self, X, "rbf", reset=False)
            all_rows = np.arange(read.shape[0])
            kernel = read.scores(all_rows, self.svc_.decision_function)
            arrays = self.trees_
            trees = read.scores(
                all_rows, lambda block: forest_scores(arrays, self._of_trees(block))
            )
            found = self._mean((kernel, trees))
        return np.asarray(self._sign() * (found - self.threshold_))


def _mean_and_width(design: Design, others: Array) -> tuple[float, float]:
    """Return the mean of unlabelled scores and their standard deviation, 1 if that is zero."""
    weights = design.unlabelled.weights
    scores = others[: weights.size]
    middle = float(np.average(scores, weights=weights))
    width = float(np.sqrt(np.average((scores - middle) ** 2, weights=weights)))
    return middle, width or 1.0


def _largest_values(X: Any) -> Array:
    """Return the largest size of a value in every column."""
    largest = abs(X).max(axis=0)
    return np.ravel(largest.toarray() if hasattr(largest, "toarray") else largest).astype(float)
