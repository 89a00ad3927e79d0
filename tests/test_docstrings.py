"""Docstrings of public things: numpydoc's rules, every parameter and every field documented."""

import dataclasses
import importlib
import inspect

import pytest

import scarce
from scarce._names import HOMES, PACKAGES

validation = pytest.importorskip("numpydoc.validate")
docscrape = pytest.importorskip("numpydoc.docscrape")

# Of classes: parameters that are missing, unknown or in another order, without type or text.
# Of functions and methods also what is returned. All: a summary of one sentence, sections in order.
RULES = {
    *("GL03", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS05"),
    *("PR01", "PR02", "PR03", "PR04", "PR07", "PR10", "RT01", "RT03"),
}
# Methods of these are an interface for those who write kernels, operators or readers. The class
# says what they have in common, and an implementation repeats nothing.
INTERFACES = ("chunks", "io", "kernels", "reductions", "solvers")


def public_things():
    found = {f"scarce.{name}": getattr(scarce, name) for name in HOMES}
    found |= {"scarce.save": scarce.save, "scarce.load": scarce.load}
    for package in PACKAGES:
        module = importlib.import_module(f"scarce.{package}")
        names = [name for name in module.__all__ if name not in HOMES]
        found |= {f"scarce.{package}.{name}": getattr(module, name) for name in names}
    return {
        path: thing
        for path, thing in found.items()
        if inspect.isfunction(thing) or inspect.isclass(thing)
    }


THINGS = public_things()


def own_methods(kind):
    for name in dir(kind):
        method = inspect.getattr_static(kind, name)
        method = getattr(method, "__func__", method)
        ours = inspect.isfunction(method) and method.__module__.startswith("scarce.")
        if ours and not name.startswith("_"):
            yield name


def faults(path, but=()):
    return [
        f"{path}: {code} {what}"
        for code, what in validation.validate(path)["errors"]
        if code in RULES - {*but}
    ]


@pytest.mark.parametrize("package", sorted({path.rpartition(".")[0] for path in THINGS}))
def test_public_things_are_documented_by_the_rules(package):
    found = []
    for path, thing in THINGS.items():
        if path.rpartition(".")[0] != package:
            continue
        # Fields are documented as attributes, see below; nobody calls a protocol.
        plain = dataclasses.is_dataclass(thing) or inspect.isabstract(thing)
        plain |= getattr(thing, "_is_protocol", False) or issubclass_of_tuple(thing)
        found += faults(path, but=["PR01"] if plain else [])
        if inspect.isclass(thing) and package.split(".")[-1] not in INTERFACES:
            found += [fault for name in own_methods(thing) for fault in faults(f"{path}.{name}")]
    assert found == []


def issubclass_of_tuple(thing):
    return inspect.isclass(thing) and issubclass(thing, tuple)


@pytest.mark.parametrize(
    "path", [path for path, thing in THINGS.items() if dataclasses.is_dataclass(thing)]
)
def test_every_field_is_documented(path):
    documented = documented_names(THINGS[path])
    for field in dataclasses.fields(THINGS[path]):
        assert field.name.startswith("_") or field.name in documented, field.name


def documented_names(kind):
    sections = docscrape.ClassDoc(kind, config={"show_class_members": False})
    listed = [*sections["Attributes"], *sections["Parameters"]]
    return {name.strip() for entry in listed for name in entry.name.split(",")}
