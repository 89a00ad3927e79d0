"""What one-class models of several tasks share: the fitted weight vectors, and scores by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._chunked_fit import ChunkedFit
from scarce._data import known_tasks, lazily
from scarce._frame import Solved, note
from scarce._kernel_machine import KernelMachine
from scarce._kernel_sum import KernelSum
from scarce._predictions import no_nan, on_boundary, rounding_error, warn_if_zero
from scarce._sklearn import ROUTES_SCORES
from scarce._warnings import UnrelatedSourceWarning
from scarce.held_out import TrimmedOffset, left_out_parts, scores_by_parts
from scarce.kernels import Kernel, as_rows
from scarce.one_class._one_class_svm import OneClassSVM
from scarce.one_class._shift_rounds import LinearShiftRounds, ShiftRounds
from scarce.one_class._task_sample import (
    HELPS,
    SourceMoves,
    TargetLeftOut,
    TaskSample,
    check_movable,
    checked_radii,
    neighbour_radii,
    target_margin,
    target_p_value,
    unrelated,
)
from scarce.reductions import TaskProblem
from scarce.solvers import QuadraticProgram, Solution, feasible_start, one_class_offset, solve

if TYPE_CHECKING:
    from scarce._by_chunks import Plan


@dataclass(frozen=True)
class TaskAnswer:
    """What a solution of all tasks says, wherever the rows are."""

    solution: Solved  # what it is worth
    objective: float  # of the primal problem
    # n_iter, n_rounds: steps and rounds taken
    n_iter: int
    n_rounds: int
    converged: bool  # whether the rounds settled
    offsets: Array  # (n_tasks,): order statistics of the tasks' scores
    # held_out_offset, rounding: return the target's offset from held-out scores, and how far
    # rounding may move a score
    held_out_offset: Callable[[], float]
    rounding: Callable[[], float]


class TaskMachine(TrimmedOffset, OutlierMixin, ChunkedFit):
    """Base of one-class models with a hyperplane and an offset for every task."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        **KernelMachine._allowed_values,
        **TrimmedOffset._allowed_values,
    }
    _published_offset = "original"

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"sample_domain": True}
    if ROUTES_SCORES:
        __metadata_request__score_samples: ClassVar[dict[str, bool]] = {"sample_domain": True}

    converged_: bool
    domains_: Array
    max_rounds: int
    radii_: Any  # None, as shifts_, where rows come in chunks
    shifts_: Any
    radius: Any
    radius_neighbors: int | None
    radius_scale: float
    relation: str
    round_tol: float
    safeguard: bool
    source_p_value_: dict[int, float]
    task_coef_: Array
    task_dual_coef_: Array
    task_offset_: Array
    task_shift_: Array | None = None  # of models that were saved before there was any
    _rounding: float

    # Which rows take part, and where.

    def _without_dropped(self, X: Any, weights: Array, target: Array) -> tuple[Array, Array]:
        """Return the weights, zero for rows of the target that `contamination` leaves out.

        And how often each of these still counts for the threshold.
        """
        rows = np.flatnonzero(target)
        own = self._one_class(contamination=self._contamination, offset="left_out")
        odd, still_counted = own._rows_to_drop(self._part(X, rows), weights[rows])
        self.dropped_ = rows[odd]
        taking = weights.copy()
        taking[self.dropped_] = 0.0
        return taking, still_counted

    def _one_class(self, **other: Any) -> OneClassSVM:
        """Return a model of one task with the same kernel."""
        given = {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}
        return OneClassSVM(**(given | {"nu": 0.1} | other))

    def _related(
        self, X: Any, weights: Array, all_tasks: Array
    ) -> tuple[Any, Array, Array, SourceMoves | None]:
        """Return rows, weights and tasks with sources moved, and those left out that do not help.

        And how far sources are to be moved, should rows of the target be left out.
        """
        self.source_p_value_, self.task_shift_, moves = {}, None, None
        automatic = self.relation == "auto"
        rows = [np.flatnonzero((all_tasks == t) & (weights > 0)) for t in range(self.domains_.size)]
        pairwise, opaque = self._kernel_type.pairwise, self._kernel_type.opaque
        if automatic and len(rows) > 1 and not (pairwise or opaque or sparse.issparse(X)):
            moves = SourceMoves.of(X, all_tasks, weights, len(rows))
            self.task_shift_ = moves.shifts(X[rows[0]], weights[rows[0]])
            X = (X + self.task_shift_[all_tasks]).astype(X.dtype)
        # How alike tasks are does not depend on the kernel, where rows are numbers.
        other = {} if pairwise or opaque else {"kernel": "rbf", "gamma": "neighbors"}
        for domain, source in zip(self.domains_[1:].tolist(), rows[1:], strict=True):
            model = self._one_class(**other)
            p_value = target_p_value(X, source, rows[0], weights, model, pairwise)
            self.source_p_value_[domain] = p_value
            problem = unrelated(domain, p_value, self.relation)
            if problem is not None:
                note(problem, UnrelatedSourceWarning)
        if automatic:
            helps = [True] + [p_value > HELPS for p_value in self.source_p_value_.values()]
            used = np.flatnonzero(helps)
            weights = np.where(np.isin(all_tasks, used), weights, 0.0)
            all_tasks = np.minimum(np.searchsorted(used, all_tasks), used.size - 1)
            self.domains_ = self.domains_[used]
            if moves is not None and self.task_shift_ is not None:
                moves, self.task_shift_ = SourceMoves(moves.means[used]), self.task_shift_[used]
        return X, weights, all_tasks, moves

    # Rows in chunks.

    def _answer_of_chunks(self, X: Any, values: dict[str, Any], sample_radius: Any) -> TaskAnswer:
        """Return what a solution by bands says; store its weights. No row is moved or dropped."""
        reader = import_module("scarce.one_class._tasks_by_chunks")
        self._drop_nothing_of_chunks()
        self._refuse_radii(sample_radius)
        self.source_p_value_, self.task_shift_ = {}, None
        chunks = self._opened(X, **values)
        named = reader.names_domains(chunks)
        plan = self._planned(chunks, reader.DOMAIN if named else None)
        self.domains_, sizes = reader.task_weights(plan.survey, named)
        parameters = self._task_parameters(sizes)
        problem, scale = TaskProblem(self.domains_, parameters), parameters.scale
        solution = self._solved_by_bands(
            plan, problem, scale * parameters.masses * parameters.costs * sizes
        )
        self._keep_task_weights(plan, solution.hyperplanes.raw / scale)
        largest = plan.largest
        warn_if_zero(-solution.objective / scale / scale, parameters.reach * largest, plan.kernel)

        def held_out_offset() -> float:
            found = reader.held_out_target(self, plan, problem, solution)
            self._count_reads(found.reads)
            if not found.solved:
                self._note_early_ends()
            return self._keep_left_out(found.scores, found.weights, found.members)

        def rounding() -> float:
            if plan.landmarks is None:  # one inner product with the weight vector
                lengths = np.linalg.norm(self.task_coef_, axis=1)
                return rounding_error(lengths.max(keepdims=True), np.sqrt(largest))
            return self._boundary_rounding(
                self.task_dual_coef_, largest, self.task_offset_, self._boundary_share
            )

        return TaskAnswer(
            solution=solution,
            objective=solution.primal_objective / scale / scale,
            n_iter=solution.n_iter,
            n_rounds=1,
            converged=solution.status == "optimal",
            offsets=plan.offsets(solution, problem, 1.0 / (parameters.costs * sizes)) / scale,
            held_out_offset=held_out_offset,
            rounding=rounding,
        )

    def _refuse_radii(self, sample_radius: Any) -> None:
        """Refuse what moves rows, which passes over chunks do not keep."""
        if sample_radius is not None or self.radius == "knn" or self.radius != 0:
            given = "sample_radius" if sample_radius is not None else f"radius={self.radius!r}"
            raise ValueError(
                f"{given} moves every row, which needs all rows in memory; rows in chunks are "
                "fitted with radius=0 and without sample_radius"
            )

    def _keep_task_weights(self, plan: Plan, raw: Array) -> None:
        """Store the weight vectors as combinations of landmarks, or in the features themselves."""
        self._keep_planned(plan, raw[0])
        self.radii_ = self.shifts_ = None
        self.task_dual_coef_ = raw
        if plan.landmarks is None:
            self.task_coef_ = self.support_vectors_ = raw
            self.task_dual_coef_ = np.eye(raw.shape[0])
            self.dual_coef_ = self.task_dual_coef_[:1]

    # Solving.

    def _rounds(self, *, rows: Any, kernel: Kernel, **problem: Any) -> ShiftRounds:
        """Return rounds, not yet run, for some rows."""
        kind = LinearShiftRounds if kernel.explicit else ShiftRounds
        approximated = self.approximation is not None and not kernel.explicit
        return kind(
            rows=rows,
            kernel=kernel,
            safeguard=self.safeguard,
            landmarks=self._choose_landmarks(rows.shape[0]) if approximated else None,
            **problem,
        )

    def _left_out_offset(
        self, full: ShiftRounds, sample: TaskSample, members: Array, moves: SourceMoves | None
    ) -> float:
        """Return the target's offset from its held-out scores."""
        self._check_left_out_rows(sample.n_target)
        if not full.kernel.pairwise:
            self._note_if_standardised(full.rows[sample.first[: sample.n_target]])
        by_rule = self.radius == "knn" and not sample.given_radii
        without = TargetLeftOut(
            full,
            sample,
            solve=self._solve_quietly,
            radii=self._neighbour_radii if by_rule else None,
            draw=self._choose_landmarks,
            moves=moves,
            shifts=self.task_shift_,
            tol=self.tol,
            round_tol=self.round_tol,
            max_rounds=self.max_rounds,
        )
        parts = left_out_parts(sample.n_target, self.random_state)
        scores = scores_by_parts(without.scores, sample.n_target, parts, target_margin(full))
        if not without.solved:
            self._note_early_ends()
        return self._keep_left_out(scores, sample.weights[: sample.n_target], members)

    def _radii(
        self, X: Any, rows: Array, tasks: Array, weights: Array, sample_radius: Any
    ) -> Array:
        """Return the radii of all rows; those that take no part have none."""
        radii, given = np.zeros(X.shape[0]), self.radius
        if sample_radius is not None:
            given = checked_radii(sample_radius, X.shape[0])[rows]
        by_rule = isinstance(given, str)
        if by_rule or np.any(given):
            check_movable(X, self.kernel, self._kernel_type)
            radii[rows] = self._neighbour_radii(X[rows], tasks, weights) if by_rule else given
        return radii

    def _neighbour_radii(self, rows: Any, tasks: Array, weights: Array) -> Array:
        found = neighbour_radii(rows, tasks, weights, self.radius_neighbors)
        return np.asarray(self.radius_scale * found)

    def _solve_quietly(self, program: QuadraticProgram, start: Array | None) -> Solution:
        return solve(
            program,
            tol=self.tol,
            max_iter=self.max_iter,
            start=None if start is None else feasible_start(program, start),
            cache_size=self.cache_size,
        )

    # The fitted model.

    def _note_if_unsettled(self, rounds: ShiftRounds, converged: bool) -> None:
        """Say that the rounds ended before their objective settled."""
        if not converged and rounds.solution.status != "stopped":
            note(
                f"max_rounds={self.max_rounds} ended the fit before the objective settled: its "
                f"last values are {rounds.history['objective'][-2:]}, and round_tol="
                f"{self.round_tol:g}. Raise max_rounds or round_tol.",
                ConvergenceWarning,
            )

    def _keep_shifts(self, X: Any, rows: Array, all_tasks: Array, rounds: ShiftRounds) -> None:
        """Store how far rows moved, the moved support vectors, the weights of a linear kernel."""
        self.shifts_ = None
        if isinstance(rounds, LinearShiftRounds):
            self.task_coef_ = rounds.task_coef
            if rounds.directions is not None and not sparse.issparse(X):
                self.shifts_ = self.radii_[:, None] * rounds.directions[all_tasks]
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
                one_class_offset(scores[own], cost, rounds.weights[own])
                for own, cost in zip(members, rounds.parameters.costs, strict=True)
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
            Whose hyperplane scores each row; the target's by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        tasks = known_tasks(sample_domain, self.domains_, X.shape[0])
        if self.task_shift_ is not None and tasks.any():
            X = (X + self.task_shift_[tasks]).astype(X.dtype)
        return on_boundary(self._task_scores(X, tasks), self.task_offset_[tasks], self._rounding)

    def _task_scores(self, X: Any, tasks: Array) -> Array:
        """Return scores of checked rows, each by the hyperplane of its task."""
        if not self._kernel_type.explicit:
            return self._scores_of(X, self.task_dual_coef_, tasks)
        scores = np.zeros(X.shape[0])
        as_rows(X).project(0, scores.size, self.task_coef_, tasks, scores)
        return no_nan(scores)

    @lazily
    def decision_function(self, X: Any, *, sample_domain: Any = None) -> Array:
        """Return how far each row is inside its task's region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Whose hyperplane scores each row; the target's by default.

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
            Whose hyperplane scores each row; the target's by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        inside = self.decision_function(X, sample_domain=sample_domain) >= 0
        return np.where(inside, 1, -1).astype(np.intp)
