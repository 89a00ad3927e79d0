"""The library as a file: its stub, its view of Python, what is said of a stale or missing one."""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from scarce import _core
from scarce._core import fingerprint
from scarce._core._fingerprint import SUFFIXES
from tests.core.declared import CORE, FUNCTIONS


def stub():
    return ast.parse((CORE / "_library.pyi").read_text()).body


def test_the_stub_has_what_is_declared():
    functions = {node.name: node for node in stub() if isinstance(node, ast.FunctionDef)}
    assert list(functions) == list(FUNCTIONS)
    for name, node in functions.items():
        declared = FUNCTIONS[name]
        assert not node.args.args
        kinds = {each.arg: ast.unparse(each.annotation) for each in node.args.posonlyargs}
        wanted = {
            p.name: "Array" if p.dims else {"D": "float", "I": "int"}[p.type]
            for p in declared.parameters
        }
        assert kinds == wanted, name
        results = [{"d": "float", "i": "int"}[kind] for kind in declared.results]
        answer = f"tuple[{', '.join(results)}]" if len(results) > 1 else (results or ["None"])[0]
        assert ast.unparse(node.returns) == answer, name


def test_the_library_has_what_the_stub_has():
    names = {node.name for node in stub() if isinstance(node, ast.FunctionDef)}
    names |= {node.target.id for node in stub() if isinstance(node, ast.AnnAssign)}
    assert names == {name for name in vars(_core._library) if not name.startswith("__")}
    assert _core.LEVEL in {"base", "v3", "v4"}
    for node in stub():
        if isinstance(node, ast.AnnAssign):
            kind = {"str": str, "float": float}[ast.unparse(node.annotation)]
            assert isinstance(getattr(_core, node.target.id), kind)


COMPARED = r"""
#include <stddef.h>
#include <stdint.h>
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#define Py_ssize_t Own_ssize_t
#define PyObject OwnObject
#define Py_buffer OwnBuffer
#define PyCFunction OwnCFunction
#define PyMethodDef OwnMethodDef
#define PyModuleDef_Slot OwnSlot
#define PyModuleDef_Base OwnBase
#define PyModuleDef OwnDef
%(own)s
#undef Py_ssize_t
#undef PyObject
#undef Py_buffer
#undef PyMethodDef
#undef PyModuleDef_Slot
#undef PyModuleDef_Base
#undef PyModuleDef
#define SAME(theirs, ours) _Static_assert(sizeof(theirs) == sizeof(ours), #theirs)
#define AT(theirs, ours, name) \
    _Static_assert(offsetof(theirs, name) == offsetof(ours, name) && \
                   sizeof(((theirs *)0)->name) == sizeof(((ours *)0)->name), #theirs "." #name)
SAME(Py_ssize_t, Own_ssize_t);
SAME(PyObject, OwnObject);
SAME(Py_buffer, OwnBuffer);
SAME(PyMethodDef, OwnMethodDef);
SAME(PyModuleDef_Slot, OwnSlot);
SAME(PyModuleDef_Base, OwnBase);
SAME(PyModuleDef, OwnDef);
%(places)s
%(numbers)s
"""
FIELDS = {
    "Py_buffer OwnBuffer": "buf obj len itemsize readonly ndim format shape strides suboffsets"
    " internal",
    "PyMethodDef OwnMethodDef": "ml_name ml_meth ml_flags ml_doc",
    "PyModuleDef_Slot OwnSlot": "slot value",
    "PyModuleDef_Base OwnBase": "ob_base m_init m_index m_copy",
    "PyModuleDef OwnDef": "m_base m_name m_doc m_size m_methods m_slots m_traverse m_clear m_free",
}


def split_header():
    """Return the types of our own header, its numbers, and its functions."""
    lines = (CORE / "abi.h").read_text().splitlines()
    types = lines[lines.index("typedef intptr_t Py_ssize_t;") :]
    first = next(k for k, line in enumerate(types) if line.startswith("#define"))
    numbers = dict(line.split()[1:] for line in types[first:] if line.startswith("#define"))
    functions = [line for line in types[first:] if line.endswith(");")]
    return "\n".join(types[:first]), numbers, functions


def compiled(source, tmp_path, headers):
    compiler = next((each for each in ("cc", "gcc", "clang") if shutil.which(each)), None)
    if compiler is None or not Path(headers, "Python.h").exists():
        pytest.skip("no compiler or no Python.h here")
    (tmp_path / "compare.c").write_text(source)
    return subprocess.run(
        [compiler, "-std=c11", "-fsyntax-only", "-Werror", f"-I{headers}", "compare.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def comparison(types):
    _, numbers, _ = split_header()
    places = [
        f"AT({pair.split()[0]}, {pair.split()[1]}, {name});"
        for pair, names in FIELDS.items()
        for name in names.split()
    ]
    same = [f'_Static_assert({name} == {value}, "{name}");' for name, value in numbers.items()]
    return COMPARED % {"own": types, "places": "\n".join(places), "numbers": "\n".join(same)}


def test_our_part_of_the_interface_is_pythons(tmp_path):
    types, numbers, functions = split_header()
    assert len(numbers) >= 4
    assert len(functions) >= 20
    headers = sysconfig.get_paths()["include"]
    done = compiled(comparison(types), tmp_path, headers)
    assert done.returncode == 0, done.stderr
    # That the comparison can fail: one field of another size.
    wrong = types.replace("int readonly, ndim;", "long readonly, ndim;")
    assert wrong != types
    assert compiled(comparison(wrong), tmp_path, headers).returncode != 0


def test_our_functions_are_declared_as_pythons(tmp_path):
    """The compiler refuses a second declaration of a function that differs."""
    _, _, functions = split_header()
    headers = sysconfig.get_paths()["include"]
    front = "#define Py_LIMITED_API 0x030b0000\n#include <Python.h>\n#undef PyCFunction_NewEx\n"
    # Python calls these parameters by names of its own for the same types.
    ours = "\n".join(functions).replace("void (*)(PyObject *)", "PyCapsule_Destructor")
    ours = ours.replace("void *PyEval_SaveThread", "PyThreadState *PyEval_SaveThread")
    ours = ours.replace("RestoreThread(void *)", "RestoreThread(PyThreadState *)")
    done = compiled(front + ours, tmp_path, headers)
    assert done.returncode == 0, done.stderr
    wrong = ours.replace("int PyErr_CheckSignals(void)", "long PyErr_CheckSignals(void)")
    assert compiled(front + wrong, tmp_path, headers).returncode != 0


def test_only_names_of_the_stable_interface_are_used():
    _, _, functions = split_header()
    declared = {line.split("(")[0].split()[-1].lstrip("*") for line in functions}
    text = (CORE / "module.c").read_text()
    assert all(name in text for name in declared)  # nothing is declared that is not used


@pytest.fixture
def copied(tmp_path):
    """Return a folder with a copy of the package that another process can import."""
    home = tmp_path / "scarce"
    shutil.copytree(CORE.parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    return home


def import_core(home, **environment):
    code = "import scarce._core as core; print(core.__file__, core.LEVEL)"
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=home.parent,
        env=os.environ | {"PYTHONPATH": str(home.parent)} | environment,
    )


def test_a_stale_library_says_so(copied):
    assert str(copied) in import_core(copied).stdout
    with (copied / "_core" / "steps.c").open("a") as file:
        file.write("/* changed */\n")
    done = import_core(copied)
    assert done.returncode == 1
    assert "ImportError: the compiled part of scarce is older than its sources" in done.stderr
    assert "python build_core.py" in done.stderr


def test_an_installed_wheel_has_no_sources_to_compare(copied):
    for path in (copied / "_core").iterdir():
        if path.suffix in SUFFIXES:
            path.unlink()
    assert str(copied) in import_core(copied).stdout


@pytest.mark.parametrize("damage", ["missing", "empty"])
def test_a_missing_or_damaged_library_says_so(copied, damage):
    library = next((copied / "_core").glob("_library.*[od]"))
    library.unlink()
    if damage == "empty":
        library.write_bytes(b"")
    done = import_core(copied)
    assert done.returncode == 1
    assert "ImportError: the compiled part of scarce cannot be loaded" in done.stderr
    assert "pip install" in done.stderr


def test_the_fingerprint_is_that_of_all_sources(tmp_path):
    assert fingerprint(CORE) == _core.SOURCES
    for name in ("a.c", "b.h", "c.inc", "d.def", "e.txt"):
        (tmp_path / name).write_bytes(b"one\ntwo\n")
    first = fingerprint(tmp_path)
    (tmp_path / "e.txt").write_bytes(b"other")
    (tmp_path / "a.c").write_bytes(b"one\r\ntwo\r\n")
    assert fingerprint(tmp_path) == first
    for name in ("a.c", "b.h", "c.inc", "d.def"):
        (tmp_path / name).write_bytes(b"other")
        changed = fingerprint(tmp_path)
        assert changed != first
        first = changed


def test_nothing_is_written_at_run_time(copied):
    for folder in (copied / "_core", copied):
        folder.chmod(0o555)
    try:
        done = import_core(copied, PYTHONDONTWRITEBYTECODE="1")
    finally:
        for folder in (copied / "_core", copied):
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert not list(copied.rglob("__pycache__"))
