"""Kernel estimators whose fits also take rows in chunks; what reads these is loaded when needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._data import FeatureNames, comes_in_chunks, is_large_map
from scarce._frame import NOT_FINITE
from scarce._kernel_machine import KernelMachine
from scarce.parallel import single_threaded_blas

if TYPE_CHECKING:
    from scarce._by_chunks import Plan
    from scarce.chunks import BandSolution, Chunks
    from scarce.reductions import Problem


class ChunkedFit(FeatureNames, KernelMachine):
    """Base of estimators that are fitted to arrays, or chunk by chunk.

    An array is one chunk that is solved for as a whole; of many rows, and of what does not fit into
    memory, only those near the boundary are.
    """

    _fits_by_chunks: ClassVar[bool] = True
    _band_from: ClassVar[float] = np.inf  # rows in memory from which bands are faster

    def _reads_chunks(self, X: Any) -> bool:
        """Say whether rows are to be fitted chunk by chunk before anything is checked."""
        if type(X) is np.ndarray or not self._fits_by_chunks:
            return False
        if comes_in_chunks(X):
            return True
        explicit = self._kernel_type.explicit and self.approximation is None
        return explicit and is_large_map(X, self.max_memory)

    def _takes_bands(self, X: Any) -> bool:
        """Say whether checked rows in memory are fitted by bands, faster for many of them."""
        if self.approximation is None or type(X) is not np.ndarray:
            return False
        return X.shape[0] >= self._band_from and self._kernel_type.has_formula

    def _opened(self, X: Any, **values: Any) -> Chunks:
        """Return rows as chunks, if the estimator can be fitted by them; store their features."""
        chunks = self._in_chunks(X, **values)
        self._keep_features_of(chunks)
        return chunks

    def _in_chunks(self, X: Any, **values: Any) -> Chunks:
        """Return rows as chunks, whose features are already known if they are checked rows."""
        chunks: Chunks = self._by_chunks.opened(self, X, **values)
        return chunks

    @property
    def _by_chunks(self) -> Any:
        return import_module("scarce._by_chunks")

    def _planned(self, chunks: Chunks, strata: str | None = None, *, bands: bool = True) -> Plan:
        """Read all rows once, settle the kernel and gather landmarks and a subsample."""
        plan: Plan = self._by_chunks.planned(self, chunks, strata, bands=bands)
        self._gamma = float(plan.kernel.parameter("gamma", 0.0))
        return plan

    def _solved_by_bands(
        self, plan: Plan, problem: Problem, masses: Array, *, smoothed: bool = False
    ) -> BandSolution:
        """Solve a problem over all rows; store how often they were read, and every round."""
        with single_threaded_blas:  # the answer is the same for any number of threads
            solution: BandSolution = self._by_chunks.solved_by_bands(
                self, plan, problem, masses, smoothed=smoothed
            )
        self._count_reads(solution.reads)
        self.history_ = solution.history
        return solution

    def _forget_reads(self) -> None:
        """Drop what an earlier fit by chunks has stored."""
        for name in ("n_reads_", "history_"):
            self.__dict__.pop(name, None)

    def _count_reads(self, number: int) -> None:
        """Add to how often all rows were read."""
        self.n_reads_ = getattr(self, "n_reads_", 0) + number

    def _keep_planned(self, plan: Plan, terms: Array, order: Array | None = None) -> None:
        """Store an expansion over landmarks, in some order; of a linear kernel its vector.

        ``terms`` are the coefficients of the landmarks, or the weight vector.
        """
        if not np.isfinite(terms).all():
            raise ValueError(NOT_FINITE)
        self._sparse = False
        self.shape_fit_ = plan.shape
        self.support_, self.support_vectors_, self.dual_coef_ = plan.expansion(terms, order)
