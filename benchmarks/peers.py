"""The libraries that are compared, behind one small interface.

A library prepares a fit (whatever is not part of training, such as libsvm's own data format, is
done outside the clock) and hands back the fitted model as a `Dual` for `benchmarks.verify`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from benchmarks.verify import Dual, scale_gamma

ESTIMATORS = {"one_class": "OneClassSVM", "svc": "SVC", "nu_svc": "NuSVC"}
LIBSVM_TYPES = {"svc": 0, "nu_svc": 1, "one_class": 2}
LIBSVM_KERNELS = {"linear": 0, "rbf": 2}
CACHE_MB = 200  # scikit-learn's default, given to libsvm too
# libsvm's dense rows are lists of (index, value) nodes: larger sets only show that this is slow.
LIBSVM_MAX_VALUES = 200_000


class Library(Protocol):
    """What the benchmark needs to know of a library."""

    name: str
    works_in_float64: bool  # float32 input is converted: one measurement serves both precisions

    def can_fit(self, problem: str, X: Any) -> bool:
        """Tell whether the library has this problem, at this size."""

    def prepare(self, problem: str, X: Any, y: Any, params: dict[str, Any]) -> Callable[[], Any]:
        """Return a function that trains and returns a fitted model."""

    def dual(self, model: Any) -> Dual:
        """Return the support rows, their coefficients and the offset of a fitted model."""


@dataclass(frozen=True)
class EstimatorLibrary:
    """A module with scikit-learn's estimator classes."""

    name: str
    module: ModuleType
    works_in_float64: bool

    def can_fit(self, problem: str, X: Any) -> bool:
        return hasattr(self.module, ESTIMATORS[problem])

    def prepare(self, problem: str, X: Any, y: Any, params: dict[str, Any]) -> Callable[[], Any]:
        estimator = getattr(self.module, ESTIMATORS[problem])
        return lambda: estimator(**params).fit(X, y)

    def dual(self, model: Any) -> Dual:
        coef = model.dual_coef_
        coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
        # For a one-class model offset_ is rho; for a classifier intercept_ is b.
        offset = model.offset_ if hasattr(model, "offset_") else model.intercept_
        return Dual(np.asarray(model.support_), coef.ravel(), float(np.ravel(offset)[0]))


@dataclass(frozen=True)
class LibsvmLibrary:
    """libsvm's own Python interface."""

    name: str
    module: ModuleType
    works_in_float64: bool = True

    def can_fit(self, problem: str, X: Any) -> bool:
        return (X.nnz if sparse.issparse(X) else X.size) <= LIBSVM_MAX_VALUES

    def prepare(self, problem: str, X: Any, y: Any, params: dict[str, Any]) -> Callable[[], Any]:
        kernel = params.get("kernel", "rbf")
        options = f"-q -s {LIBSVM_TYPES[problem]} -t {LIBSVM_KERNELS[kernel]} -m {CACHE_MB}"
        options += f" -e {params['tol']!r}"
        if kernel == "rbf":
            options += f" -g {scale_gamma(X)!r}"
        if "nu" in params:
            options += f" -n {params['nu']!r}"
        if "C" in params:
            options += f" -c {params['C']!r}"
        labels = np.ones(X.shape[0]) if y is None else np.asarray(y, dtype=float)
        rows = sparse.csr_matrix(X, dtype=np.float64)
        data = self.module.svm_problem(labels, rows)
        return lambda: self.module.svm_train(data, options)

    def dual(self, model: Any) -> Dual:
        support = np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1
        coef = np.ctypeslib.as_array(model.sv_coef[0], (model.l,)).copy()
        one_class = model.get_svm_type() == LIBSVM_TYPES["one_class"]
        rho = float(model.rho[0])
        return Dual(support, coef, rho if one_class else -rho)


def subject(module: str) -> Library:
    """Return the library under test."""
    return EstimatorLibrary(module, importlib.import_module(module), works_in_float64=False)


def installed_peers(note: Callable[[str], None]) -> list[Library]:
    """Return the peers that can be imported; each absent one is named in a note."""
    libraries: list[Library] = [
        EstimatorLibrary("scikit-learn", importlib.import_module("sklearn.svm"), True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module("sklearnex.svm")
            libraries.append(EstimatorLibrary("scikit-learn-intelex", module, False))
        except ImportError as reason:
            note(f"skipped scikit-learn-intelex: {reason}")
        try:
            module = importlib.import_module("libsvm.svmutil")
            libraries.append(LibsvmLibrary("libsvm-official", module))
        except ImportError as reason:
            note(f"skipped libsvm-official: {reason}")
    return libraries


def versions() -> dict[str, str]:
    """Return the versions of everything that takes part."""
    names = ["scarce", "scikit-learn", "scikit-learn-intelex", "libsvm-official"]
    names += ["numpy", "scipy"]
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found
