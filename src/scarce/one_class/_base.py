"""What one-class machines of one task share: the fitted model, decision and prediction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from scarce._arrays import Array
from scarce._boundary import on_boundary
from scarce._frame import StrOptions, note
from scarce._kernel_machine import KernelMachine, Sample
from scarce._left_out import left_out_parts, scores_by_parts
from scarce._left_out_offset import LeftOutOffset
from scarce._warnings import NarrowWidthWarning
from scarce.kernels import distinct_rows, make_operator, nystroem_operator, weighted_scores
from scarce.one_class._plain_left_out import LAZILY, SmallSample, coefficients_without


class OneClassMachine(LeftOutOffset, OutlierMixin, KernelMachine):
    """Base of one-class machines: rows whose score reaches the offset are inside."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelMachine._parameter_constraints,
        **LeftOutOffset._parameter_constraints,
        "offset": [StrOptions({"training", "left_out"})],
    }

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

    # The offset.

    def _settled_offset(
        self,
        sample: Sample,
        alpha: Array,
        training: float,
        linear: Array | None = None,
        unit: float = 1.0,
    ) -> Array:
        """Return the offset of the training rows, or that of their left-out scores.

        A score is ``unit ((K a)_i + linear_i)``.
        """
        self._forget_left_out()
        if self.offset == "left_out":
            return np.array([self._left_out_threshold(sample, alpha, linear, unit)])
        if self.gamma == "neighbors" and not self._kernel_type.opaque:
            note(
                'gamma="neighbors" is a narrow width, with which the offset of the training rows '
                'rejects far more fresh rows than nu; use offset="left_out"',
                NarrowWidthWarning,
            )
        return np.array([training])

    def _left_out_threshold(
        self, sample: Sample, alpha: Array, linear: Array | None, unit: float
    ) -> float:
        rows = self._part(sample.X, sample.rows)
        first, members = distinct_rows(rows)
        self._check_left_out_rows(first.size)
        weights = np.bincount(members, sample.weights)
        merged = np.bincount(members, alpha)
        linear = np.zeros(first.size) if linear is None else linear[first]
        pairwise = self._kernel_type.pairwise
        distinct = rows[np.ix_(first, first)] if pairwise else rows[first]
        if self.approximation is not None or first.size > LAZILY:
            scores = scores_by_parts(
                lambda part: self._scores_without(distinct, part, weights, merged, linear),
                first.size,
                left_out_parts(first.size, self.random_state),
            )
            return self._keep_left_out(unit * scores, weights)
        matrix = distinct if pairwise else self._fitted_kernel().values(distinct, distinct)
        small = SmallSample(np.asarray(matrix, float), weights, linear, merged, self.tol)
        scores, known = small.lazily(self.false_alarms)
        if not known.all():
            # What it takes to find the others, should anyone ask for p-values.
            order = np.argsort(scores, kind="stable")
            self._unsettled = {
                "matrix": small.matrix,
                "weights": weights,
                "linear": linear,
                "alpha": merged,
                "order": order,
                "known": known,
                "unit": unit,
            }
        return self._keep_left_out(unit * scores, weights)

    def _scores_without(
        self, rows: Any, part: Array, weights: Array, alpha: Array, linear: Array
    ) -> Array:
        """Return the scores of a part of the distinct rows by the model of the others."""
        rest = np.setdiff1d(np.arange(weights.size), part)
        kernel, others = self._fitted_kernel(), self._part(rows, rest)
        if self.approximation is None:
            operator: Any = make_operator(others, kernel)
        else:
            landmarks = self._choose_landmarks(rest.size)
            operator = nystroem_operator(others, kernel, landmarks)
        coefficients = coefficients_without(
            operator,
            weights[rest],
            linear[rest],
            alpha[rest],
            float(alpha.sum()),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )
        support = np.flatnonzero(coefficients)
        terms = coefficients[support]
        if self.approximation is not None:
            terms = operator.landmark_weights(support, terms[None, :])[0]
            support = landmarks
        if self._kernel_type.pairwise:
            return np.asarray(rows[np.ix_(part, rest[support])] @ terms + linear[part])
        sums = weighted_scores(rows[part], others[support], terms[None, :], kernel)
        return np.asarray(sums + linear[part])

    def _settle_left_out(self) -> None:
        state = getattr(self, "_unsettled", None)
        if state is None:
            return
        small = SmallSample(
            state["matrix"], state["weights"], state["linear"], state["alpha"], self.tol
        )
        scores = np.empty(small.weights.size)
        scores[state["order"]] = self._left_out_scores
        for row in np.flatnonzero(~state["known"]):
            # The threshold stays what it is: these rows lie beyond it.
            exact = state["unit"] * small.sums_without(np.array([row]))[0]
            scores[row] = max(exact, self.offset_[0])
        order = np.argsort(scores, kind="stable")
        self._left_out_scores = scores[order]
        self._left_out_weights = small.weights[order]
        del self._unsettled

    @property
    def n_support_(self) -> Array:
        """Number of support vectors."""
        return np.array([len(self.support_)], dtype=np.int32)

    def decision_function(self, X: Any) -> Array:
        """Return how far each row is inside the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive inside, negative outside, zero on the boundary.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    def score_samples(self, X: Any) -> Array:
        """Return the scores before the offset is subtracted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        return on_boundary(self._raw_scores(X), self.offset_, self._rounding)

    def predict(self, X: Any) -> Array:
        """Return +1 for rows inside the region or on its boundary and -1 for the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
