"""What the plots of this library are made of; matplotlib is imported only to draw."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKED = {"marker": "o", "markersize": 3.5, "linewidth": 1.3}  # a curve of few points


class Display:
    """A plot of a fitted estimator. Displays add what they show, `from_estimator` and `_draw`."""

    ax_: Axes
    figure_: Any

    def plot(self, *, ax: Any = None, **options: Any) -> Self:
        """Draw what `from_estimator` drew, again or with other options.

        Parameters
        ----------
        ax : matplotlib Axes, or a list of them where there are several pictures, default=None
            Where to draw; a new figure by default.
        **options : dict
            Those of `from_estimator` that say how the picture looks.

        Returns
        -------
        Display
            The display itself.
        """
        self._take_axes(ax)
        self._draw(**options)
        return self

    def _take_axes(self, ax: Any) -> None:
        self.ax_ = several_axes(ax, 1)[0]
        self.figure_ = self.ax_.get_figure()

    def _draw(self, *args: Any, **options: Any) -> None:
        """Draw on `ax_`."""
        raise NotImplementedError


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


def count_on_x_axis(ax: Axes) -> None:
    """Label the x axis by whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def show_legend(ax: Axes, label: Any, **style: Any) -> None:
    """Add a legend where what was drawn has a name."""
    if label is not None:
        ax.legend(frameon=False, **style)


@dataclass(eq=False, repr=False)
class GridDisplay(Display):
    """What an estimator answers on a grid over two features, and the samples."""

    X: Array  # (n_samples, 2): the samples
    _: KW_ONLY
    # xx0, xx1: (resolution, resolution): the grid
    xx0: Array
    xx1: Array
    axis_labels: tuple[str, str] = ("", "")  # names of the two features

    def _draw_level(self, values: Array, level: float = 0.0, **style: Any) -> Any:
        """Draw where values on the grid have a level; None where they do not cross it."""
        if not values.min() < level < values.max():
            return None
        return self.ax_.contour(self.xx0, self.xx1, values, levels=[level], **style)

    def _frame(self, *, equal: bool) -> None:
        """Label the axes, perhaps with equal scales and the limits of the grid."""
        if equal:
            self.ax_.set_aspect("equal")
            self.ax_.set(xlim=self.xx0[0, [0, -1]], ylim=self.xx1[[0, -1], 0])
        self.ax_.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])


def two_features(X: Any, names: Any) -> tuple[Array, tuple[str, str]]:
    """Return samples of two features and the names of these; refuse others."""
    X = check_array(X)
    if X.shape[1] != 2:
        raise ValueError(f"only rows of two features can be drawn, got {X.shape[1]}")
    return X, (str(names[0]), str(names[1]))


def grid_around(
    low: Array, high: Array, resolution: int, margin: float
) -> tuple[Array, Array, Array]:
    """Return a grid over a rectangle and a margin, a part of its longer side, and its points."""
    extent = float((high - low).max()) or 1.0  # of a single point: any
    ticks = np.linspace(low - margin * extent, high + margin * extent, resolution)
    xx0, xx1 = np.meshgrid(ticks[:, 0], ticks[:, 1])
    return xx0, xx1, np.column_stack([xx0.ravel(), xx1.ravel()])


def without_feature_names(estimator: Any) -> Any:
    """Return a copy that does not warn of rows without names, such as those of a grid."""
    unnamed = copy.copy(estimator)
    vars(unnamed).pop("feature_names_in_", None)
    return unnamed


class ScoresDisplay(Display):
    """Scores of several kinds of rows, as fractions of the rows of each, and the threshold."""

    def _set_bins(self, everything: Sequence[Array], bins: int) -> None:
        """Take edges of bins that hold all scores."""
        self._edges = np.histogram_bin_edges(np.concatenate(everything), bins)

    def _draw_scores(self, scores: Array, *, times: float = 1.0, **style: Any) -> None:
        """Draw the fraction of rows in each bin, perhaps multiplied."""
        counts, _ = np.histogram(scores, self._edges)
        self.ax_.stairs(times * counts / scores.size, self._edges, **style)

    def _draw_threshold(self, threshold: float, label: str, **labels: str) -> None:
        """Draw the threshold, legend and labels of the axes."""
        self.threshold_line_ = self.ax_.axvline(
            threshold, color="#333333", linestyle="dashed", label=label
        )
        self.ax_.set(**labels)
        self.ax_.legend(frameon=False)


class HistoryDisplay(Display):
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

    def _draw(self, **line_kw: Any) -> None:
        style: dict[str, Any] = MARKED | {"label": self.name} | line_kw
        rounds = np.arange(1, self.values.size + 1)
        (self.line_,) = self.ax_.plot(rounds, self.values, **style)
        count_on_x_axis(self.ax_)
        self.ax_.set(xlabel="round", ylabel=self.key)
        show_legend(self.ax_, style["label"])
