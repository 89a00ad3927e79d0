"""What every classifier of bags says: threshold, proportion of the class, probabilities, labels."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import Interval, StrOptions, note
from scarce._predictions import LabelPredictions
from scarce._warnings import ScarceDataWarning
from scarce.positive_unlabeled._lee_liu import LeeLiuScored
from scarce.positive_unlabeled.bags._design import Design
from scarce.positive_unlabeled.bags._draws import Renumbered, pools
from scarce.positive_unlabeled.bags._prior import combined_prior, within
from scarce.positive_unlabeled.bags._probability import Curve, curve_of_share, likeliest_share
from scarce.positive_unlabeled.bags._threshold import (
    LABELLINGS,
    LARGEST_SHARE,
    PUThreshold,
    found_threshold,
)
from scarce.positive_unlabeled.rows._given import Given

WORTH_OF_SHARE = 30.0  # labelled rows that the share to accept counts as in the class prior
# Standard errors by which labelled rows may rank above as many of the others as a prior says.
DOUBTFUL, CONTRADICTS = 3.0, 5.0
WIDE = 10.0  # upper over lower end of the prior from which probabilities are worth a warning

Estimate = tuple[float, tuple[float, float]]  # a share and its interval


class BagClassifier(LabelPredictions, LeeLiuScored, ClassifierMixin):
    """Base of estimators that decide by out-of-bag scores.

    A subclass has `decision_function`, the parameters below, and `n_bags`.
    """

    _bag_constraints: ClassVar[dict[str, Any]] = {
        "n_bags": [Interval(Integral, 0, None, closed="left")],
        "class_prior": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "labelling": [StrOptions(set(LABELLINGS))],
        "pos_label": [Real, str, "boolean", None],
        "neg_label": [Real, str, "boolean", None],
    }
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True, "propensity": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # Fitting.

    def _design(self, given: Given, keys: Array, C: float) -> tuple[Renumbered, Design]:
        """Return the rows that take part, equal ones as one, and how bags are drawn from them."""
        if self.n_bags == 1:
            raise ValueError("n_bags must be 0 (one model of all rows) or at least 2, got 1")
        kinds = given.positive, given.negative, given.unlabelled
        distinct, (positives, negatives, unlabelled) = pools(given.rows, keys, kinds, given.weights)
        if positives.n < 2:
            raise ValueError(
                "at least two different positive rows are needed, so that one can be held out; got "
                f"1 sample labelled {self.pos_label_!r}. Label more rows, or see pos_label if "
                "positive and unlabelled rows are swapped"
            )
        return distinct, Design(positives, negatives, unlabelled, C=C, n_bags=self.n_bags)

    def _keep_answers(
        self,
        design: Design,
        positive: Array,
        others: Array,
        cleaner: Estimate | None,
    ) -> float:
        """Store what out-of-bag scores say, and return the threshold.

        ``others`` are scores of unlabelled rows and then of checked negatives, ``cleaner`` is the
        proportion of the class among both by bags of cleaner rows, None if it is given or not
        wanted. All are estimated among both; what is stored is that among unlabelled rows.
        """
        own, n = design.positives.weights, design.unlabelled.n
        weights = own, np.concatenate([design.unlabelled.weights, design.negatives.weights])
        apart = float(weights[1].sum()) / design.unlabelled.total
        given = None if self.class_prior is None else self.class_prior / apart
        by_curve = None if given is not None else likeliest_share(positive, others, weights)
        found = found_threshold(
            positive, others, *weights, given, labelling=self.labelling, by_curve=by_curve
        )
        if given is not None:
            self._check_prior(given, found.auc, weights)
        positive, others = positive - found.threshold, others - found.threshold
        unlabelled = others[:n]
        accepted = design.unlabelled.weights[unlabelled > 0].sum() / design.unlabelled.total

        def among(share: float) -> float:
            return float(min(share * apart, LARGEST_SHARE if share < 1.0 else 1.0))

        self.accepted_share_ = float(accepted)
        self.accepted_share_interval_ = among(found.interval[0]), among(found.interval[1])
        self.out_of_bag_auc_, self.out_of_bag_auc_se_ = found.auc, found.auc_se
        self.out_of_bag_scores_ = (positive, unlabelled)
        scores, curves = (positive, others), []
        if given is not None:
            prior, interval = given, (given, given)
        elif cleaner is None or by_curve is None:
            prior, interval = np.nan, (np.nan, np.nan)
        else:
            prior, interval = self._prior(found, cleaner, by_curve, scores, weights)
        if given is None:
            self.class_prior_ = among(prior)
            self.class_prior_interval_ = among(interval[0]), among(interval[1])
        else:
            self.class_prior_ = float(self.class_prior)
            self.class_prior_interval_ = self.class_prior_, self.class_prior_
        for share in (prior, *interval):
            known = np.isfinite(share)
            curve = curve_of_share(*scores, weights, within(share, weights)) if known else None
            curves.append((np.nan, np.nan) if curve is None else (curve.slope, curve.constant))
        self.probability_curve_ = curves[0]
        self.probability_curve_interval_ = curves[1], curves[2]
        return found.threshold

    def _check_prior(self, prior: float, area: float, weights: tuple[Array, Array]) -> None:
        """Refuse a prior at which random labels cannot rank as high as they do.

        At best all hidden positives rank above all other unlabelled rows. The labelled ones have
        at least this area against them, and Mann and Whitney's statistic says how far from a half
        random labels may be.
        """
        n, hidden = float(weights[0].sum()), max(1.0, prior * float(weights[1].sum()))
        against_hidden = (area - (1.0 - prior)) / prior
        excess = (against_hidden - 0.5) / np.sqrt((n + hidden + 1.0) / (12.0 * n * hidden))
        if self.labelling != "random" or excess <= DOUBTFUL:
            return
        message = (
            f"class_prior={self.class_prior:g} contradicts the labels: the area under the curve of "
            f"labelled against unlabelled rows would be at most about {1 - prior / 2:.3f} if the "
            f"labelled rows are a random part of the class, and is {area:.3f}. About "
            f"{2 * (1 - area):.2g} or less fits"
        )
        if excess > CONTRADICTS:
            raise ValueError(
                f'{message}; if easy cases were labelled first, set labelling="biased" and keep '
                "class_prior"
            )
        note(
            f"{message}. It is used as given; check it, or were easy cases labelled first?",
            ScarceDataWarning,
        )

    def _prior(
        self,
        found: PUThreshold,
        cleaner: Estimate,
        by_curve: float,
        scores: tuple[Array, Array],
        weights: tuple[Array, Array],
    ) -> Estimate:
        """Return the estimated proportion of the class and an interval."""
        ranks, interval = found.share, found.interval
        if self.labelling == "random":
            # Both are approximate, and err in different ways.
            n = float(weights[0].sum())
            trust = n / (n + WORTH_OF_SHARE)
            ranks = cleaner[0] ** trust * ranks ** (1.0 - trust)
            interval = min(interval[0], cleaner[1][0]), max(interval[1], cleaner[1][1])
        return combined_prior(ranks, interval, by_curve, scores, weights)

    # Answers.

    def _sign(self) -> float:
        """Decisions are positive for the second class, whichever the positive one is."""
        return 1.0 if self.pos_label_ == self.classes_[1] else -1.0

    @lazily
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of both labels, for samples like the unlabelled ones.

        A presence-only logistic curve of the decision values: its mean over the unlabelled samples
        of the fit, each held out, is `class_prior_`, and the labelled ones tell its slope. It is
        not what `predict` decides by, whose threshold aims at finding most of the class.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n_samples, n_features)
            The samples, as `decision_function` takes them.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._probabilities_at(self.decision_function(X))

    def _probabilities_at(self, decisions: Array) -> Array:
        """Return the probabilities of both labels at decision values."""
        if not np.isfinite(self.probability_curve_).all():
            raise ValueError(
                "there are no probabilities: the class prior could not be estimated from these "
                "labels; give class_prior if you know it"
            )
        low, high = self.class_prior_interval_
        if high > WIDE * low:
            warnings.warn(
                f"the probabilities rest on a class prior of {self.class_prior_:.2g} that is "
                f"uncertain, from {low:.2g} to {high:.2g}; give class_prior if you know it.",
                ScarceDataWarning,
                stacklevel=3,
            )
        found = Curve(*self.probability_curve_).at(self._sign() * decisions)
        both = (1.0 - found, found) if self._sign() > 0 else (found, 1.0 - found)
        return np.column_stack(both)


def with_propensity(weights: Array, positive: Array, propensity: Any) -> Array:
    """Return weights in which labelled rows count one over their chance of being labelled.

    They are scaled so that their total is the effective number of labelled rows, the square of
    their sum over the sum of their squares (Kish): weights count rows.
    """
    if propensity is None:
        return weights
    labelled = positive & (weights > 0)
    own = _chances(propensity, weights.size)[labelled]
    if not ((own > 0) & (own <= 1)).all():  # NaN neither
        raise ValueError(
            "propensity must be above 0 and at most 1 for every labelled row, the chance that such "
            f"a positive is labelled; got values from {own.min():.3g} to {own.max():.3g}"
        )
    inverse = weights[labelled] / own
    effective = float(inverse.sum()) ** 2 / float((inverse * inverse / weights[labelled]).sum())
    found = np.array(weights, dtype=np.float64)
    found[labelled] = inverse * (effective / float(inverse.sum()))
    return found


def _chances(propensity: Any, n_rows: int) -> Array:
    """Return propensities as numbers, one a row."""
    try:
        found = np.asarray(propensity, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"propensity must be {n_rows} numbers, one for every row of X, got {propensity!r:.60}"
        ) from error
    if found.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"propensity must be {n_rows} numbers, one for every row of X, also the unlabelled "
            f"ones, got an array of shape {found.shape}"
        )
    return found.reshape(-1)
