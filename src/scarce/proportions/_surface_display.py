"""A picture of the probabilities on two features, and of the proportions of the rows' groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import GridDisplay, grid_around, two_features, without_feature_names
from scarce.proportions._groups import COMMON, read_groups, read_shares
from scarce.proportions._shares import class_position, shares_of_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLOURS = "RdBu_r"  # blue for a share of 0, red for 1: told apart with every kind of colour vision


@dataclass(eq=False, repr=False, kw_only=True)
class ShareSurfaceDisplay(GridDisplay):
    """Probability of a class on two features, and the rows coloured by the group's proportion.

    Surface and rows have one scale of colours. Common rows are squares, rows of no group grey.
    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The rows.
    xx0, xx1 : ndarray of shape (resolution, resolution)
        The grid.
    axis_labels : tuple of str, default=("", "")
        Names of the two features.
    shares : ndarray of shape (n_samples,)
        Proportion of the class in each row's group; NaN for a row of no group.
    is_common : ndarray of bool of shape (n_samples,)
        Which rows are common rows.
    probability : ndarray of shape (resolution, resolution)
        Probability of the class on the grid.
    class_of_interest : object
        The class, for the label of the colour bar.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    surface_ : matplotlib AxesImage
        The probabilities.
    boundary_ : matplotlib ContourSet or None
        Where the probability is one half; None where that does not cross the grid.
    points_ : dict of matplotlib PathCollection
        The rows: "grouped", "common" and "leftover", those that there are.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import GroupProbabilitySVM
    >>> from scarce.proportions import ShareSurfaceDisplay
    >>> X = np.random.default_rng(0).normal(size=(240, 2))
    >>> groups = np.repeat(["a", "b", "c", "d", "e"], 48)
    >>> share = np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], 48)
    >>> model = GroupProbabilitySVM().fit(X + share[:, None], share, groups)
    >>> display = ShareSurfaceDisplay.from_estimator(model, X, share, groups)
    >>> display.probability.shape
    (150, 150)
    """

    shares: Array
    is_common: Array
    probability: Array
    class_of_interest: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        groups: Any,
        *,
        class_of_interest: Any = None,
        grid_resolution: int = 150,
        margin: float = 0.1,
        show_colorbar: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Plot the probabilities of a fitted classifier and rows with proportions.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `predict_proba`.
        X : array-like of shape (n_samples, 2)
            The rows to draw.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Proportions of each row's group, as in fit.
        groups : array-like of shape (n_samples,)
            Group of each row, as in fit.
        class_of_interest : object, default=None
            One of ``classes_``, by default the second of two. Must be given for several classes.
        grid_resolution : int, default=150
            Number of grid points per axis.
        margin : float, default=0.1
            What the grid adds on each side of the rows, as a proportion of their extent.
        show_colorbar : bool, default=True
            Whether to draw the scale of the colours.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ShareSurfaceDisplay
            The display.
        """
        check_is_fitted(estimator)
        X, axis_labels = two_features(X, getattr(estimator, "feature_names_in_", ("", "")))
        position = class_position(estimator, class_of_interest)
        codes, _ = read_groups(groups, X.shape[0])
        shares = shares_of_class(read_shares(y, X.shape[0]), position, len(estimator.classes_))
        corners = X.min(axis=0), X.max(axis=0)
        xx0, xx1, grid = grid_around(*corners, grid_resolution, margin)
        probability = without_feature_names(estimator).predict_proba(grid)[:, position]
        display = cls(
            X,
            shares=np.where(codes >= 0, shares, np.nan),
            is_common=codes == COMMON,
            xx0=xx0,
            xx1=xx1,
            probability=probability.reshape(xx0.shape),
            class_of_interest=estimator.classes_[position],
            axis_labels=axis_labels,
        )
        return display.plot(show_colorbar=show_colorbar, ax=ax)

    def _draw(self, *, show_colorbar: bool = True) -> None:
        self.surface_ = self.ax_.imshow(
            self.probability,
            extent=(*self.xx0[0, [0, -1]], *self.xx1[[0, -1], 0]),
            origin="lower",
            interpolation="bilinear",
            cmap=COLOURS,
            vmin=0.0,
            vmax=1.0,
            alpha=0.5,
        )
        self.boundary_ = self._draw_level(self.probability, 0.5, colors=["0.1"], linewidths=1.6)
        grouped = ~np.isnan(self.shares)
        looks: dict[str, tuple[Array, dict[str, Any]]] = {
            "leftover": (~grouped & ~self.is_common, {"s": 12, "color": "0.6"}),
            "grouped": (
                grouped,
                {"s": 22, "c": self.shares[grouped], "cmap": COLOURS, "vmin": 0.0, "vmax": 1.0},
            ),
            "common": (self.is_common, {"s": 26, "color": "white", "marker": "s"}),
        }
        self.points_ = {
            name: self.ax_.scatter(
                *self.X[rows].T, edgecolors="0.2", linewidths=0.5, zorder=3, label=name, **look
            )
            for name, (rows, look) in looks.items()
            if rows.any()
        }
        self._frame(equal=True)
        if show_colorbar:
            label = f"proportion and probability of {self.class_of_interest}"
            self.ax_.figure.colorbar(self.surface_, ax=self.ax_, label=label)
