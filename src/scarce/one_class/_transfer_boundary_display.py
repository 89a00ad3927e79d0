"""A picture of a transfer model on two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import known_tasks
from scarce._displays import GridDisplay, grid_around, two_features, without_feature_names
from scarce.kernels import kernel_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The target, then the sources in turn: told apart with every kind of colour vision.
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


@dataclass(eq=False, repr=False, kw_only=True)
class TransferBoundaryDisplay(GridDisplay):
    """Boundaries of all tasks, the rows, their radii and where they were moved.

    Create it with :meth:`from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The rows as they were recorded.
    xx0, xx1 : ndarray of shape (resolution, resolution)
        The grid.
    axis_labels : tuple of str, default=("", "")
        Names of the two features.
    tasks : ndarray of int of shape (n_samples,)
        Position of each row's task among `names`.
    radii : ndarray of shape (n_samples,)
        Radii of the rows.
    shifts : ndarray of shape (n_samples, 2)
        How far each row was moved.
    responses : ndarray of shape (n_tasks, resolution, resolution)
        Every task's decision values on the grid.
    names : list of str
        Names of the tasks, the target's first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where everything was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    contours_ : list of matplotlib ContourSet or None
        Each task's boundary; None where it does not cross the grid.
    points_ : list of matplotlib PathCollection
        Each task's rows.
    circles_ : matplotlib PatchCollection or None
        The radii; None if there are none.
    arrows_ : matplotlib Quiver or None
        The shifts; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferOneClassSVM
    >>> from scarce.one_class import TransferBoundaryDisplay
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> domain = np.r_[np.zeros(20, int), np.full(10, -1)]
    >>> model = TransferOneClassSVM(radius=0.2).fit(X, sample_domain=domain)
    >>> display = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=domain)
    >>> display.names
    ['target', 'source 0']
    """

    tasks: Array
    radii: Array
    shifts: Array
    responses: Array
    names: list[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sample_domain: Any = None,
        grid_resolution: int = 150,
        margin: float = 0.1,
        show_radii: bool = True,
        show_shifts: bool = True,
        show_legend: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Plot a fitted transfer model and the rows it was fitted to.

        Parameters
        ----------
        estimator : TransferOneClassSVM or UOCTSVM
            The fitted estimator.
        X : array-like of shape (n_samples, 2)
            The rows given to `fit`.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Task of each row, as given to `fit`.
        grid_resolution : int, default=150
            Number of grid points per axis.
        margin : float, default=0.1
            What the grid adds on each side of the rows and radii, as a proportion of their extent.
        show_radii, show_shifts, show_legend : bool, default=True
            Whether to draw the radii as circles, the shifts as arrows, and a legend of the tasks.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        TransferBoundaryDisplay
            The display.
        """
        check_is_fitted(estimator)
        X, axis_labels = two_features(X, getattr(estimator, "feature_names_in_", ("", "")))
        # Rows of sources that the fit has left out are not drawn.
        left = np.setdiff1d(list(estimator.source_p_value_), estimator.domains_)
        drawn = np.ones(X.shape[0], dtype=bool)
        if left.size:
            drawn = ~np.isin(sample_domain, left)
            sample_domain = np.where(drawn, sample_domain, -1)
        tasks = known_tasks(sample_domain, estimator.domains_, X.shape[0])
        shifts = np.zeros(X.shape) if estimator.shifts_ is None else estimator.shifts_
        _check_same_rows(estimator, X, tasks, shifts)
        radii = estimator.radii_
        X, tasks, shifts, radii = X[drawn], tasks[drawn], shifts[drawn], radii[drawn]
        corners = (X - radii[:, None]).min(axis=0), (X + radii[:, None]).max(axis=0)
        xx0, xx1, grid = grid_around(*corners, grid_resolution, margin)
        display = cls(
            X,
            tasks=tasks,
            radii=radii,
            shifts=shifts,
            xx0=xx0,
            xx1=xx1,
            responses=_responses(estimator, grid).reshape(-1, *xx0.shape),
            names=["target"] + [f"source {domain}" for domain in estimator.domains_[1:]],
            axis_labels=axis_labels,
        )
        return display.plot(
            show_radii=show_radii, show_shifts=show_shifts, show_legend=show_legend, ax=ax
        )

    def _draw(
        self, *, show_radii: bool = True, show_shifts: bool = True, show_legend: bool = True
    ) -> None:
        self.circles_ = self._draw_radii() if show_radii and self.radii.any() else None
        self.arrows_ = self._draw_shifts() if show_shifts and self.shifts.any() else None
        n_tasks = len(self.names)
        # The target is drawn last, so that it lies on top.
        self.points_ = [self._draw_rows(task) for task in reversed(range(n_tasks))][::-1]
        self.contours_ = [self._draw_boundary(task) for task in reversed(range(n_tasks))][::-1]
        self._frame(equal=True)  # a radius is a circle only then
        if show_legend:
            self.ax_.legend(handles=self.points_)

    @property
    def _row_colours(self) -> Array:
        return np.array([_colour(task) for task in range(len(self.names))])[self.tasks]

    def _draw_radii(self) -> Any:
        from matplotlib.collections import PatchCollection
        from matplotlib.colors import to_rgba_array
        from matplotlib.patches import Circle

        rows = np.flatnonzero(self.radii)
        colours = self._row_colours[rows]
        return self.ax_.add_collection(
            PatchCollection(
                [Circle(tuple(self.X[row]), self.radii[row]) for row in rows],
                facecolors=to_rgba_array(colours, 0.05),
                edgecolors=to_rgba_array(colours, 0.3),
                linewidths=0.6,
            )
        )

    def _draw_shifts(self) -> Any:
        rows = np.flatnonzero(self.shifts.any(axis=1))
        return self.ax_.quiver(
            *self.X[rows].T,
            *self.shifts[rows].T,
            color=self._row_colours[rows],
            angles="xy",
            scale_units="xy",
            scale=1,
            units="dots",
            width=0.9,
            headwidth=5,
            headlength=5,
            headaxislength=4.5,
            alpha=0.75,
            zorder=2,
        )

    def _draw_rows(self, task: int) -> Any:
        rows = self.X[self.tasks == task]
        return self.ax_.scatter(
            rows[:, 0],
            rows[:, 1],
            s=26 if task == 0 else 12,
            color=_colour(task),
            edgecolors="white",
            linewidths=0.5,
            zorder=4 if task == 0 else 3,
            label=self.names[task],
        )

    def _draw_boundary(self, task: int) -> Any:
        return self._draw_level(
            self.responses[task],
            colors=[_colour(task)],
            linewidths=2.0 if task == 0 else 1.3,
            linestyles="solid" if task == 0 else "dashed",
            zorder=5,
        )


def _colour(task: int) -> str:
    """Return the target's colour, or one of the sources' in turn."""
    return COLOURS[0] if task == 0 else COLOURS[1 + (task - 1) % (len(COLOURS) - 1)]


def _check_same_rows(estimator: Any, X: Array, tasks: Array, shifts: Array) -> None:
    """Refuse rows other than those of the fit, to which radii and shifts belong."""
    if issparse(estimator.support_vectors_):
        raise ValueError("only estimators fitted to dense rows can be drawn")
    support = estimator.support_
    same = not kernel_type(estimator.kernel).pairwise and estimator.shape_fit_ == X.shape
    if estimator.task_shift_ is not None:
        shifts = shifts + estimator.task_shift_[tasks]
    if not same or not np.allclose(X[support] + shifts[support], estimator.support_vectors_):
        raise ValueError("X must be the rows that the estimator was fitted to")
    missing = np.setdiff1d(np.arange(estimator.domains_.size), tasks)
    if missing.size:
        raise ValueError(
            f"no row is of the tasks {estimator.domains_[missing].tolist()} of the fit; give the "
            "sample_domain that was given to fit"
        )


def _responses(estimator: Any, grid: Array) -> Array:
    """Return every task's decision values on the grid."""
    unnamed = without_feature_names(estimator)
    values = [
        unnamed.decision_function(grid, sample_domain=np.full(grid.shape[0], domain))
        for domain in estimator.domains_
    ]
    return np.array(values)
