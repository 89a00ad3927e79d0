"""The code of every user page runs and prints what the page says, and guide pages have pictures."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from scarce.cli import main
from tests.cli.internals import STORIES

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = [page for page in sorted((DOCS / "guide").glob("*.md")) if page.name != "index.md"]
TABLES = DOCS / "guide" / "tables.md"  # commands, tested below
PAGES = [DOCS / "quick_start.md", DOCS / "few_negatives.md", *GUIDE]
PAGES.remove(TABLES)


FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_tell_what_happens(page):
    results = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert results.attempted > 3
    assert results.failed == 0


def test_code_without_prompts_is_run_elsewhere():
    """Blocks that need mlflow or a cluster are run by the tests of these."""
    blocks = {
        block.split("\n")[0]
        for page in PAGES
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        if ">>>" not in block
    }
    # tests/io/test_mlflow.py, tests/io/test_skl2onnx.py, tests/chunks
    assert blocks == {"import mlflow", "import skl2onnx", "import joblib"}


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch):
    """Run the lines "$ scarce ..." of a page where `scarce demo` has left its tables."""
    for story in STORIES:
        story.write(tmp_path)
    readings = (tmp_path / "tonight.csv").read_text().splitlines(keepends=True)
    (tmp_path / "new_pump.csv").write_text("".join(readings[:13]))
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```console\n(.*?)```", TABLES.read_text("utf-8"), re.DOTALL)
    assert len(shown) > 5
    for command, printed in (block.split("\n", 1) for block in shown):
        test = f">>> run({command!r})\n" + re.sub(r"(?m)^$", "<BLANKLINE>", printed.rstrip())
        example = doctest.DocTestParser().get_doctest(test, {"run": run}, command, None, 0)
        assert doctest.DocTestRunner(optionflags=FLAGS).run(example).failed == 0


def run(line):
    dollar, scarce, *words = shlex.split(line)
    assert (dollar, scarce, main(words)) == ("$", "scarce", 0)


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_pages_show_a_picture_of_an_example(page):
    names = re.findall(r"gallery/(\w+)/images/sphx_glr_(plot_\w+)_001\.png", page.read_text())
    assert names
    assert all((DOCS.parent / "examples" / at / f"{name}.py").exists() for at, name in names)


THEORY = sorted((DOCS / "theory").glob("*.md"))


def paragraphs(text):
    """Yield the paragraphs and list items of a page, without code, formulas, tables and titles."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*(\||#).*$", "", text)
    return re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text)


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_theory_is_short(page):
    text = page.read_text("utf-8")
    assert len(text.split()) <= 2000
    assert [part for part in paragraphs(text) if len(part.split()) > 120] == []
