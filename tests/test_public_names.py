"""Public names: paths that last, examples that run, and a package that loads little."""

import ast
import doctest
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import scarce
from scarce._names import HOMES, PACKAGES
from scarce.kernels import Kernel

NEVER_SAVED = {"scarce.kernels.Kernel", "scarce.kernels.CallableKernel"}  # abstract; any code


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


def published():
    """Classes whose path is not the module that defines them, which doctest passes over."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"scarce.{package}")
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and "._" not in kind.__module__:
                found[f"{kind.__module__}.{name}"] = kind
    return found


def examples(path, kind):
    tests = doctest.DocTestFinder().find(kind, path, module=False, globs={})
    return [test for test in tests if test.examples]


WITH_EXAMPLES = [path for path, kind in sorted(published().items()) if examples(path, kind)]


@pytest.mark.parametrize("path", WITH_EXAMPLES)
def test_examples_run_though_modules_and_paths_differ(path):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in examples(path, published()[path]):
        results = runner.run(test, clear_globs=False)
        assert results.failed == 0
        assert results.attempted == len(test.examples)


def test_no_example_is_passed_over():
    source = Path(scarce.__file__).parent
    seen, counted = published(), 0
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source.parent).with_suffix("").parts
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and ">>>" in (ast.get_docstring(node) or ""):
                kind = getattr(importlib.import_module(".".join(parts)), node.name)
                path = f"{kind.__module__}.{node.name}"
                # Either doctest finds it where it is, or the test above runs it.
                assert kind.__module__ == ".".join(parts) or seen.get(path) is kind, path
                counted += 1
    assert counted >= len(WITH_EXAMPLES) > 40
    needed = {f"scarce.{name}" for name in HOMES if name[0].isupper()}
    assert needed <= set(WITH_EXAMPLES)


def test_what_a_model_can_be_made_of_can_be_loaded():
    paths = {f"{kind.__module__}.{kind.__name__}" for kind in parts_of_models().values()}
    assert paths - set(scarce.TRUSTED_TYPES) <= NEVER_SAVED
    for path in scarce.TRUSTED_TYPES:
        module, _, name = path.rpartition(".")
        assert inspect.isclass(getattr(importlib.import_module(module), name))


def test_every_name_can_be_had_and_is_listed():
    assert set(scarce.__all__) >= set(HOMES)
    assert set(dir(scarce)) >= {*scarce.__all__, *PACKAGES}
    for name in scarce.__all__:
        assert getattr(scarce, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'OneClassSVN'"):
        scarce.OneClassSVN  # noqa: B018


def test_importing_the_package_loads_nothing_large():
    code = "import sys, scarce; print([m for m in ('sklearn', 'scipy') if m in sys.modules])"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    )
    assert found.stdout.strip() == "[]"
