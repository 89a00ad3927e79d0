"""Plots that suit every estimator of this library; matplotlib is imported only to draw."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_to_draw_on(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    return ax if ax is not None else _new_axes(1)[0]


def several_axes(axes: Any, count: int) -> list[Axes]:
    """Return the axes given, as many as needed, or those of a new figure side by side."""
    if axes is None:
        return _new_axes(count)
    given: list[Axes] = np.ravel(np.asarray(axes, dtype=object)).tolist()
    if len(given) != count:
        raise ValueError(f"ax must be {count} axes, one for each picture, got {len(given)}")
    return given


def _new_axes(count: int) -> list[Axes]:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "scarce[plot]"') from error
    width, height = pyplot.rcParams["figure.figsize"]
    size = (width, height) if count == 1 else (0.5 * width * count, 0.6 * height)
    # Constrained: low figures would cut their labels off.
    figure = pyplot.figure(figsize=size, layout="constrained")
    axes: list[Axes] = figure.subplots(1, count, squeeze=False)[0].tolist()
    return axes


def plane_grid(low: Array, high: Array, resolution: int, margin: float) -> tuple[Array, Array]:
    """Return a grid over a rectangle and a margin, a share of its longer side."""
    extent = float((high - low).max()) or 1.0  # of a single point: any
    lines = np.linspace(low - margin * extent, high + margin * extent, resolution)
    xx0, xx1 = np.meshgrid(lines[:, 0], lines[:, 1])
    return xx0, xx1


def without_feature_names(estimator: Any) -> Any:
    """Return a copy that does not warn of rows without names, such as those of a grid."""
    unnamed = copy.copy(estimator)
    vars(unnamed).pop("feature_names_in_", None)
    return unnamed


class ScoresDisplay:
    """Scores of several kinds of rows, as shares of the rows of each, and the threshold.

    What displays of scores are made of. They draw each kind with :meth:`_draw_scores`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    threshold_line_ : matplotlib Line2D
        The threshold.
    """

    def _begin(self, everything: Sequence[Array], bins: int, ax: Axes | None) -> None:
        """Take axes, and edges of bins that hold all scores."""
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = self.ax_.get_figure()
        self._edges = np.histogram_bin_edges(np.concatenate(everything), bins)

    def _draw_scores(self, scores: Array, *, times: float = 1.0, **style: Any) -> None:
        """Draw the share of rows in each bin, perhaps multiplied."""
        counts, _ = np.histogram(scores, self._edges)
        self.ax_.stairs(times * counts / scores.size, self._edges, **style)

    def _end(self, threshold: float, label: str, **labels: str) -> Self:
        """Draw the threshold, legend and labels of the axes."""
        self.threshold_line_ = self.ax_.axvline(
            threshold, color="#333333", linestyle="dashed", label=label
        )
        self.ax_.set(**labels)
        self.ax_.legend(frameon=False)
        return self


class HistoryDisplay:
    """What an iterative fit recorded, round by round.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    values : array-like of shape (n_rounds,)
        One value per round.
    key : str, default="objective"
        What the values are; it labels the axis.
    name : str or None, default=None
        What the curve is called in a legend; None for no legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferOneClassSVM
    >>> from scarce.one_class import HistoryDisplay
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> model = TransferOneClassSVM(radius=0.2).fit(X)
    >>> display = HistoryDisplay.from_estimator(model)
    >>> len(display.values) == model.n_rounds_
    True
    """

    def __init__(self, values: Any, *, key: str = "objective", name: str | None = None) -> None:
        self.values: Array = np.asarray(values)
        self.key = key
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        key: str = "objective",
        name: str | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Plot one entry of an estimator's `history_`.

        Parameters
        ----------
        estimator : estimator instance
            Fitted, with the attribute `history_`, a dict of lists with one value per round.
        key : str, default="objective"
            The entry.
        name : str or None, default=None
            What the curve is called in a legend; None for no legend.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        HistoryDisplay
            The display.
        """
        check_is_fitted(estimator)
        history = getattr(estimator, "history_", None)
        if history is None:
            raise ValueError(f"{type(estimator).__name__} keeps no history_ of its fit")
        if key not in history:
            raise ValueError(f"history_ holds {sorted(history)}, got key={key!r}")
        return cls(history[key], key=key, name=name).plot(ax=ax, **line_kw)

    def plot(self, *, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        HistoryDisplay
            The display.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = self.ax_.get_figure()
        from matplotlib.ticker import MaxNLocator

        style: dict[str, Any] = {
            "marker": "o",
            "markersize": 3.5,
            "linewidth": 1.3,
            "label": self.name,
        } | line_kw
        rounds = np.arange(1, self.values.size + 1)
        (self.line_,) = self.ax_.plot(rounds, self.values, **style)
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set(xlabel="round", ylabel=self.key)
        if style["label"] is not None:
            self.ax_.legend(frameon=False)
        return self
