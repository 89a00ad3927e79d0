"""Plots of held-out scores: where the threshold lies, and whether p-values are uniform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scarce._arrays import Array
from scarce._displays import Display, ScoresDisplay, show_legend
from scarce.held_out._scores import false_alarm_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OWN, OTHER, CUT = "#0072b2", "#d55e00", "#333333"


class LeftOutScoresDisplay(ScoresDisplay):
    """Scores of rows left out, the threshold among them, and scores of other rows.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    left_out_scores : array-like of shape (n_rows,)
        Scores of training rows, each by a model without it.
    threshold : float
        Rows of a lower score are rejected.
    false_alarms : float
        The rate wanted.
    false_alarm_range : tuple of float
        90 % range of the rate.
    scores : array-like of shape (n_new,) or None, default=None
        Scores of other rows, by the model of all training rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    threshold_line_ : matplotlib Line2D
        The threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferOneClassSVM
    >>> from scarce.one_class import LeftOutScoresDisplay
    >>> random = np.random.default_rng(0)
    >>> model = TransferOneClassSVM().fit(random.normal(size=(30, 2)))
    >>> display = LeftOutScoresDisplay.from_estimator(model, random.normal(2.0, 1.0, size=(50, 2)))
    >>> int(np.sum(display.left_out_scores < display.threshold))  # of 30, with .1 wanted
    2
    """

    def __init__(
        self,
        left_out_scores: Any,
        *,
        threshold: float,
        false_alarms: float,
        false_alarm_range: tuple[float, float],
        scores: Any = None,
    ) -> None:
        self.left_out_scores: Array = np.asarray(left_out_scores)
        self.threshold = threshold
        self.false_alarms = false_alarms
        self.false_alarm_range = false_alarm_range
        self.scores: Array | None = None if scores is None else np.asarray(scores)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        bins: int = 20,
        name: str = "new rows",
        ax: Axes | None = None,
    ) -> Self:
        """Plot the held-out scores of a fitted model.

        Parameters
        ----------
        estimator : estimator instance
            Fitted with ``offset="left_out"``, or a `CalibratedOneClass` with one model.
        X : array-like of shape (n_samples, ...), default=None
            Other rows to show beside them.
        bins : int, default=20
            Number of bars.
        name : str, default="new rows"
            What the other rows are called in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        LeftOutScoresDisplay
            The display.
        """
        display = cls(
            estimator._left_out().scores,
            threshold=float(np.ravel(estimator.offset_)[0]),
            false_alarms=estimator.false_alarms_,
            false_alarm_range=estimator.false_alarm_range_,
            scores=None if X is None else estimator.score_samples(X),
        )
        return display.plot(bins=bins, name=name, ax=ax)

    def _draw(self, *, bins: int = 20, name: str = "new rows") -> None:
        shown = [(self.left_out_scores, OWN, "rows left out")]
        if self.scores is not None:
            shown.append((self.scores, OTHER, name))
        self._set_bins([scores for scores, _, _ in shown], bins)
        for scores, colour, label in shown:
            self._draw_scores(scores, fill=True, color=colour, alpha=0.5, label=label)
        low, high = self.false_alarm_range
        rate = f"threshold: {self.false_alarms:g} rejected (90 % range {low:.2g} to {high:.2g})"
        self._draw_threshold(self.threshold, rate, xlabel="score", ylabel="proportion of rows")


class PValueDisplay(Display):
    """Fraction of rows of the class whose p-value is up to each level: the diagonal if all is well.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes. The band is the
    90 % range of what so many training rows can promise, level by level, and approximate.

    Parameters
    ----------
    p_values : array-like of shape (n_samples,)
        P-values of new rows of the class.
    n_rows : float
        Training rows that the p-values come from.
    false_alarms : float
        The rate of `predict`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib collection
        The range.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferOneClassSVM
    >>> from scarce.one_class import PValueDisplay
    >>> random = np.random.default_rng(0)
    >>> model = TransferOneClassSVM().fit(random.normal(size=(30, 2)))
    >>> display = PValueDisplay.from_estimator(model, random.normal(size=(500, 2)))
    >>> display.n_rows
    30.0
    """

    def __init__(self, p_values: Any, *, n_rows: float, false_alarms: float) -> None:
        self.p_values: Array = np.sort(np.asarray(p_values, dtype=np.float64))
        self.n_rows = n_rows
        self.false_alarms = false_alarms

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Plot the p-values of new rows of the class.

        Parameters
        ----------
        estimator : estimator instance
            Fitted with ``offset="left_out"``, or a `CalibratedOneClass`.
        X : array-like of shape (n_samples, ...)
            Rows of the class that the model was not fitted to.
        name : str or None, default=None
            What the curve is called in a legend.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        PValueDisplay
            The display.
        """
        n_rows = float(estimator._left_out().weights.sum())
        display = cls(estimator.p_values(X), n_rows=n_rows, false_alarms=estimator.false_alarms_)
        return display.plot(name=name, ax=ax, **line_kw)

    def _draw(self, *, name: str | None = None, **line_kw: Any) -> None:
        levels = np.arange(1, int(self.n_rows) + 1) / (self.n_rows + 1.0)
        ends = np.array([false_alarm_range(self.n_rows, level) for level in levels])
        self.band_ = self.ax_.fill_between(
            levels, ends[:, 0], ends[:, 1], color=OWN, alpha=0.15, linewidth=0
        )
        self.ax_.plot([0, 1], [0, 1], color=CUT, linewidth=0.8)
        self.ax_.axvline(self.false_alarms, color=CUT, linestyle="--", linewidth=0.8)
        reached = np.arange(self.p_values.size + 1) / self.p_values.size
        style: dict[str, Any] = {"color": OWN, "linewidth": 1.5, "label": name} | line_kw
        steps = {"drawstyle": "steps-post"}
        (self.line_,) = self.ax_.plot(np.r_[0.0, self.p_values], reached, **(steps | style))
        self.ax_.set(xlabel="p-value", ylabel="proportion of new rows up to it", xlim=(0, 1))
        self.ax_.set(ylim=(0, 1))
        show_legend(self.ax_, style["label"], loc="upper left")
