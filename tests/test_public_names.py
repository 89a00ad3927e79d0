"""Public names: paths that last, examples that run, and a package that loads little."""

import doctest
import importlib
import inspect
import os
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import scarce
from scarce._names import HOMES, PACKAGES
from scarce.kernels import Kernel


def parts_of_models():
    """Everything public that a model file may name."""
    found = {name: getattr(scarce, name) for name in scarce.__all__}
    for package in PACKAGES:
        module = importlib.import_module(f"scarce.{package}")
        found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    kinds = (BaseEstimator, Kernel)
    return {
        path: thing
        for path, thing in found.items()
        if inspect.isclass(thing) and issubclass(thing, kinds)
    }


def test_a_class_is_where_its_path_says():
    for path, kind in parts_of_models().items():
        assert "._" not in kind.__module__, path
        assert getattr(importlib.import_module(kind.__module__), kind.__name__) is kind


@pytest.mark.parametrize("name", [name for name in HOMES if name[0].isupper()])
def test_examples_run_though_modules_and_paths_differ(name):
    # doctest passes over classes whose path is not the module that it looks at.
    kind = getattr(scarce, name)
    tests = doctest.DocTestFinder().find(kind, name, module=False, globs={})
    assert sum(len(test.examples) for test in tests) > 0
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in tests:
        assert runner.run(test).failed == 0


def test_every_name_can_be_had_and_is_listed():
    assert set(scarce.__all__) >= set(HOMES)
    assert set(dir(scarce)) >= {*scarce.__all__, *PACKAGES}
    for name in scarce.__all__:
        assert getattr(scarce, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'OneClassSVN'"):
        scarce.OneClassSVN  # noqa: B018


def test_importing_the_package_loads_nothing_large():
    code = "import sys, scarce; print([m for m in ('sklearn', 'numba') if m in sys.modules])"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    )
    assert found.stdout.strip() == "[]"
