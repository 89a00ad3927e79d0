"""The walls of the house: doors between packages, folders of a size that can be looked over."""

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import scarce
from scarce import SVMC, OneClassSVM, PositiveUnlabeledSVC, TransferOneClassSVM
from scarce.cli import main

SOURCE = Path(scarce.__file__).parent
MOST_PRIVATE_IMPORTS = 30
MOST_TESTS_INSIDE = 20  # files of tests that know a module inside a package
MOST_MODULES = 20
# A negative gradient, a sign, all rows, a hyperplane or weight vector, a cost, sums of weights.
OWN_WORDS = {"pull", "pulls", "everyone", "plane", "planes", "price", "prices", "traffic"}
OWN_WORDS |= {"middling", "ordinary"}  # a cached and a small program


def imported_modules(file, root):
    """Every module of the package that a file imports, or imports from, with its full name."""
    package = [root.name, *file.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield module
            folder = root.parent.joinpath(*module.split("."))
            for alias in node.names:
                if (folder / f"{alias.name}.py").exists():
                    yield f"{module}.{alias.name}"


def private_imports(root):
    """Imports of modules inside another package of the same root, past its ``__init__``."""
    found = []
    for file in sorted(root.rglob("*.py")):
        here = file.relative_to(root).parts[0]
        for module in imported_modules(file, root):
            name, *path = module.split(".")
            within = name == root.name and len(path) > 1 and path[0] != here
            if within and any(part.startswith("_") for part in path[1:]):
                found.append((str(file.relative_to(root)), module))
    return found


def test_packages_are_entered_by_their_doors():
    found = private_imports(SOURCE)
    assert len(found) <= MOST_PRIVATE_IMPORTS, found


def test_a_module_can_be_moved_without_a_search_through_the_tests():
    """What several tests of a room take from inside a package comes from one module of theirs."""
    tests = Path(__file__).parent
    found = {
        str(file.relative_to(tests))
        for file in tests.rglob("*.py")
        for name, *path in (module.split(".") for module in imported_modules(file, tests))
        if name == "scarce" and any(part.startswith("_") for part in path[1:])
    }
    assert len(found) <= MOST_TESTS_INSIDE, sorted(found)


def test_imports_past_a_door_are_counted(tmp_path):
    root = tmp_path / "house"
    for path, text in {
        "one/_inner.py": "from house.two import a\nfrom house.one import _other\n",
        "one/_other.py": "from house.two._b import c\nimport house.two._b\nimport house._top\n",
        "two/_b.py": "from house.two._c import e\n",
        "_top.py": "def f():\n    from house.two import _b\n    from .one._inner import g\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    assert sorted(private_imports(root)) == [
        ("_top.py", "house.one._inner"),
        ("_top.py", "house.two._b"),
        ("one/_other.py", "house.two._b"),
        ("one/_other.py", "house.two._b"),
    ]


def test_folders_can_be_looked_over():
    sizes = Counter(
        file.parent.relative_to(SOURCE)
        for file in SOURCE.rglob("*.py")
        if file.name not in ("__init__.py", "__main__.py")
    )
    assert {str(folder): n for folder, n in sizes.items() if n > MOST_MODULES} == {}


def constants(file):
    """Yield the names in capitals that a module sets, with what they are set to."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            names, values = [target], [node.value]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                names, values = target.elts, node.value.elts
            for name, value in zip(names, values, strict=True):
                if isinstance(name, ast.Name) and name.id.strip("_").isupper():
                    yield name.id, ast.unparse(value)


def test_a_constant_has_one_value_in_a_package():
    found = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        package = file.relative_to(SOURCE).parts[0] if file.parent != SOURCE else file.name
        for name, value in constants(file):
            found[package, name].add(value)
    assert {key: values for key, values in found.items() if len(values) > 1} == {}


def test_names_are_words_of_the_field():
    found = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            name = name or getattr(node, "arg", None) or getattr(node, "name", None)
            for part in re.findall("[A-Za-z][a-z]*", name or ""):
                if part.lower() in OWN_WORDS:
                    found.append((file.name, node.lineno, name))
    assert [each for each in found if each[2] != "price"] == []  # the former name of `cost_per`


def files_passed(fit):
    """Return the modules that a second fit enters, and how often it goes from one to another."""
    passed, last, switches = set(), None, 0

    def enter(frame, event, _):
        nonlocal last, switches
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(SOURCE)):
            passed.add(file)
            switches += file != last
            last = file

    fit()
    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        fit()
    finally:
        sys.setprofile(before)
    return len(passed), switches


def test_a_fit_can_be_followed():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(500, 5)), np.arange(500) % 2
    assert files_passed(lambda: OneClassSVM(nu=0.1).fit(X))[0] <= 22
    domains, labels = np.where(np.arange(200) < 60, -1, 1), (y == 1) & (np.arange(500) % 6 == 1)
    moved, apart = X[:200] + 0.1 * domains[:, None], X + 2.0 * y[:, None]
    assert files_passed(lambda: TransferOneClassSVM().fit(moved, sample_domain=domains))[0] <= 30
    assert files_passed(lambda: SVMC().fit(apart, labels.astype(int)))[0] <= 36
    bags = PositiveUnlabeledSVC(random_state=0)
    assert files_passed(lambda: bags.fit(apart[:360], labels[:360].astype(int)))[1] <= 5000


def test_the_command_can_be_followed(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 5))
    table, model = str(tmp_path / "rows.csv"), str(tmp_path / "model.skops")
    np.savetxt(table, X, delimiter=",", header="a,b,c,d,e", comments="")
    assert files_passed(lambda: main(["fit", table, "--out", model, "--force"]))[0] <= 45
