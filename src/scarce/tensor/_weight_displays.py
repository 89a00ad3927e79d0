"""Pictures of a fitted tensor model: its weight tensor and the factors that it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._displays import MARKED, Display, count_on_x_axis, several_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_PICTURES = 32  # more slices than anyone can look at


class _SeveralAxesDisplay(Display):
    """Pictures side by side, each on axes of its own."""

    axes_: list[Axes]

    def _take_several(self, ax: Any, count: int) -> None:
        self.axes_ = several_axes(ax, count)
        self.figure_ = self.axes_[0].get_figure()


class WeightDisplay(_SeveralAxesDisplay):
    """The weight tensor as an image, or as one image for each slice.

    Red cells speak for acceptance (for two classes: for ``classes_[1]``), blue ones against, white
    ones not at all. All images share one scale, which stands beside them in a new figure. Create it
    with :meth:`from_estimator`; the parameter is stored as an attribute.

    Parameters
    ----------
    weights : ndarray of shape (d1, ..., dN)
        The weight tensor. Weights of order one are drawn as one line of cells. The images are of
        the first two modes, one for each index of the others.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Where the images were drawn.
    figure_ : matplotlib Figure
        The figure of the first.
    images_ : list of matplotlib AxesImage
        The images.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSTM
    >>> from scarce.tensor import WeightDisplay
    >>> X = np.random.default_rng(0).normal(1.0, 0.2, size=(12, 4, 3))
    >>> display = WeightDisplay.from_estimator(OneClassSTM().fit(X))
    >>> display.weights.shape
    (4, 3)
    """

    def __init__(self, weights: Any) -> None:
        self.weights: Array = np.asarray(weights)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **image_kw: Any) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : OneClassSTM or STM
            The fitted estimator.
        ax : matplotlib Axes or list of Axes, default=None
            Where to draw, one for each image; a new figure by default.
        **image_kw : dict
            Passed on to matplotlib's `imshow`.

        Returns
        -------
        WeightDisplay
            The display.
        """
        check_is_fitted(estimator)
        return cls(_of_tensor_machine(estimator, "coef_")).plot(ax=ax, **image_kw)

    def _take_axes(self, ax: Any) -> None:
        count = self._slices.shape[2]
        if count > MOST_PICTURES:
            raise ValueError(
                f"weights of shape {self.weights.shape} have {count} slices, more than the "
                f"{MOST_PICTURES} that can be drawn; give WeightDisplay some of them"
            )
        self._take_several(ax, count)
        self._new = ax is None

    @property
    def _slices(self) -> Array:
        weights = np.atleast_2d(self.weights)
        return weights.reshape(*weights.shape[:2], -1)

    def _draw(self, **image_kw: Any) -> None:
        slices, others = self._slices, self.weights.shape[2:]
        largest = float(np.abs(slices).max()) or 1.0
        style: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest} | image_kw
        self.images_ = []
        for number, axes in enumerate(self.axes_):
            self.images_.append(axes.imshow(slices[:, :, number], **style))
            axes.set(xticks=[], yticks=[])
            if others:
                place = ", ".join(str(index) for index in np.unravel_index(number, others))
                axes.set_title(f"[:, :, {place}]")
        if self._new:  # axes of the caller's keep their size
            self.figure_.colorbar(self.images_[0], ax=self.axes_, label="weight")


class FactorDisplay(_SeveralAxesDisplay):
    """The factors of the weight tensor, one picture per mode and one curve per term.

    Create it with :meth:`from_estimator`; the parameter is stored as an attribute. The sign of a
    factor is only settled together with the others of its term.

    Parameters
    ----------
    factors : list of ndarray of shape (d_m, rank)
        The factors.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Where each mode was drawn.
    figure_ : matplotlib Figure
        The figure of the first.
    lines_ : list of list of matplotlib Line2D
        The curves of each mode.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSTM
    >>> from scarce.tensor import FactorDisplay
    >>> X = np.random.default_rng(0).normal(1.0, 0.2, size=(12, 4, 3))
    >>> display = FactorDisplay.from_estimator(OneClassSTM(rank=2, tol=1e-2).fit(X))
    >>> [len(lines) for lines in display.lines_]
    [2, 2]
    """

    def __init__(self, factors: Any) -> None:
        self.factors: list[Array] = [np.asarray(factor) for factor in factors]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_kw: Any) -> Self:
        """Draw the factors of a fitted model.

        Parameters
        ----------
        estimator : OneClassSTM or STM
            The fitted estimator.
        ax : list of matplotlib Axes, default=None
            Where to draw, one for each mode; a new figure by default.
        **line_kw : dict
            Passed on to matplotlib's `plot`.

        Returns
        -------
        FactorDisplay
            The display.
        """
        check_is_fitted(estimator)
        return cls(_of_tensor_machine(estimator, "factors_")).plot(ax=ax, **line_kw)

    def _take_axes(self, ax: Any) -> None:
        self._take_several(ax, len(self.factors))

    def _draw(self, **line_kw: Any) -> None:
        style: dict[str, Any] = MARKED | line_kw
        self.lines_ = []
        for mode, (axes, factor) in enumerate(zip(self.axes_, self.factors, strict=True)):
            axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
            places = np.arange(factor.shape[0])
            self.lines_.append([axes.plot(places, term, **style)[0] for term in factor.T])
            count_on_x_axis(axes)
            axes.set(xlabel=f"index of mode {mode}", ylabel="factor" if mode == 0 else "")


def _of_tensor_machine(estimator: Any, name: str) -> Any:
    if not hasattr(estimator, "factors_"):
        raise ValueError(
            f"{type(estimator).__name__} has no factors; only OneClassSTM and STM can be drawn"
        )
    return getattr(estimator, name)
