"""Pictures of what a classifier of bags learnt: scores, probabilities, weights of the columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import Display, ScoresDisplay
from scarce.positive_unlabeled.bags._probability import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POSITIVE, UNLABELLED = "#d55e00", "0.65"


@dataclass(eq=False, repr=False)
class OutOfBagDisplay(ScoresDisplay):
    """Scores of labelled and of unlabelled rows by models without them, and the threshold.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes. Areas are
    proportions of the rows of each kind. The unlabelled rows of the class lie under the labelled
    ones; their part is drawn as the outline of the labelled rows scaled by the class prior.

    Parameters
    ----------
    positive, unlabelled : ndarray
        Out-of-bag scores, above 0 for those accepted.
    class_prior : float
        Estimated proportion of the class among the unlabelled rows.
    class_prior_interval : tuple of float
        Its interval.
    accepted_share : float
        Proportion of the unlabelled rows accepted.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    threshold_line_ : matplotlib Line2D
        The threshold, at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import PositiveUnlabeledSVC
    >>> from scarce.positive_unlabeled import OutOfBagDisplay
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(90, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> model = PositiveUnlabeledSVC(random_state=0).fit(X, np.r_[np.ones(40), np.zeros(350)])
    >>> display = OutOfBagDisplay.from_estimator(model)
    >>> display.positive.size, display.unlabelled.size
    (40, 350)
    """

    positive: Array
    unlabelled: Array
    _: KW_ONLY
    class_prior: float
    class_prior_interval: tuple[float, float]
    accepted_share: float

    @classmethod
    def from_estimator(cls, estimator: Any, *, bins: int = 40, ax: Axes | None = None) -> Self:
        """Plot the scores of a fit.

        Parameters
        ----------
        estimator : PositiveUnlabeledSVC
            The fitted estimator.
        bins : int, default=40
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        OutOfBagDisplay
            The display.
        """
        check_is_fitted(estimator)
        positive, unlabelled = estimator.out_of_bag_scores_
        return cls(
            positive,
            unlabelled,
            class_prior=estimator.class_prior_,
            class_prior_interval=estimator.class_prior_interval_,
            accepted_share=estimator.accepted_share_,
        ).plot(bins=bins, ax=ax)

    def _draw(self, *, bins: int = 40) -> None:
        self._set_bins([self.positive, self.unlabelled], bins)
        self._draw_scores(self.unlabelled, fill=True, color=UNLABELLED, label="unlabelled")
        self._draw_scores(self.positive, color=POSITIVE, linewidth=1.5, label="labelled")
        low, high = self.class_prior_interval
        self._draw_scores(
            self.positive,
            times=self.class_prior,
            color=POSITIVE,
            linestyle="dotted",
            label=f"labelled x class prior {self.class_prior:.2g} ({low:.2g} to {high:.2g})",
        )
        self._draw_threshold(
            0.0,
            f"threshold: {self.accepted_share:.2g} of the unlabelled rows accepted",
            xlabel="out-of-bag score",
            ylabel="proportion of the rows of each kind",
        )


@dataclass(eq=False, repr=False)
class ProbabilityDisplay(Display):
    """The curve from out-of-bag scores to probabilities, and what the samples say beside it.

    Where labels are random, the density of labelled scores over that of unlabelled ones, times the
    class prior, is the probability: bins of the out-of-bag scores show it as points. Create it with
    :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    scores, probabilities : ndarray
        The curve.
    low, high : ndarray
        The same for the ends of the interval of the class prior.
    bin_scores, bin_probabilities : ndarray
        Middles of bins of equal numbers of unlabelled samples, and what their samples say.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import PositiveUnlabeledSVC
    >>> from scarce.positive_unlabeled import ProbabilityDisplay
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(90, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> model = PositiveUnlabeledSVC(random_state=0).fit(X, np.r_[np.ones(40), np.zeros(350)])
    >>> display = ProbabilityDisplay.from_estimator(model)
    >>> display.bin_scores.size
    10
    """

    scores: Array
    probabilities: Array
    _: KW_ONLY
    low: Array
    high: Array
    bin_scores: Array
    bin_probabilities: Array

    @classmethod
    def from_estimator(cls, estimator: Any, *, bins: int = 10, ax: Axes | None = None) -> Self:
        """Plot the curve of a fit.

        Parameters
        ----------
        estimator : PositiveUnlabeledSVC or PositiveUnlabeledClassifier
            The fitted estimator.
        bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ProbabilityDisplay
            The display.
        """
        check_is_fitted(estimator)
        positive, unlabelled = estimator.out_of_bag_scores_
        edges = np.unique(np.quantile(unlabelled, np.linspace(0.0, 1.0, bins + 1)))
        edges[0], edges[-1] = -np.inf, np.inf
        own = np.histogram(positive, edges)[0] / positive.size
        others = np.histogram(unlabelled, edges)[0] / unlabelled.size
        which = np.clip(np.searchsorted(edges, unlabelled, "right") - 1, 0, edges.size - 2)
        middles = np.bincount(which, unlabelled) / np.bincount(which)
        scores = np.linspace(unlabelled.min(), max(unlabelled.max(), positive.max()), 200)
        curves = (estimator.probability_curve_, *estimator.probability_curve_interval_)
        middle, low, high = (Curve(*each).at(scores) for each in curves)
        return cls(
            scores,
            middle,
            low=low,
            high=high,
            bin_scores=middles,
            bin_probabilities=np.minimum(1.0, estimator.class_prior_ * own / others),
        ).plot(ax=ax)

    def _draw(self) -> None:
        self.ax_.fill_between(self.scores, self.low, self.high, color="0.85", label="class prior")
        self.ax_.plot(self.scores, self.probabilities, color=POSITIVE, label="predict_proba")
        self.ax_.plot(self.bin_scores, self.bin_probabilities, "o", color="0.3", label="samples")
        self.ax_.set(xlabel="out-of-bag score", ylabel="probability of the class", ylim=(0, 1.02))
        self.ax_.legend()


@dataclass(eq=False, repr=False)
class FeatureWeightsDisplay(Display):
    """The weights of the columns of a :class:`PositiveUnlabeledSVC`, as bars.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    weights : ndarray
        The weights, the largest first.
    names : list of str
        The columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import PositiveUnlabeledSVC
    >>> from scarce.positive_unlabeled import FeatureWeightsDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[3, 0], [0, 0]], 150, 0)
    >>> y = np.repeat([1, 0], [50, 250])
    >>> model = PositiveUnlabeledSVC(feature_weights=[1.0, 0.2], random_state=0).fit(X, y)
    >>> FeatureWeightsDisplay.from_estimator(model).names
    ['x0', 'x1']
    """

    weights: Array
    names: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Plot the weights of a fit; all 1 where none were taken.

        Parameters
        ----------
        estimator : PositiveUnlabeledSVC or PositiveUnlabeledClassifier
            The fitted estimator; of the second, with ``estimator=None``, its kernel model.
        most : int, default=20
            Number of columns, those of the largest weights.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        FeatureWeightsDisplay
            The display.
        """
        check_is_fitted(estimator)
        n = estimator.n_features_in_
        weights = _kernel_model(estimator).feature_weights_
        weights = np.ones(n) if weights is None else weights
        names = getattr(estimator, "feature_names_in_", [f"x{number}" for number in range(n)])
        order = np.argsort(-weights, kind="stable")[:most]
        return cls(weights[order], [str(names[place]) for place in order]).plot(ax=ax)

    def _draw(self) -> None:
        self.ax_.barh(self.names[::-1], self.weights[::-1], color="#0072b2")
        self.ax_.set(xlabel="weight of the column")


def _kernel_model(estimator: Any) -> Any:
    """Return the model whose columns have weights."""
    if hasattr(estimator, "feature_weights_"):
        return estimator
    found = getattr(estimator, "svc_", None)
    if found is None:
        raise ValueError(
            "estimator must have weights of its columns, as PositiveUnlabeledSVC and "
            "PositiveUnlabeledClassifier(estimator=None) do, got "
            f"{estimator!r:.100}"
        )
    return found
