"""A picture of what `PositiveUnlabeledSVC` decides by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import ScoresDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, UNLABELLED = "#d55e00", "0.65"


class OutOfBagDisplay(ScoresDisplay):
    """Scores of labelled and of unlabelled rows by machines without them, and the threshold.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes. Areas are
    shares of the rows of each kind. The unlabelled rows of the class lie under the labelled ones;
    their part is drawn as the outline of the labelled rows scaled by the class prior.

    Parameters
    ----------
    positive, unlabelled : ndarray
        Out-of-bag scores, above 0 for those accepted.
    class_prior : float
        Estimated share of the class among the unlabelled rows.
    class_prior_interval : tuple of float
        Its interval.
    accepted_share : float
        Share of the unlabelled rows accepted.

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

    def __init__(
        self,
        positive: Array,
        unlabelled: Array,
        *,
        class_prior: float,
        class_prior_interval: tuple[float, float],
        accepted_share: float,
    ) -> None:
        self.positive = positive
        self.unlabelled = unlabelled
        self.class_prior = class_prior
        self.class_prior_interval = class_prior_interval
        self.accepted_share = accepted_share

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

    def plot(self, *, bins: int = 40, ax: Axes | None = None) -> Self:
        """Draw the scores.

        Parameters
        ----------
        bins : int, default=40
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        OutOfBagDisplay
            The display.
        """
        self._begin([self.positive, self.unlabelled], bins, ax)
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
        return self._end(
            0.0,
            f"threshold: {self.accepted_share:.2g} of the unlabelled rows accepted",
            xlabel="out-of-bag score",
            ylabel="share of the rows of each kind",
        )
