"""Pictures of a mapping-convergence fit: set sizes per round, boundaries per round."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import (
    MARKED,
    Display,
    GridDisplay,
    count_on_x_axis,
    grid_around,
    two_features,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {
    "negatives": ("#0072b2", "negatives trained on"),
    "rejected": ("#d55e00", "newly rejected"),
    "accepted": ("#009e73", "still accepted"),
}
POSITIVE, UNLABELLED = "#d55e00", "0.65"


@dataclass(eq=False, repr=False)
class SetSizesDisplay(Display):
    """How many rows each round trained on, rejected and still accepts.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    sizes : dict of lists
        One list per set, one number per round: "negatives", "rejected", "accepted".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves were drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    lines_ : list of matplotlib Line2D
        The curves.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import SVMC
    >>> from scarce.positive_unlabeled import SetSizesDisplay
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(60, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> model = SVMC().fit(X, np.r_[np.ones(40), np.zeros(320)])
    >>> display = SetSizesDisplay.from_estimator(model)
    >>> sorted(display.sizes)
    ['accepted', 'negatives', 'rejected']
    """

    sizes: dict[str, list[int]]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Plot the set sizes of a fit.

        Parameters
        ----------
        estimator : SVMC or MappingConvergence
            The fitted estimator.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        SetSizesDisplay
            The display.
        """
        check_is_fitted(estimator)
        return cls({name: estimator.history_[name] for name in SIZES}).plot(ax=ax, **line_kw)

    def _draw(self, **line_kw: Any) -> None:
        self.lines_ = []
        for name, (colour, label) in SIZES.items():
            rounds = np.arange(1, len(self.sizes[name]) + 1)
            style: dict[str, Any] = MARKED | {"color": colour, "label": label} | line_kw
            self.lines_ += self.ax_.plot(rounds, self.sizes[name], **style)
        # Sets shrink by orders of magnitude, and the last is empty.
        self.ax_.set_yscale("symlog", linthresh=1)
        self.ax_.set_ylim(bottom=0)
        count_on_x_axis(self.ax_)
        self.ax_.set(xlabel="round", ylabel="rows")
        self.ax_.legend(frameon=False)


@dataclass(eq=False, repr=False, kw_only=True)
class RoundsBoundaryDisplay(GridDisplay):
    """The boundary after every round, on two features.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The rows.
    xx0, xx1 : ndarray of shape (resolution, resolution)
        The grid.
    axis_labels : tuple of str, default=("", "")
        Names of the two features.
    positive : ndarray of bool of shape (n_samples,)
        Which are labelled.
    responses : ndarray of shape (n_rounds, resolution, resolution)
        Decision values of every round on the grid, positive for positives.
    mapping : ndarray of shape (resolution, resolution) or None
        Scores of the mapper on the grid.
    round_kept : int or None, default=None
        Round of the model, counted from 0; its boundary is drawn thick. None is the last.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    contours_ : list of matplotlib ContourSet or None
        Each round's boundary; None where it does not cross the grid.
    mapping_contour_ : matplotlib ContourSet or None
        The mapper's boundary.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import SVMC
    >>> from scarce.positive_unlabeled import RoundsBoundaryDisplay
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(60, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> y = np.r_[np.ones(40), np.zeros(320)]
    >>> display = RoundsBoundaryDisplay.from_estimator(SVMC(), X, y)
    >>> len(display.contours_) == SVMC().fit(X, y).n_rounds_
    True
    """

    positive: Array
    responses: Array
    mapping: Array | None = None
    round_kept: int | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        grid_resolution: int = 150,
        margin: float = 0.05,
        ax: Axes | None = None,
    ) -> Self:
        """Fit a copy of an estimator, and plot the boundary after each of its rounds.

        Parameters
        ----------
        estimator : SVMC or MappingConvergence
            The estimator, fitted or not.
        X : array-like of shape (n_samples, 2)
            The rows to fit to.
        y : array-like of shape (n_samples,)
            Their labels.
        grid_resolution : int, default=150
            Number of grid points per axis.
        margin : float, default=0.05
            What the grid adds on each side of the rows, as a proportion of their longer extent.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        RoundsBoundaryDisplay
            The display.
        """
        rows, axis_labels = two_features(X, getattr(X, "columns", ("", "")))
        corners = rows.min(axis=0), rows.max(axis=0)
        xx0, xx1, grid = grid_around(*corners, grid_resolution, margin)
        rounds = _Rounds(grid)
        copied = clone(estimator)
        copied._on_round = rounds.look
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the estimator itself was fitted
            copied.fit(rows, y)
        shape = (-1, *xx0.shape)
        return cls(
            rows,
            positive=np.asarray(y) == copied.pos_label_,
            xx0=xx0,
            xx1=xx1,
            responses=np.reshape(rounds.responses, shape),
            mapping=None if rounds.mapping is None else rounds.mapping.reshape(xx0.shape),
            round_kept=copied.round_kept_,
            axis_labels=axis_labels,
        ).plot(ax=ax)

    def _draw(self) -> None:
        from matplotlib import colormaps

        for chosen, colour, size, label in (
            (~self.positive, UNLABELLED, 6, "unlabelled"),
            (self.positive, POSITIVE, 12, "positive"),
        ):
            x0, x1 = self.X[chosen].T
            self.ax_.scatter(x0, x1, s=size, color=colour, linewidths=0, label=label)
        self.mapping_contour_ = None
        if self.mapping is not None:
            self.mapping_contour_ = self._boundary(self.mapping, "0.35", "dashed", 1.2)
        # Later rounds are darker.
        n_rounds = len(self.responses)
        kept = n_rounds - 1 if self.round_kept is None else self.round_kept
        shades = colormaps["Blues"](np.linspace(0.35, 1.0, n_rounds))
        self.contours_ = [
            self._boundary(values, shade, "solid", 2.2 if number == kept else 1.2)
            for number, (values, shade) in enumerate(zip(self.responses, shades, strict=True))
        ]
        self._frame(equal=False)

    def _boundary(self, values: Array, colour: Any, dashes: str, width: float) -> Any:
        return self._draw_level(values, colors=[colour], linestyles=dashes, linewidths=width)


class _Rounds:
    """What scores a grid after every round."""

    def __init__(self, grid: Array) -> None:
        self.grid = grid
        self.responses: list[Array] = []
        self.mapping: Array | None = None

    def look(self, estimator: Any) -> None:
        self.responses.append(estimator._scores(self.grid))
        if estimator.mapper_ is not None:
            self.mapping = np.asarray(estimator.mapper_.score_samples(self.grid))
