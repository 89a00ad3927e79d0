"""What one-class machines of one task share: the fitted model, decision and prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from scarce._arrays import Array
from scarce._boundary import on_boundary
from scarce._kernel_machine import KernelMachine, Sample
from scarce.kernels import weighted_scores


class OneClassMachine(OutlierMixin, KernelMachine):
    """Base of one-class machines: rows whose score reaches the offset are inside."""

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
