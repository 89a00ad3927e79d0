"""Run scikit-learn's own tests on this library's classes: no test is copied, all are borrowed.

The source of an installed test module is executed under a new name while the names of the classes
it is about stand for ours.
"""

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Collection
from types import ModuleType, SimpleNamespace
from unittest import mock

import sklearn
import sklearn.svm

import scarce

# Names of tests are those of one version of scikit-learn; another may lack some of them.
NAMED_HERE = sklearn.__version__.startswith("1.9.")
CLASSES = {name: getattr(scarce, name) for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")}
OTHERS = tuple(
    kind
    for name, kind in vars(sklearn.svm).items()
    if inspect.isclass(kind) and name not in CLASSES
)


@functools.cache
def load(name: str) -> ModuleType:
    """Return an installed test module that tests our classes instead of its own."""
    # The original first, so that nothing it imports sees the stand-ins.
    original = importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"borrowed.{name}", original.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # While it is executed, for `from sklearn.svm import SVC` and for what its tests run over ...
    with mock.patch.multiple(sklearn.svm, **CLASSES):
        spec.loader.exec_module(module)
    # ... and afterwards, for `svm.SVC` inside its tests.
    if getattr(module, "svm", None) is sklearn.svm:
        module.svm = SimpleNamespace(**{**vars(sklearn.svm), **CLASSES})  # type: ignore[attr-defined]
    return module


def functions_of(name: str) -> dict[str, Callable[..., None]]:
    """Return the test functions of a borrowed module."""
    module = load(name)
    return {key: value for key, value in vars(module).items() if key.startswith("test_")}


def borrow(name: str, *, except_for: Collection[str]) -> dict[str, Callable[..., None]]:
    """Return all tests of a borrowed module but some, which must exist."""
    tests = functions_of(name)
    unknown = set(except_for) - set(tests)
    assert not (unknown and NAMED_HERE), f"no such tests in {name}: {sorted(unknown)}"
    return {key: test for key, test in tests.items() if key not in except_for}
