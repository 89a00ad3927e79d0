"""What a kernel knows of itself; the rest of the library asks for properties, never for names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.functions._gamma import scale_gamma

if TYPE_CHECKING:
    from scarce.kernels.rows._prepared import Panel, Prepared

GAMMA_RULES = ("scale", "auto", "neighbors")

Span = tuple[Array, Array]  # smallest and largest norm of a set of rows

SINGLE_RANGE = 1e30  # kernel terms must stay below this for single precision
SINGLE_EXPONENTS = 1e2  # exponents up to which float32 gives an exponential to five digits


class Kernel(ABC):
    """A kernel: its values, how a tile of them is computed, and what may be asked of it.

    One file per kernel. A subclass with a `name` is known to `make_kernel` under that name; an
    estimator takes the names of this package, and an object of any subclass.

    Attributes
    ----------
    name : str
        What parameters and errors call it.
    definite : bool
        Positive semidefinite for certain, whatever the rows.
    shift_invariant : bool
        Moving all rows by one vector changes nothing, so that rows may be centred.
    explicit : bool
        The features are the rows themselves: sums over rows become one row.
    pairwise : bool
        The rows are the kernel matrix.
    opaque : bool
        Rows may be of any kind, since only the kernel compares them: a callable.
    has_formula : bool
        Values of any two rows of numbers can be computed, by this library and in any thread.
    has_gradient : bool
        ``k(z, x)`` can be differentiated in ``x``.
    vanishes : bool
        Values are positive and go to zero as two rows move apart.
    direct : bool
        Values of narrow rows come from one compiled call (`write_packed`), and so do their scores
        (`packed_scores`) and plain sums (`plain_sums`), all to the last digits (`direct_error`).
        No value is above 1, that of a row with itself.
    separable : bool
        Values are a product with one factor per column: see `exponents`.
    """

    named: ClassVar[dict[str, type[Kernel]]] = {}
    of_callables: ClassVar[type[Kernel]]  # the class of functions, which `_callable` sets

    name: ClassVar[str]
    shift_invariant: ClassVar[bool] = False
    explicit: ClassVar[bool] = False
    pairwise: ClassVar[bool] = False
    opaque: ClassVar[bool] = False
    has_formula: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = False
    vanishes: ClassVar[bool] = False
    direct: ClassVar[bool] = False
    separable: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(vars(cls).get("name"), str):
            Kernel.named[cls.name] = cls

    @property
    @abstractmethod
    def definite(self) -> bool:
        """Whether the matrix of values is positive semidefinite for certain."""

    @abstractmethod
    def values(self, X: Any, Z: Any) -> Array:
        """Return the matrix of values in float64, by plain means: the reference.

        Parameters
        ----------
        X, Z : array-like or CSR of shape (n, d) and (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, m)
            ``k(x_i, z_j)``.
        """

    # Parameters that depend on the data.

    def settled(self, X: Any, weights: Array | None = None) -> Self:
        """Return the kernel with a number for `gamma`, found by its rule if it is a word.

        Parameters
        ----------
        X : array or CSR of shape (n, d)
            The rows.
        weights : ndarray of shape (n,), optional
            Weights of the rows; a row of weight 2 counts as the row given twice.

        Returns
        -------
        Kernel
            The same kernel, its `gamma` a number.
        """
        gamma = self.parameter("gamma")
        if not isinstance(gamma, str):
            return self
        if gamma not in GAMMA_RULES:
            rules = ", ".join(f'"{rule}"' for rule in GAMMA_RULES)
            raise ValueError(f"gamma must be {rules} or a number, got {gamma!r}")
        number = 1.0 / X.shape[1]
        if gamma != "auto":
            number = self.scale(scale_gamma(X, weights), X.shape[1])
        if gamma == "neighbors":
            # A width below the distances between neighbours tells no more rows apart.
            distance = self.neighbour_distance(X, weights)
            number = max(number, 1.0 / distance) if 0 < distance < np.inf else number
        # Every kernel is a dataclass, and this one has the field.
        return replace(self, gamma=number)  # type: ignore[type-var]

    @classmethod
    def scale(cls, per_variance: float, n_features: int) -> float:
        """Return what "scale" stands for, given ``1 / (n_features * variance)``: just that."""
        return per_variance

    def neighbour_distance(self, X: Any, weights: Array | None = None) -> float:
        """Return the distance whose inverse is the `gamma` called "neighbors"; 0 for no such rule.

        Only kernels of distances have one; for others the word means the same as "scale".
        """
        return 0.0

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the formula by name."""
        return {name: getattr(self, name) for name in _parameter_names(type(self))}

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter of the formula, or a default if it has none of that name."""
        return getattr(self, name) if self.has_parameter(name) else default

    @classmethod
    def has_parameter(cls, name: str) -> bool:
        """Say whether the formula has a parameter of that name."""
        return name in getattr(cls, "__dataclass_fields__", {})

    def require_formula(self) -> None:
        """Raise an error for kernels without one."""
        if not self.has_formula:
            raise ValueError(
                f"kernel {self.name!r} has no formula; use {', '.join(formula_names())}"
            )

    # Tiles: what the fast paths are made of.

    @abstractmethod
    def diagonal(self, squared_norms: Array) -> Array:
        """Return ``k(x, x)`` for rows of the given squared norms."""

    @abstractmethod
    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        """Write the values of rows ``start:stop`` with a panel's rows to ``out``."""

    # Of a `direct` kernel, for dense rows in float64.

    def packed(self, Z: Array, space: Array | None = None) -> Array:
        """Return rows as the right-hand side of the functions that follow.

        ``space``: memory for them, float64, which is taken if it is large enough.
        """
        raise NotImplementedError

    def write_packed(self, X: Array, rows: Array, packed: Array, out: Array) -> None:
        """Write the values of some rows of ``X`` with packed rows to ``out``."""
        raise NotImplementedError

    def write_square(self, X: Array, packed: Array, start: int, stop: int, out: Array) -> None:
        """Write values of the packed rows ``X`` with each other: part ``start:stop`` of them.

        Each value is computed once; the parts, which may be written in any order, begin at
        multiples of 64 and leave nothing out.
        """
        raise NotImplementedError

    def packed_scores(
        self, X: Array, packed: Array, weights: Array, groups: Array, out: Array
    ) -> None:
        """Write ``sum_j weights[groups[i], j] k(x_i, z_j)``, ``z_j`` packed rows."""
        raise NotImplementedError

    def plain_sums(
        self, X: Array, rows: Array, columns: Array, weights: Array, groups: Array
    ) -> Array:
        """Return such sums over some rows of ``X`` for others, sharing no code with these."""
        raise NotImplementedError

    def row_terms(self, squared_norms: Array) -> Array | None:
        """Return what every row brings to a tile beside its inner products, if anything."""
        return None

    def needs_differences(self, largest: float, exact: bool = False) -> bool:
        """Say whether squared norms up to ``largest`` would lose the distances between rows.

        Of values that are to be ``exact`` nobody bounds the errors afterwards.
        """
        return False

    def fits_single_precision(self, largest: float) -> bool:
        """Say whether rows of squared norms up to ``largest`` stay in the range of float32."""
        return False

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        """Say whether float32 gives sums over values to some digits when nothing checks them."""
        return False

    # Bounds, from norms alone. ``low`` and ``high`` are the smallest and the largest norm of a set
    # of rows, arrays that broadcast against each other for the two sides of a pair.

    @abstractmethod
    def largest_value(self, left: Span, right: Span) -> Array:
        """Return a bound of ``|k(x, z)|``."""

    @abstractmethod
    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        """Return a bound of the rounding error of one value of a tile in a precision ``eps``."""

    # Factors.

    def exponents(self, differences: Array) -> Array:
        """Return the logarithms of the factors of ``k(x, z)``, for given ``x - z``."""
        raise ValueError(f"kernel {self.name!r} is not a product over the columns")

    # Gradients.

    def slope_kernel(self) -> Kernel:
        """Return the kernel whose values `write_slopes` turns into slopes."""
        return self

    def write_slopes(self, values: Array) -> None:
        """Turn values into what multiplies ``z`` (if shift-invariant ``z - x``) in the gradient."""
        raise ValueError(f"kernel {self.name!r} has no gradient; use {', '.join(gradient_names())}")


def formula_names() -> list[str]:
    """Return the names of the kernels that have a formula.

    Returned: the names that `make_kernel` takes.
    """
    return [name for name, kind in Kernel.named.items() if kind.has_formula]


def gradient_names() -> list[str]:
    """Return the names of the kernels that have a gradient.

    Returned: the names that `make_kernel` takes.
    """
    return [name for name, kind in Kernel.named.items() if kind.has_gradient]


def plain_products(X: Any, Z: Any) -> Array:
    """Return the inner products of two sets of rows in float64, by NumPy and SciPy alone."""
    if sparse.issparse(X) or sparse.issparse(Z):
        X, Z = sparse.csr_array(X, dtype=np.float64), sparse.csr_array(Z, dtype=np.float64)
        return np.asarray((X @ Z.T).toarray())
    return np.asarray(np.asarray(X, dtype=np.float64) @ np.asarray(Z, dtype=np.float64).T)


def separation(left: Span, right: Span) -> Array:
    """Return how near two rows can be whose norms lie in the given intervals."""
    return np.asarray(np.maximum(np.maximum(left[0] - right[1], right[0] - left[1]), 0.0))


def kernel_type(kernel: Any) -> type[Kernel]:
    """Return the class of the kernel that a parameter names.

    ``kernel``: as estimators take it. Returned: A subclass of `Kernel`.
    """
    if isinstance(kernel, str) and kernel in Kernel.named:
        return Kernel.named[kernel]
    if isinstance(kernel, Kernel):
        return type(kernel)
    if callable(kernel):
        return Kernel.of_callables
    raise ValueError(
        f"kernel must be one of {', '.join(map(repr, Kernel.named))}, a callable or an object of "
        f"scarce.kernels, got {kernel!r}"
    )


PLAIN = (str, int, float)  # which may be remembered by their values


@cache
def _parameter_names(kind: type[Kernel]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))  # type: ignore[arg-type]


@lru_cache(maxsize=256, typed=True)
def _named(kind: type[Kernel], gamma: Any, degree: float, coef0: float) -> Kernel:
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    return kind(**{name: given[name] for name in _parameter_names(kind)})


def make_kernel(
    kernel: Any = "rbf", gamma: Any = 1.0, degree: float = 3, coef0: float = 0.0
) -> Kernel:
    """Return the kernel of a name, a callable or an object.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A name; a function ``k(X, Z)`` that returns the matrix of values; or a kernel, which keeps
        its own parameters, save that a word for `gamma` gives way to a number.
    gamma, degree, coef0 : float
        Parameters of named kernels; those a kernel does not have are ignored.

    Returns
    -------
    Kernel
        The object.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel
    >>> make_kernel("poly", gamma=1.0, degree=2, coef0=1.0).values(np.eye(2), np.ones((1, 2)))
    array([[4.],
           [4.]])
    """
    kind = kernel_type(kernel)
    if isinstance(kernel, str):
        plain = type(gamma) in PLAIN and type(degree) in PLAIN and type(coef0) in PLAIN
        return (_named if plain else _named.__wrapped__)(kind, gamma, degree, coef0)
    if isinstance(kernel, Kernel):
        waiting = isinstance(kernel.parameter("gamma"), str) and not isinstance(gamma, str)
        return replace(kernel, gamma=gamma) if waiting else kernel  # type: ignore[type-var]
    return kind(kernel)  # type: ignore[call-arg]
