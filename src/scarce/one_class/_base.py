"""What one-class models of one task share: fit, decision and prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin, clone

from scarce._arrays import Array
from scarce._chunked_fit import ChunkedFit
from scarce._frame import (
    Interval,
    Solved,
    StrOptions,
    checked_weights,
    collected_notes,
    fit_frame,
    is_optimal,
    keep_quality,
    note,
)
from scarce._kernel_machine import Sample
from scarce._predictions import OneClassPredictions, on_boundary
from scarce._warnings import NarrowWidthWarning
from scarce.held_out import (
    LAZILY,
    WIDE_NU,
    WIDER,
    SmallSample,
    TrimmedOffset,
    coefficients_without,
    distinct_in_fixed_order,
    landmarks_without,
    left_out_parts,
    mass_without,
    most_dropped,
    odd_groups,
    odd_rows,
    representatives,
    scores_by_parts,
)
from scarce.kernels import make_operator, nystroem_operator, weighted_scores
from scarce.reductions import OneClassModel, SVDDModel
from scarce.solvers import QuadraticProgram, Solution
from scarce.updates import UpdatedOneClass

if TYPE_CHECKING:
    from scarce.chunks import Chunks


SAME = 1e-9  # relative differences of a diagonal up to which it is constant


@dataclass(frozen=True)
class Answer:
    """What the solution of a one-class problem says, wherever the rows are."""

    solution: Solved  # what it is worth
    objective: float  # of the primal problem
    # offset, rounding: return the offset, and how far rounding may move a score that reaches it
    offset: Callable[[], float]
    rounding: Callable[[], float]
    far: float = 0.0  # score of a row infinitely far from all others, where the kernel vanishes
    training: float = 0.0  # offset of the training rows
    dropped: tuple[Array, Array] | None = None  # scores and weights of rows that took no part


class OneClassMachine(
    TrimmedOffset, OneClassPredictions, OutlierMixin, UpdatedOneClass, ChunkedFit
):
    """Base of one-class models: rows whose score reaches the offset are inside."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        **UpdatedOneClass._allowed_values,
        **TrimmedOffset._allowed_values,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "offset": [StrOptions({"training", "left_out"}), None],
    }

    _unsettled: dict[str, Any] | None = None  # what finds held-out scores not yet needed

    # A model says what its program is, and how to read the solution.

    _score_factor: ClassVar[float] = 1.0  # of a sum over coefficients in a score

    @abstractmethod
    def _program(self, sample: Sample) -> QuadraticProgram:
        """Return the program, in the scale of `OneClassSVM`."""

    @abstractmethod
    def _read(
        self, program: QuadraticProgram, solution: Solution, sums: Array | None, largest: float
    ) -> OneClassModel | SVDDModel:
        """Return the model; ``sums`` are those over an expansion that is not the solution's.

        ``largest`` is the largest entry of the kernel's diagonal.
        """

    @abstractmethod
    def _score_rounding(self, terms: Array, largest: float) -> float:
        """Return how far rounding may move the score of a row on the boundary."""

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The sample; for a precomputed kernel, the kernel matrix.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 is the same as the row given twice, and a row of weight 0 or
            less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._drop_rows()
        return self._stored(self._answer(X, sample_weight))

    def _stored(self, answer: Answer, *, late: bool = False) -> Self:
        """Store what the solution says; the threshold only when it is asked for, if ``late``."""
        self.n_iter_ = max(1, answer.solution.n_iter)
        self.objective_ = answer.objective
        keep_quality(self, [answer.solution])
        self._expect_nothing()
        self._forget_left_out()
        if answer.dropped is not None:
            self._keep_dropped(*answer.dropped)
        if late:
            self._expect_offset(answer.far, answer.training)
        else:
            self._store_offset(answer.offset(), answer.rounding, answer.far)
        return self

    def _store_offset(self, offset: float, rounding: Callable[[], float], far: float) -> None:
        self.offset_ = np.array([offset])
        self.intercept_ = -self.offset_
        self._rounding = rounding()
        if self._kernel_type.vanishes:
            self._note_if_all_inside(far + self._rounding)

    def _answer(self, X: Any, sample_weight: Any) -> Answer:
        """Return what the solution of the problem says, of rows in memory or in chunks."""
        self._forget_reads()
        rule = self._offset_rule
        if self._reads_chunks(X):
            self._drop_nothing_of_chunks()
            return self._answer_of_chunks(self._opened(X, sample_weight=sample_weight))
        X = self._validated(X, reset=True)
        weights = checked_weights(sample_weight, X)
        if rule == "training" and self._takes_bands(X):
            self._drop_nothing_of_chunks()
            given = None if sample_weight is None else weights
            return self._answer_of_chunks(self._in_chunks(X, sample_weight=given))
        return self._answer_of_rows(X, weights)

    def _answer_of_rows(self, X: Any, weights: Array) -> Answer:
        """Return that of checked rows in memory."""
        self.dropped_, still_counted = self._rows_to_drop(X, weights)
        if not self.dropped_.size:
            return self._answer_of_sample(self._sample(X, weights))
        taking = weights.copy()
        taking[self.dropped_] = 0.0
        answer = self._answer_of_sample(self._sample(X, taking))
        return replace(answer, dropped=(self._checked_scores(X[self.dropped_]), still_counted))

    def _answer_of_sample(self, sample: Sample) -> Answer:
        """Return that of the rows that take part."""
        largest = float(np.abs(sample.operator.diagonal()).max())
        program, solution = self._solved(sample)
        scale = self._coefficient_scale(program)
        terms = self._keep_expansion(sample, scale * solution.alpha)
        model = self._read(program, solution, self._approximate_sums(sample), largest)
        return Answer(
            solution=solution,
            objective=model.objective,
            offset=lambda: self._settled_offset(sample, program, solution.alpha, model.offset),
            rounding=lambda: self._score_rounding(terms, largest),
            # Far from all rows only the linear term is left.
            far=self._score_factor * scale * float(program.linear.min()),
            training=model.offset,
        )

    def _solved(self, sample: Sample) -> tuple[QuadraticProgram, Solution]:
        """Return the program of a sample and its solution."""
        found = self._follow()
        if found is not None:
            return found
        program = self._program(sample)
        last = sample.part(self._last_dual_variables(sample.X.shape[0]))
        scale = self._coefficient_scale(program)
        return program, self._solve(program, None if last is None else last / scale)

    def _linear_term(self, sample: Sample, mass: float) -> Array | None:
        """Return the linear term, for variables of that sum; None if there is none."""
        return None

    def _answer_of_chunks(self, chunks: Chunks) -> Answer:
        """Return that of rows in chunks, if the model can be fitted to them."""
        raise NotImplementedError

    def _coefficient_scale(self, program: QuadraticProgram) -> float:
        """Return the coefficient of a row whose dual variable is 1."""
        return 1.0

    def _keep_expansion(self, sample: Sample, coefficients: Array) -> Array:
        """Store the expansion; return its coefficients."""
        support, terms = self._expansion(sample.operator, coefficients)
        self._keep(sample.X, sample.rows[support], terms)
        return np.asarray(terms)

    def _approximate_sums(self, sample: Sample) -> Array | None:
        """Return the kept expansion on the sample, if it is not exactly that of the solution."""
        if self.approximation is None:
            return None
        part = self._part(sample.X, sample.rows)
        return weighted_scores(
            part, self.support_vectors_, self._dense_dual(), self._fitted_kernel()
        )

    # Rows that may not belong to the class.

    def _rows_to_drop(self, X: Any, weights: Array) -> tuple[Array, Array]:
        """Return the rows that `contamination` leaves out, and how often each still counts."""
        if not self._contamination:
            return np.empty(0, np.intp), np.empty(0)
        taking = np.flatnonzero(weights)
        X, weights = self._part(X, taking), weights[taking]
        wide = self._held_out_model(X, weights, wide=True)
        first, members = distinct_in_fixed_order(X)
        places, groups = representatives(
            lambda i, j: wide._values_of(X, first[i], first[j]),
            members,
            weights,
            most_dropped(self._contamination),
        )
        if groups:  # rows that are as one are held out as one
            stand = first[places]
            alike = X[np.ix_(stand, stand)] if self._kernel_type.pairwise else X[stand]
            together = self._held_out_model(X, weights, alike=alike).left_out_scores_
            groups = odd_groups(groups, together, weights)
        odd, counted = odd_rows(
            self._contamination,
            wide.left_out_scores_,
            lambda: self._held_out_model(X, weights).left_out_scores_,
            weights,
            groups,
        )
        return taking[odd], counted

    def _held_out_model(
        self, X: Any, weights: Array, wide: bool = False, alike: Any = None
    ) -> Self:
        """Return a model with held-out scores, with this kernel or a wide one.

        ``alike`` are rows to fit instead of those that the width is found from.
        """
        model = clone(self).set_params(contamination=0.0, offset="left_out")
        if wide:
            model.set_params(gamma="scale", nu=WIDE_NU)
        if wide or alike is not None:
            model._settled_kernel(X, weights)
            model.set_params(gamma=model._gamma / (WIDER if wide else 1.0))
        with collected_notes():  # said of the fit that counts
            fitted: Self = model.fit(X if alike is None else alike, sample_weight=weights)
        return fitted

    # The offset.

    def _settled_offset(
        self, sample: Sample, program: QuadraticProgram, alpha: Array, training: float
    ) -> float:
        """Return the offset of the training rows, or that of their held-out scores."""
        if self._offset_rule == "left_out":
            return self._left_out_threshold(sample, program, alpha, training)
        if self.gamma == "neighbors" and not self._kernel_type.opaque:
            note(
                'gamma="neighbors" is a narrow width, with which the offset of the training rows '
                'rejects far more new rows than nu; use offset="left_out"',
                NarrowWidthWarning,
            )
        return training

    def _left_out_threshold(
        self, sample: Sample, program: QuadraticProgram, alpha: Array, training: float
    ) -> float:
        rows = self._part(sample.X, sample.rows)
        first, members = distinct_in_fixed_order(rows)
        self._check_left_out_rows(first.size)
        if not self._kernel_type.pairwise:
            self._note_if_standardised(rows)
        weights = np.bincount(members, sample.weights)
        all_members = np.full(sample.X.shape[0], -1)
        all_members[sample.rows] = members
        merged = np.bincount(members, alpha)
        linear = program.linear[first]
        # A score is ``scale ((K a)_i + linear_i)``.
        scale = self._score_factor * self._coefficient_scale(program)
        pairwise = self._kernel_type.pairwise
        distinct = rows[np.ix_(first, first)] if pairwise else rows[first]
        if self.approximation is not None or first.size > LAZILY:
            landmarks = None if self.approximation is None else members[self._landmarks]
            scores = linear + scores_by_parts(
                lambda part: self._sums_without(distinct, part, weights, merged, linear, landmarks),
                first.size,
                left_out_parts(first.size, self.random_state),
                training / scale - float(linear[0]),
            )
            return self._keep_left_out(scale * scores, weights, all_members)
        kernel = self._fitted_kernel()
        matrix = np.asarray(distinct if pairwise else kernel.values(distinct, distinct), float)
        small = SmallSample(matrix, weights, linear, merged, self.tol, kernel.definite)
        # Of all rows, dropped ones too, which the threshold is among.
        all_weight = float(weights.sum()) + sum(self._dropped_weights)
        rate = self._rate * (all_weight + 1.0) / (float(weights.sum()) + 1.0)
        scores, known = small.lazily(min(rate, 1.0))
        if not small.solved:
            self._note_early_ends()
        if not known.all():
            # What it takes to find the others, should anyone ask for p-values.
            self._unsettled = {
                "matrix": small.matrix,
                "weights": weights,
                "linear": linear,
                "alpha": merged,
                "scores": scale * scores,
                "members": all_members,
                "known": known,
                "unit": scale,  # as model files name it
            }
        all_exact = bool(known.all())
        return self._keep_left_out(scale * scores, weights, all_members, all_exact=all_exact)

    def _sums_without(
        self,
        rows: Any,
        part: Array,
        weights: Array,
        alpha: Array,
        linear: Array,
        landmarks: Array | None,
    ) -> tuple[Array, float]:
        """Return sums over the coefficients of the model without a part, for the rows of the part.

        And the sum on its margin; 0 where that depends on the row.
        """
        rest = np.setdiff1d(np.arange(weights.size), part)
        kernel, others = self._fitted_kernel(), self._part(rows, rest)
        if landmarks is None:
            operator: Any = make_operator(others, kernel)
        else:
            left = landmarks_without(landmarks, rest, self._choose_landmarks)
            operator = nystroem_operator(others, kernel, left)
        mass = float(alpha.sum())
        total = mass_without(mass, weights, part)
        coefficients, solution = coefficients_without(
            operator,
            weights[rest],
            linear[rest],
            alpha[rest],
            mass,
            total,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )
        if not is_optimal(solution, self.tol):
            self._note_early_ends()
        margin = -float(solution.multipliers[0]) * mass / total
        support = np.flatnonzero(coefficients)
        terms = coefficients[support]
        if landmarks is not None:
            terms = operator.landmark_weights(support, terms[None, :])[0]
            support = left
        if self._kernel_type.pairwise:
            sums = rows[np.ix_(part, rest[support])] @ terms
        else:
            sums = weighted_scores(rows[part], others[support], terms[None, :], kernel)
        same = np.ptp(linear) <= SAME * np.abs(linear).max()
        return sums, margin - float(linear[0]) if same else 0.0

    def _settle_left_out(self) -> None:
        state = self._unsettled
        if state is None:
            return
        small = SmallSample(
            state["matrix"],
            state["weights"],
            state["linear"],
            state["alpha"],
            self.tol,
            self._fitted_kernel().definite,
        )
        scores = state["scores"].copy()
        for row in np.flatnonzero(~state["known"]):
            # The threshold stays what it is: these rows lie beyond it.
            exact = state["unit"] * small.sums_without(np.array([row]))[0]
            scores[row] = max(exact, self.offset_[0])
        if not small.solved:
            self._note_early_ends()
        self._sort_left_out(scores, small.weights, state["members"])
        del self._unsettled

    @property
    def n_support_(self) -> Array:
        """Number of support vectors."""
        return np.array([len(self.support_)], dtype=np.int32)

    def _scores_inside(self, X: Any) -> Array:
        return on_boundary(self._raw_scores(X), self.offset_, self._rounding)
