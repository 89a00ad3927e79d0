"""Run scikit-learn's own tests on this library's classes: no test is copied, all are borrowed.

The source of an installed test module is executed under a new name while the names it is about
stand for something else: the classes for ours, data sets for their first two classes.
"""

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Collection
from contextlib import ExitStack
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import sklearn.datasets
import sklearn.svm

import scarce

CLASSES = {"SVC": scarce.SVC, "NuSVC": scarce.NuSVC, "OneClassSVM": scarce.OneClassSVM}
OTHERS = tuple(
    kind
    for name, kind in vars(sklearn.svm).items()
    if inspect.isclass(kind) and name not in CLASSES
)

_load_iris = sklearn.datasets.load_iris
_make_blobs = sklearn.datasets.make_blobs
_make_classification = sklearn.datasets.make_classification


@functools.wraps(_load_iris)
def two_irises(*args: Any, **kwargs: Any) -> Any:
    iris = _load_iris(*args, **kwargs)
    if isinstance(iris, tuple):
        rows = iris[1] < 2
        return iris[0][rows], iris[1][rows]
    rows = iris.target < 2
    iris.data, iris.target = iris.data[rows], iris.target[rows]
    iris.target_names = iris.target_names[:2]
    return iris


@functools.wraps(_make_blobs)
def two_blobs(*args: Any, centers: int = 2, **kwargs: Any) -> Any:
    return _make_blobs(*args, centers=min(centers, 2), **kwargs)


@functools.wraps(_make_classification)
def two_classes(*args: Any, n_classes: int = 2, **kwargs: Any) -> Any:
    return _make_classification(*args, n_classes=min(n_classes, 2), **kwargs)


DATA_SETS = {
    "load_iris": two_irises,
    "make_blobs": two_blobs,
    "make_classification": two_classes,
}


@functools.cache
def load(name: str, *, cut: bool = True) -> ModuleType:
    """Return an installed test module that tests our classes instead of its own.

    ``cut``: whether its data sets are cut to two classes.
    """
    stand_ins = [(sklearn.svm, CLASSES), *([(sklearn.datasets, DATA_SETS)] if cut else [])]
    # The original first, so that nothing it imports sees the stand-ins.
    original = importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"borrowed.{name}", original.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # While it is executed, for `from sklearn.svm import SVC` and for what its tests run over ...
    with ExitStack() as changes:
        for package, names in stand_ins:
            changes.enter_context(mock.patch.multiple(package, **names))
        spec.loader.exec_module(module)
    # ... and afterwards, for `svm.SVC` inside its tests.
    for package, names in stand_ins:
        short = package.__name__.rpartition(".")[2]
        if getattr(module, short, None) is package:
            setattr(module, short, SimpleNamespace(**{**vars(package), **names}))
    return module


def functions_of(name: str, *, cut: bool = True) -> dict[str, Callable[..., None]]:
    """Return the test functions of a borrowed module."""
    module = load(name, cut=cut)
    return {key: value for key, value in vars(module).items() if key.startswith("test_")}


def borrow(name: str, *, except_for: Collection[str]) -> dict[str, Callable[..., None]]:
    """Return all tests of a borrowed module but some, which must exist."""
    tests = functions_of(name)
    unknown = set(except_for) - set(tests)
    assert not unknown, f"no such tests in {name}: {sorted(unknown)}"
    return {key: test for key, test in tests.items() if key not in except_for}
