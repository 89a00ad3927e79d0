"""The page about warnings has every warning and every kind of error of the library."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "when_it_warns.md").read_text()
PHRASES = re.findall(r"\*([^*\n]+)\*", PAGE)
OWN_ERRORS = (
    "CommandError",
    "UsageError",
    "NoAnswerError",
    "DriftError",
    "StateError",
)  # never leave the command, the last one never `load` and `save`


def modules():
    return [ast.parse(path.read_text()) for path in sorted((ROOT / "src").rglob("*.py"))]


def constant_text(node):
    """Return the words of a string, "..." where values are put in; None if it is no string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "..." for v in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def warnings_of_the_library():
    for module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", None))
                text = constant_text(node.args[0])
                if name in ("note", "warn") and text and len(re.findall(r"[a-z]+", text)) > 3:
                    yield text


def is_named(text):
    """Say whether a phrase of the page, whose "..." stand for anything, is in a message."""
    words = [[re.escape(part.strip()) for part in each.split("...")] for each in PHRASES]
    return any(re.search(".*?".join(parts), text, re.DOTALL) for parts in words if any(parts))


@pytest.mark.parametrize("text", sorted(set(warnings_of_the_library())), ids=lambda text: text[:40])
def test_every_warning_is_on_the_page(text):
    assert is_named(text)


def test_phrases_do_not_fit_everything():
    assert not is_named("a message that nobody has written down")
    assert len(set(warnings_of_the_library())) > 30


def test_every_error_class_is_on_the_page():
    classes = [
        node.name
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and re.search("(Error|Warning)$", node.name)
    ]
    assert len(classes) > 5
    missing = [name for name in classes if name not in PAGE and name not in OWN_ERRORS]
    assert missing == []
