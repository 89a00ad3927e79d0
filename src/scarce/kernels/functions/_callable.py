"""Kernels given as a function of two arrays of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel, Span

if TYPE_CHECKING:
    from scarce.kernels.rows._prepared import Panel, Prepared


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """``k(X, Z)`` returns the matrix of values.

    Parameters
    ----------
    function : callable
        A function of two arrays of rows. An attribute `definite` that is true says that its
        matrices are positive semidefinite; a method `prepare` reduces rows once per fit.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import CallableKernel
    >>> CallableKernel(lambda X, Z: X @ Z.T).values(np.eye(2), np.ones((1, 2)))
    array([[1.],
           [1.]])
    """

    opaque: ClassVar[bool] = True
    has_formula: ClassVar[bool] = False

    function: Callable[[Any, Any], Any]

    @property
    def name(self) -> str:  # type: ignore[override]
        """What errors call it."""
        return getattr(self.function, "__name__", None) or repr(self.function)

    @property
    def definite(self) -> bool:
        """As the function says of itself."""
        return bool(getattr(self.function, "definite", False))

    def values(self, X: Any, Z: Any) -> Array:
        found = self.function(X, Z)
        found = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=float)
        if found.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"kernel must return an array of shape {(X.shape[0], Z.shape[0])}, "
                f"got {found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError("kernel must return finite values, got NaN or infinity")
        return found

    def diagonal(self, squared_norms: Array) -> Array:
        raise ValueError("a callable kernel has no formula for its diagonal")

    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        out[...] = self.values(left.rows.X[start:stop], panel.rows)  # type: ignore[attr-defined]

    # What the function returns is the kernel: there is nothing to round but sums over it.

    def largest_value(self, left: Span, right: Span) -> Array:
        return np.zeros(np.broadcast_shapes(np.shape(left[1]), np.shape(right[1])))

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        return np.zeros(np.broadcast_shapes(np.shape(left[1]), np.shape(right[1])))


Kernel.of_callables = CallableKernel
