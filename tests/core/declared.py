"""What `functions.def` declares, read by a second reader, and arguments drawn from it."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import scarce._core

CORE = Path(scarce._core.__file__).parent
TYPES = {"d": np.float64, "f": np.float32, "l": np.int64, "i": np.int32, "b": np.bool_}
PARAMETER = re.compile(r"(\w+):(=?)(\w)(?:\[([^\]]*)\](?:([<~^])(\w))?)?$")


@dataclass(frozen=True)
class Parameter:
    """A parameter as it is declared; without dimensions it is a number."""

    name: str
    type: str
    written: bool
    dims: tuple[str, ...]
    range: str | None
    limit: str | None


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    results: str


def read_functions() -> dict[str, Function]:
    """Return every function that is declared."""
    text = re.sub(r"/\*.*?\*/", "", (CORE / "functions.def").read_text(), flags=re.DOTALL)
    parts = dict(re.findall(r'^#define (\w+) "([^"]*)"$', text, flags=re.MULTILINE))
    found = {}
    for name, declared, results in re.findall(
        r'^FUNCTION\((\w+), (.*), "(\w*)"\)$', text, flags=re.MULTILINE
    ):
        words = re.findall(r'"([^"]*)"|(\w+)', declared)
        whole = "".join(text or parts[part] for text, part in words)
        parameters = []
        for word in whole.split():
            match = PARAMETER.match(word)
            assert match, word
            label, written, kind, dims, kept, limit = match.groups()
            sizes = tuple(dims.split(",")) if dims else ()
            parameters.append(Parameter(label, kind, bool(written), sizes, kept, limit))
        found[name] = Function(name, tuple(parameters), results)
    return found


FUNCTIONS = read_functions()


def length(dim, sizes):
    """Return how long a dimension is."""
    if dim == "*":
        return sizes["*"]
    if dim.isdigit():
        return int(dim)
    return sizes[dim[0]] + (int(dim[2:]) if "+" in dim else 0)


def draw(function, random, sizes, real="d", index="l"):
    """Return arguments of any contents by their names; indices lie where they must."""
    arguments = {}
    for p in function.parameters:
        if not p.dims:
            arguments[p.name] = float(random.random()) if p.type == "D" else 0
            continue
        shape = tuple(length(dim, sizes) for dim in p.dims)
        kind = {"r": real, "s": real, "j": index}.get(p.type, p.type)
        if p.range is not None:
            low = -1 if p.range == "~" else 0
            high = sizes[p.limit] + (p.range == "^")
            size = shape if high > low else (0,)
            values = random.integers(low, max(high, low + 1), size)
            values = np.sort(values) if p.range == "^" else values
        elif kind in "li":
            values = np.zeros(shape)
        elif kind == "b":
            values = random.random(shape) < 0.3
        else:
            values = random.normal(size=shape)
        arguments[p.name] = np.ascontiguousarray(values, TYPES[kind])
    return arguments


def call(function, arguments, library=scarce._core):
    """Call a function with copies of its arguments; return the results and what was written."""
    own = {
        name: each.copy() if isinstance(each, np.ndarray) else each
        for name, each in arguments.items()
    }
    results = getattr(library, function.name)(*own.values())
    results = () if results is None else results if isinstance(results, tuple) else (results,)
    return results, {p.name: own[p.name] for p in function.parameters if p.written}
