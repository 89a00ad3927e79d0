"""Pictures of what was learnt from shares: the probability surface, and given against met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import axes_to_draw_on, plane_grid, without_feature_names
from scarce._frame import plain_weights
from scarce.proportions._groups import COMMON, group_values, read_groups, read_shares
from scarce.proportions._share_loss import effective_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLOURS = "RdBu_r"  # blue for a share of 0, red for 1: told apart with every kind of colour vision


class ShareSurfaceDisplay:
    """Probability of a class on two features, and the rows coloured by the share of their group.

    Surface and rows have one scale of colours. Common rows are squares, rows of no group grey.
    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The rows.
    shares : ndarray of shape (n_samples,)
        Share of the class in each row's group; NaN for a row of no group.
    is_common : ndarray of bool of shape (n_samples,)
        Which rows are common rows.
    xx0, xx1 : ndarray of shape (resolution, resolution)
        The grid.
    probability : ndarray of shape (resolution, resolution)
        Probability of the class on the grid.
    class_of_interest : object
        The class, for the label of the colour bar.
    axis_labels : tuple of str, default=("", "")
        Names of the two features.

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
    >>> groups = np.repeat(["a", "b", "c"], 80)
    >>> share = np.repeat([0.0, 0.5, 1.0], 80)
    >>> model = GroupProbabilitySVM().fit(X + share[:, None], share, groups)
    >>> display = ShareSurfaceDisplay.from_estimator(model, X, share, groups)
    >>> display.probability.shape
    (150, 150)
    """

    def __init__(
        self,
        X: Array,
        *,
        shares: Array,
        is_common: Array,
        xx0: Array,
        xx1: Array,
        probability: Array,
        class_of_interest: Any,
        axis_labels: tuple[str, str] = ("", ""),
    ) -> None:
        self.X = X
        self.shares = shares
        self.is_common = is_common
        self.xx0 = xx0
        self.xx1 = xx1
        self.probability = probability
        self.class_of_interest = class_of_interest
        self.axis_labels = axis_labels

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
        """Plot the probabilities of a fitted classifier and rows with shares.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `predict_proba`.
        X : array-like of shape (n_samples, 2)
            The rows to draw.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Shares of each row's group, as in fit.
        groups : array-like of shape (n_samples,)
            Group of each row, as in fit.
        class_of_interest : object, default=None
            One of ``classes_``, by default the second of two. Must be given for several classes.
        grid_resolution : int, default=150
            Number of grid points per axis.
        margin : float, default=0.1
            What the grid adds on each side of the rows, as a share of their extent.
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
        names = getattr(estimator, "feature_names_in_", ("", ""))
        X = check_array(X)
        if X.shape[1] != 2:
            raise ValueError(f"only rows of two features can be drawn, got {X.shape[1]}")
        position = _position(estimator, class_of_interest)
        codes, _ = read_groups(groups, X.shape[0])
        shares = _column(read_shares(y, X.shape[0]), position, len(estimator.classes_))
        xx0, xx1 = plane_grid(X.min(axis=0), X.max(axis=0), grid_resolution, margin)
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        probability = without_feature_names(estimator).predict_proba(grid)[:, position]
        display = cls(
            X,
            shares=np.where(codes >= 0, shares, np.nan),
            is_common=codes == COMMON,
            xx0=xx0,
            xx1=xx1,
            probability=probability.reshape(xx0.shape),
            class_of_interest=estimator.classes_[position],
            axis_labels=(str(names[0]), str(names[1])),
        )
        return display.plot(show_colorbar=show_colorbar, ax=ax)

    def plot(self, *, show_colorbar: bool = True, ax: Axes | None = None) -> Self:
        """Draw everything.

        Parameters
        ----------
        show_colorbar : bool, default=True
            Whether to draw the scale of the colours.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ShareSurfaceDisplay
            The display.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = self.ax_.get_figure()
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
        self.boundary_ = None
        if self.probability.min() < 0.5 < self.probability.max():
            self.boundary_ = self.ax_.contour(
                self.xx0, self.xx1, self.probability, levels=[0.5], colors=["0.1"], linewidths=1.6
            )
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
        self.ax_.set_aspect("equal")
        self.ax_.set(xlim=self.xx0[0, [0, -1]], ylim=self.xx1[[0, -1], 0])
        self.ax_.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        if show_colorbar:
            label = f"share and probability of {self.class_of_interest}"
            self.ax_.figure.colorbar(self.surface_, ax=self.ax_, label=label)
        return self


class ShareCalibrationDisplay:
    """Shares that the model predicts for groups against those given, one point a group.

    Points on the diagonal are met. The larger a group, the larger its point. Create it with
    :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    given : ndarray of shape (n_groups,)
        The given shares.
    predicted : ndarray of shape (n_groups,)
        The predicted shares.
    sizes : ndarray of shape (n_groups,)
        Weights of the groups.
    class_of_interest : object
        The class, for the labels of the axes.
    name : str or None, default=None
        What the points are called in a legend; None for no legend.

    Attributes
    ----------
    effective_labels_ : float
        About how many labelled rows the given shares are worth.
    error_ : float
        Mean absolute difference of the shares, groups counted by their sizes.
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    points_ : matplotlib PathCollection
        The groups.
    diagonal_ : matplotlib Line2D
        Where predicted and given shares are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import GroupProbabilitySVM
    >>> from scarce.proportions import ShareCalibrationDisplay
    >>> X = np.random.default_rng(0).normal(size=(240, 2))
    >>> groups = np.repeat(["a", "b", "c"], 80)
    >>> share = np.repeat([0.0, 0.5, 1.0], 80)
    >>> model = GroupProbabilitySVM().fit(X + share[:, None], share, groups)
    >>> display = ShareCalibrationDisplay.from_estimator(model, X, share, groups)
    >>> display.given
    array([0. , 0.5, 1. ])
    """

    def __init__(
        self,
        given: Array,
        predicted: Array,
        *,
        sizes: Array,
        class_of_interest: Any,
        name: str | None = None,
    ) -> None:
        self.given = given
        self.predicted = predicted
        self.sizes = sizes
        self.class_of_interest = class_of_interest
        self.name = name
        self.error_ = float(np.average(np.abs(predicted - given), weights=sizes))
        self.effective_labels_ = effective_labels(given, sizes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        groups: Any,
        *,
        sample_weight: Any = None,
        class_of_interest: Any = None,
        response_method: str = "predict_proba",
        name: str | None = None,
        ax: Axes | None = None,
        **scatter_kw: Any,
    ) -> Self:
        """Plot the shares predicted by a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            The fitted classifier.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows of the groups.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Shares of each row's group, as in fit.
        groups : array-like of shape (n_samples,)
            Group of each row, as in fit. Common rows and those of no group are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in their groups.
        class_of_interest : object, default=None
            One of ``classes_``, by default the second of two. Must be given for several classes.
        response_method : {"predict_proba", "predict"}, default="predict_proba"
            A group's predicted share: the mean probability of its rows, or the share of the class
            among their predicted labels.
        name : str or None, default=None
            What the points are called in a legend; None for no legend.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **scatter_kw : dict
            Passed on to matplotlib's `scatter`.

        Returns
        -------
        ShareCalibrationDisplay
            The display.
        """
        check_is_fitted(estimator)
        if response_method not in ("predict_proba", "predict"):
            raise ValueError(
                f"response_method must be 'predict_proba' or 'predict', got {response_method!r}"
            )
        position = _position(estimator, class_of_interest)
        chosen = estimator.classes_[position]
        if response_method == "predict":
            response = (estimator.predict(X) == chosen).astype(float)
        else:
            response = estimator.predict_proba(X)[:, position]
        codes, ids = read_groups(groups, response.size)
        shares = read_shares(y, response.size)
        given = _column(group_values(shares, codes, ids), position, len(estimator.classes_))
        weights = plain_weights(sample_weight, response)
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        sizes = np.bincount(codes[rows], weights[rows], minlength=len(ids))
        kept = sizes > 0
        if not kept.any():
            raise ValueError("groups has no group with a row of positive weight: nothing to draw")
        sums = np.bincount(codes[rows], weights[rows] * response[rows], minlength=len(ids))
        display = cls(
            given[kept],
            sums[kept] / sizes[kept],
            sizes=sizes[kept],
            class_of_interest=chosen,
            name=name,
        )
        return display.plot(ax=ax, **scatter_kw)

    def plot(self, *, ax: Axes | None = None, **scatter_kw: Any) -> Self:
        """Draw the groups and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **scatter_kw : dict
            Passed on to matplotlib's `scatter`.

        Returns
        -------
        ShareCalibrationDisplay
            The display.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = self.ax_.get_figure()
        (self.diagonal_,) = self.ax_.plot(
            [0, 1], [0, 1], color="0.6", linestyle="dashed", linewidth=1.0, zorder=1
        )
        style: dict[str, Any] = {
            "s": 30.0 * self.sizes / self.sizes.mean(),  # areas
            "alpha": 0.7,
            "edgecolors": "white",
            "linewidths": 0.5,
            "label": self.name,
        } | scatter_kw
        self.points_ = self.ax_.scatter(self.given, self.predicted, zorder=2, **style)
        self.ax_.set_aspect("equal")
        self.ax_.set(
            xlim=(-0.04, 1.04),
            ylim=(-0.04, 1.04),
            xlabel=f"given share of {self.class_of_interest}",
            ylabel=f"predicted share of {self.class_of_interest}",
        )
        if style["label"] is not None:
            self.ax_.legend(frameon=False)
        self.ax_.annotate(
            f"worth about {self.effective_labels_:.0f} labels",
            (0.98, 0.03),
            xycoords="axes fraction",
            ha="right",
            fontsize="small",
            color="0.4",
        )
        return self


def _position(estimator: Any, class_of_interest: Any) -> int:
    """Return the position of a class among those of the fit."""
    classes = list(estimator.classes_)
    if class_of_interest is None:
        if len(classes) > 2:
            raise ValueError(f"class_of_interest must be one of the {len(classes)} {classes}")
        return 1
    if class_of_interest not in classes:
        raise ValueError(f"class_of_interest must be one of {classes}, got {class_of_interest!r}")
    return classes.index(class_of_interest)


def _column(shares: Array, position: int, n_classes: int) -> Array:
    """Return the shares of one class; one column is that of the second of two."""
    if shares.shape[1] == 1 and n_classes == 2:
        return np.asarray(shares[:, 0] if position == 1 else 1.0 - shares[:, 0])
    if shares.shape[1] != n_classes:
        raise ValueError(f"y has shares of {shares.shape[1]} classes, the fit had {n_classes}")
    return np.asarray(shares[:, position])
