"""The field's words lead to their pages, and the words we avoid are in no page or docstring."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORDS = runpy.run_path(str(ROOT / "docs" / "field_words.py"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "theory").glob("*.md")),
    *(  # but those whose columns have the names of methods and of stored cells
        page
        for page in sorted((ROOT / "docs" / "results").glob("*.md"))
        if page.name not in ("README.md", "oc-stm.md")
    ),
    *sorted((ROOT / "docs" / "results" / "notes").glob("*.md")),
]


EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))


@pytest.mark.parametrize("word", WORDS["LEADS"])
def test_a_word_is_a_main_entry_of_one_page(word):
    entry = re.compile(rf"! {re.escape(word)}(,|$)")
    marked = [
        page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for page in sorted((ROOT / "docs").rglob("*.md"))
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("```{index}") and entry.search(line)
    ]
    assert marked == [WORDS["LEADS"][word]]


def faults(prose):
    """Return the words of a text that are to be avoided."""
    prose = " ".join(prose.split())
    return [
        (found.group(), better)
        for word, better in WORDS["AVOID"].items()
        for found in re.finditer(word, prose, re.IGNORECASE)
    ]


def test_what_is_avoided_is_found():
    assert [word for word, _ in faults("A heap of fresh rows, of a\nmachine, can be had.")] == [
        "fresh rows",
        "heap",
        "can be had",
        "machine",
    ]
    assert faults("machine learning, support vector machines") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_use_the_words_of_the_field(page):
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", page.read_text("utf-8"), flags=re.DOTALL)
    if page.name == "when_it_warns.md":  # messages, in italics, are those of the code
        text = re.sub(r"\*[^*]+\*", " ", text)
    assert faults(text) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_use_the_words_of_the_field(path):
    source = path.read_text("utf-8")
    comments = re.findall(r"(?m)^# (.*)$", source)
    text = "\n".join([ast.get_docstring(ast.parse(source)) or "", *comments])
    assert faults(re.sub(r"`[^`]*`", " ", text)) == []


def documented():
    """Yield all docstrings of the library, also of what is private."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield f"{path.name}: {getattr(node, 'name', '')}", ast.get_docstring(node)


def test_docstrings_use_the_words_of_the_field():
    code = r"``[^`]+``|`[^`]+`|>>>[^\n]*|\.\.\. [^\n]*|\"\w+\"|(?m:^ *[\w, *]+ : [^\n]*$)"
    found = [(name, faults(re.sub(code, " ", text))) for name, text in documented() if text]
    assert len(found) > 2000
    assert [(name, words) for name, words in found if words] == []


def test_messages_use_the_words_of_the_field():
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = re.sub(r"`[^`]*`|^\w+ must", " ", node.value)  # names of arguments
                if " " in text.strip() and id(node) not in prose:
                    found += [(path.name, node.lineno, *fault) for fault in faults(text)]
    assert found == []
