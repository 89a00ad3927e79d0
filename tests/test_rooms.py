"""The walls of the house: doors between packages, folders of a size that can be looked over."""

import ast
from collections import Counter
from pathlib import Path

import scarce

SOURCE = Path(scarce.__file__).parent
MOST_PRIVATE_IMPORTS = 30
MOST_MODULES = 20


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
