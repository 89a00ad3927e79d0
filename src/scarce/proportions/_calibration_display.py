"""A picture of predicted against given proportions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import Display, show_legend
from scarce._frame import plain_weights
from scarce.proportions._groups import group_values, read_groups, read_shares
from scarce.proportions._share_loss import effective_labels
from scarce.proportions._shares import class_position, shares_of_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(eq=False, repr=False)
class ShareCalibrationDisplay(Display):
    """Proportions that the model predicts for groups against those given, one point per group.

    Points on the diagonal are met. The larger a group, the larger its point. Create it with
    :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    given : ndarray of shape (n_groups,)
        The given proportions.
    predicted : ndarray of shape (n_groups,)
        The predicted proportions.
    sizes : ndarray of shape (n_groups,)
        Weights of the groups.
    class_of_interest : object
        The class, for the labels of the axes.
    name : str or None, default=None
        What the points are called in a legend; None for no legend.

    Attributes
    ----------
    effective_labels_ : float
        About how many labelled rows the given proportions are worth.
    error_ : float
        Mean absolute difference of the proportions, groups counted by their sizes.
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    points_ : matplotlib PathCollection
        The groups.
    diagonal_ : matplotlib Line2D
        Where predicted and given proportions are equal.
    line_ : matplotlib Line2D
        The line of the held-out groups, with `from_left_out`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import GroupProbabilitySVM
    >>> from scarce.proportions import ShareCalibrationDisplay
    >>> X = np.random.default_rng(0).normal(size=(240, 2))
    >>> groups = np.repeat(["a", "b", "c", "d", "e"], 48)
    >>> share = np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], 48)
    >>> model = GroupProbabilitySVM().fit(X + share[:, None], share, groups)
    >>> display = ShareCalibrationDisplay.from_estimator(model, X, share, groups)
    >>> display.given
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    given: Array
    predicted: Array
    _: KW_ONLY
    sizes: Array
    class_of_interest: Any
    name: str | None = None
    line_: Line2D = field(init=False)

    def __post_init__(self) -> None:
        self.error_ = float(np.average(np.abs(self.predicted - self.given), weights=self.sizes))
        self.effective_labels_ = effective_labels(self.given, self.sizes)

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
        """Plot the proportions predicted by a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            The fitted classifier.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows of the groups.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Proportions of each row's group, as in fit.
        groups : array-like of shape (n_samples,)
            Group of each row, as in fit. Common rows and those of no group are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in their groups.
        class_of_interest : object, default=None
            One of ``classes_``, by default the second of two. Must be given for several classes.
        response_method : {"predict_proba", "predict"}, default="predict_proba"
            A group's predicted proportion: the mean probability of its rows, or the proportion of
            the class among their predicted labels.
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
        position = class_position(estimator, class_of_interest)
        chosen = estimator.classes_[position]
        if response_method == "predict":
            response = (estimator.predict(X) == chosen).astype(float)
        else:
            response = estimator.predict_proba(X)[:, position]
        codes, ids = read_groups(groups, response.size)
        shares = read_shares(y, response.size)
        given = shares_of_class(group_values(shares, codes, ids), position, len(estimator.classes_))
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

    @classmethod
    def from_left_out(
        cls,
        estimator: Any,
        *,
        class_of_interest: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **scatter_kw: Any,
    ) -> Self:
        """Plot the groups of the fit as predicted by models that were fitted without them.

        The line has the slope ``share_slope_``, how much of the differences between groups the
        columns explain: 1, the diagonal, for all of them and 0 for nothing. Above the axes is the
        cross-entropy of these groups beside that of a constant.

        Parameters
        ----------
        estimator : classifier
            A model from proportions, fitted with ``calibrate="em"``.
        class_of_interest : object, default=None
            One of ``classes_``, by default the second of two. Must be given for several classes.
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
        if not hasattr(estimator, "left_out_shares_"):
            raise ValueError(
                'estimator must be fitted with calibrate="em" and groups of several samples, which '
                "gives held-out groups to draw"
            )
        position = class_position(estimator, class_of_interest)
        given, predicted = (
            shares_of_class(each, position, len(estimator.classes_))
            for each in estimator.left_out_shares_
        )
        display = cls(
            given,
            predicted,
            sizes=estimator.left_out_sizes_,
            class_of_interest=estimator.classes_[position],
            name=name,
        )
        display.effective_labels_ = float(estimator.effective_labels_)
        display.plot(ax=ax, **scatter_kw)
        ends = np.array([given.min(), given.max()])
        middle = np.average([given, predicted], axis=1, weights=display.sizes)
        (display.line_,) = display.ax_.plot(
            ends,
            middle[1] + estimator.share_slope_ * (ends - middle[0]),
            color=tuple(np.asarray(display.points_.get_facecolor())[0, :3]),
            linewidth=1.5,
            zorder=1,
        )
        loss = estimator.left_out_loss_
        display.ax_.set_title(
            f"held-out groups: slope {estimator.share_slope_:.2f}\ncross-entropy "
            f"{loss['model']:.3f}, of a constant {loss['constant']:.3f}",
            fontsize="small",
        )
        return display

    def _draw(self, **scatter_kw: Any) -> None:
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
            xlabel=f"given proportion of class {self.class_of_interest}",
            ylabel=f"predicted proportion of class {self.class_of_interest}",
        )
        show_legend(self.ax_, style["label"])
        self.ax_.annotate(
            f"worth about {self.effective_labels_:.0f} labels",
            (0.98, 0.03),
            xycoords="axes fraction",
            ha="right",
            fontsize="small",
            color="0.4",
        )
