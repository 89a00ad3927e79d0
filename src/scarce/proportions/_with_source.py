"""What a source model is to a learner from proportions: kernel, scores, part of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._kernel_sum import KernelSum
from scarce.kernels import Kernel
from scarce.proportions._share_machine import ShareMachine
from scarce.proportions._source import (
    ExpansionSource,
    LinearSource,
    Source,
    check_same_kernel,
    read_sources,
    source_gamma,
)
from scarce.reductions import source_share


class SourceMachine(ShareMachine):
    """Base of learners from proportions that may have a source."""

    source: Any
    source_kernel: str
    transfer: float
    _asks_source: bool

    def _settled_kernel(self, X: Any, weights: Array) -> Kernel:
        """Return the kernel with a number for `gamma`: the source's, where the rule is "scale"."""
        kernel = super()._settled_kernel(X, weights)
        if self.gamma != "scale" or self.source is None or self.source_kernel == "any":
            return kernel
        theirs = source_gamma(self.source, X, kernel) if kernel.has_parameter("gamma") else None
        if theirs is None:
            return kernel
        self._gamma = theirs
        return self._fitted_kernel()

    def _read_sources(self, X: Any, kernel: Kernel, n_problems: int) -> list[Source]:
        """Return one source a problem, or none; set their proportion in the model."""
        sources = [] if self.source is None else read_sources(self.source, X, kernel, n_problems)
        if self.source_kernel == "same":
            check_same_kernel(sources, kernel, self.gamma)
        self._source_share = source_share(self.transfer) if sources else 0.0
        return sources

    def _source_decisions(self, X: Any) -> Array | None:
        if self.source is None:
            return None
        n_problems = self.intercept_.size
        sources = read_sources(self.source, X, self._fitted_kernel(), n_problems)
        return np.column_stack([each.function(X) + each.intercept for each in sources])

    def _add_source(self, sources: list[Source]) -> None:
        """Add the weights of linear sources to ours; other ones are asked at prediction."""
        self._asks_source = self._source_share != 0
        if self._kernel_type.explicit and all(isinstance(s, LinearSource) for s in sources):
            theirs = [self._source_share * s.coef for s in sources if isinstance(s, LinearSource)]
            self._coef = self._coef + theirs if theirs else self._coef
            self._asks_source = False

    def _source_part(self, X: Any) -> Array | float:
        if not self._asks_source:
            return 0.0
        sources = read_sources(self.source, X, self._fitted_kernel(), self.intercept_.size)
        return np.asarray(self._source_share * np.column_stack([s.function(X) for s in sources]))

    def _kernel_sum(self) -> KernelSum | None:
        own, kernel = super()._kernel_sum(), self._fitted_kernel()
        if own is None or not self._asks_source:
            return own
        sources = read_sources(self.source, self.support_vectors_, kernel, self.intercept_.size)
        for row, source in enumerate(sources):
            if not isinstance(source, ExpansionSource) or source.kernel != kernel:
                return None
            weights = np.zeros((len(sources), source.coefficients.size))
            weights[row] = self._source_share * source.coefficients
            own = own.plus(KernelSum(kernel, source.vectors, weights, np.zeros(len(sources))))
        return own

    @property
    def coef_(self) -> Array:
        """Weights of the features, for a linear kernel and source."""
        coef = super().coef_
        if self._asks_source:
            raise AttributeError("coef_ is not available: the source is a given function")
        return coef
