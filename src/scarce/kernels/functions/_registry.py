"""The one place where a parameter becomes a kernel."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from scarce.kernels.functions._callable import CallableKernel
from scarce.kernels.functions._kernel import Kernel


def kernel_type(kernel: Any) -> type[Kernel]:
    """Return the class of the kernel that a parameter names.

    Parameters
    ----------
    kernel : str, callable or Kernel
        As estimators take it.

    Returns
    -------
    type
        A subclass of `Kernel`.
    """
    if isinstance(kernel, str) and kernel in Kernel.named:
        return Kernel.named[kernel]
    if isinstance(kernel, Kernel):
        return type(kernel)
    if callable(kernel):
        return CallableKernel
    raise ValueError(
        f"kernel must be one of {', '.join(map(repr, Kernel.named))}, a callable or an object of "
        f"scarce.kernels, got {kernel!r}"
    )


PLAIN = (str, int, float)  # which may be remembered by their values


@lru_cache(maxsize=256, typed=True)
def _named(kind: type[Kernel], gamma: Any, degree: float, coef0: float) -> Kernel:
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    return kind(**{each.name: given[each.name] for each in fields(kind)})  # type: ignore[arg-type]


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
    return CallableKernel(kernel)
