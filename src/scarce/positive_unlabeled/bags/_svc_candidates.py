"""The kernels and column weights that bags of C-SVMs are tried with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels import Kernel
from scarce.positive_unlabeled.bags._design import Design
from scarce.positive_unlabeled.bags._feature_weights import (
    MOST_COLUMNS,
    WeightedRows,
    column_weights,
)
from scarce.positive_unlabeled.bags._out_of_bag import OutOfBag
from scarce.positive_unlabeled.bags._svc_bags import Programs, SVCBags, SVCOutOfBag
from scarce.positive_unlabeled.rows._row_source import RowSource

CLEAR, MANY_A_LABEL = 3.0, 4.0  # standard errors, with up to so many columns for each labelled row
WIDTHS = (1.0, 0.5, 2.0)  # times gamma "scale", the usual one first


@dataclass(frozen=True)
class SVCCandidates:
    """What to try."""

    source: RowSource  # the different rows of the fit
    design: Design  # how bags are drawn from them
    kernel: Kernel  # the kernel; its `gamma` may be a rule
    weights: Array  # (n,): weights of these rows
    feature_weights: Any  # weights of the columns
    # tol, max_iter, cache_size: of the solver
    tol: float
    max_iter: int
    cache_size: float

    @property
    def errors(self) -> float:
        """Standard errors by which weights of the columns must gain.

        They are found from the labels that judge them, so that the area rises by itself: the more,
        the fewer labels there are for each column.
        """
        columns = self.source.shape[1] / (MANY_A_LABEL * self.design.positives.total)
        return float(CLEAR * np.sqrt(max(1.0, columns)))

    @property
    def _by_scale(self) -> bool:
        return bool(self.kernel.parameter("gamma") == "scale")

    def first(self, some: tuple[Array, Array]) -> list[SVCBags]:
        """Return bags of all widths, or of the one that is given."""
        source = self.source
        if self.feature_weights is not None and not isinstance(self.feature_weights, str):
            source = self._weighted(self.feature_weights, some)
        if not self._by_scale:
            return [self._bags(source, source.settled(self.kernel, self.weights))]
        return [self._bags(source, self._of_width(source, factor)) for factor in WIDTHS]

    def more(self, best: OutOfBag, some: tuple[Array, Array]) -> Sequence[SVCBags]:
        """Return bags with weights of the columns, of the width that was best without them.

        Only where the width is found by the data: a number for gamma is one for these columns.
        """
        n_columns = self.source.shape[1]
        wanted = isinstance(self.feature_weights, str) and self._by_scale
        if not wanted or not 1 < n_columns <= MOST_COLUMNS:
            return []
        own, others, counts = self._sampled(some)
        weights = column_weights(own, others, counts)
        if np.ptp(weights) == 0:
            return []
        first, taken = self._of_width(self.source, 1.0), cast(SVCOutOfBag, best).bags.kernel
        factor = taken.gamma / first.gamma  # type: ignore[attr-defined]
        source = self._weighted(weights, some)
        return [self._bags(source, self._of_width(source, factor))]

    def _of_width(self, source: RowSource, factor: float) -> Kernel:
        kernel: Any = self.kernel
        # Rounded, so that equal samples in another order have the same width to the last bit.
        scale = kernel.scale(source.scale_gamma(self.weights), source.shape[1])
        return cast(Kernel, replace(kernel, gamma=factor * float(f"{scale:.10g}")))

    def _bags(self, source: RowSource, kernel: Kernel) -> SVCBags:
        return SVCBags(Programs(source, self.tol, self.max_iter, self.cache_size), kernel)

    def _weighted(self, weights: Array, some: tuple[Array, Array]) -> WeightedRows:
        own, others, counts = self._sampled(some)
        both = sparse.vstack([own, others]).tocsr() if sparse.issparse(own) else None
        rows = np.concatenate([own, others]) if both is None else both
        return WeightedRows(self.source, weights, (rows, np.concatenate(counts)))

    def _sampled(self, some: tuple[Array, Array]) -> tuple[Any, Any, tuple[Array, Array]]:
        """Return labelled rows, unlabelled ones and checked negatives, and weights of both."""
        design = self.design
        others = np.concatenate([design.unlabelled.rows[some[0]], design.negatives.rows])
        counts = np.concatenate([some[1], design.negatives.weights])
        own = self.source.gather(design.positives.rows)
        return own, self.source.gather(others), (design.positives.weights, counts)


def checked_feature_weights(given: Any, kernel: Kernel, n_columns: int) -> Any:
    """Return "auto", None or an array of one weight a column; refuse what cannot be."""
    if given is None or isinstance(given, str):
        return given if kernel.has_formula else None
    values = np.asarray(given, dtype=np.float64)
    good = values.shape == (n_columns,) and np.isfinite(values).all() and (values >= 0).all()
    if not good or not values.any():
        raise ValueError(
            f"feature_weights must be {n_columns} finite numbers, one per column, none negative "
            f"and not all zero, got an array of shape {values.shape}: {given!r}"
        )
    if not kernel.has_formula:
        raise ValueError(
            "feature_weights need a kernel with a formula, whose columns are known, got a "
            "precomputed or callable one"
        )
    return values
