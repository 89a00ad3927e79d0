"""What one-class machines of several tasks share: the fitted planes, and scores by them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._boundary import on_boundary
from scarce._domains import known_tasks
from scarce._frame import keep_quality, note
from scarce._kernel_machine import KernelMachine
from scarce._kernel_sum import KernelSum
from scarce._left_out_offset import LeftOutOffset
from scarce.chunks._lazy import lazily
from scarce.kernels import as_rows
from scarce.one_class._linear_shift_rounds import LinearShiftRounds
from scarce.one_class._shift_rounds import ShiftRounds
from scarce.solvers import QuadraticProgram, Solution, feasible_start, one_class_offset, solve


class TaskMachine(LeftOutOffset, OutlierMixin, KernelMachine):
    """Base of one-class machines with a plane and an offset for every task."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelMachine._parameter_constraints,
        **LeftOutOffset._parameter_constraints,
    }
    _published_offset = "original"

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__score_samples: ClassVar[dict[str, bool]] = {"sample_domain": True}

    converged_: bool
    domains_: Array
    max_rounds: int
    radii_: Array
    round_tol: float
    task_coef_: Array
    task_dual_coef_: Array
    task_offset_: Array
    _rounding: float

    # Solving.

    def _solve_quietly(self, program: QuadraticProgram, start: Array | None) -> Solution:
        return solve(
            program,
            tol=self.tol,
            max_iter=self.max_iter,
            start=None if start is None else feasible_start(program, start),
            cache_size=self.cache_size,
        )

    # The fitted model.

    def _keep_rounds_quality(self, rounds: ShiftRounds) -> None:
        """Store what the last round is worth; warn of what falls short."""
        keep_quality(self, [rounds.solution])
        if not self.converged_ and rounds.solution.status != "stopped":
            note(
                f"max_rounds={self.max_rounds} ended the fit before the objective settled: its "
                f"last values are {rounds.history['objective'][-2:]}, and round_tol="
                f"{self.round_tol:g}. Raise max_rounds or round_tol.",
                ConvergenceWarning,
            )

    def _keep_shifts(self, X: Any, rows: Array, everyone: Array, rounds: ShiftRounds) -> None:
        """Store how far rows moved, the moved support vectors, the planes of a linear kernel."""
        self.shifts_ = None
        if isinstance(rounds, LinearShiftRounds):
            self.task_coef_ = rounds.task_coef
            if rounds.directions is not None and not sparse.issparse(X):
                self.shifts_ = self.radii_[:, None] * rounds.directions[everyone]
        elif rounds.shifts is not None:
            self.shifts_ = np.zeros(X.shape)
            self.shifts_[rows] = rounds.shifts
        if self.shifts_ is not None:
            moved = X[self.support_] + self.shifts_[self.support_]
            self.support_vectors_ = moved.astype(X.dtype)

    def _offsets(self, rounds: ShiftRounds) -> Array:
        """Return every task's offset, the order statistic of its rows' scores."""
        scores = rounds.scores if self.offset == "shifted" else rounds.original_scores()
        members = [rounds.tasks == task for task in range(self.domains_.size)]
        return np.array(
            [
                one_class_offset(scores[own], price, rounds.weights[own])
                for own, price in zip(members, rounds.planes.prices, strict=True)
            ]
        )

    def _kernel_sum(self) -> KernelSum | None:
        if self._kernel_type.explicit:
            return KernelSum(
                self._fitted_kernel(), self.task_coef_[:1], np.ones((1, 1)), self.intercept_
            )
        return super()._kernel_sum()  # of the target: the first line

    # Scoring.

    @lazily
    def score_samples(self, X: Any, *, sample_domain: Any = None) -> Array:
        """Return the scores before the offset is subtracted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Whose plane scores each row; the target's by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        tasks = known_tasks(sample_domain, self.domains_, X.shape[0])
        if self._kernel_type.explicit:
            scores = np.zeros(X.shape[0])
            as_rows(X).project(0, scores.size, self.task_coef_, tasks, scores)
        else:
            scores = self._scores_of(X, self.task_dual_coef_, tasks)
        return on_boundary(scores, self.task_offset_[tasks], self._rounding)

    @lazily
    def decision_function(self, X: Any, *, sample_domain: Any = None) -> Array:
        """Return how far each row is inside its task's region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Whose plane scores each row; the target's by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive inside, negative outside, zero on the boundary.
        """
        scores = self.score_samples(X, sample_domain=sample_domain)
        tasks = known_tasks(sample_domain, self.domains_, scores.size)
        return np.asarray(scores - self.task_offset_[tasks])

    @lazily
    def predict(self, X: Any, *, sample_domain: Any = None) -> Array:
        """Return +1 for rows inside the region or on its boundary and -1 for the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Whose plane scores each row; the target's by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        inside = self.decision_function(X, sample_domain=sample_domain) >= 0
        return np.where(inside, 1, -1).astype(np.intp)
