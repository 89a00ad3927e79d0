"""The code of every user page runs and prints what the page says, and guide pages have pictures."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = [page for page in sorted((DOCS / "guide").glob("*.md")) if page.name != "index.md"]
PAGES = [DOCS / "quick_start.md", DOCS / "few_negatives.md", *GUIDE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_tell_what_happens(page):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert results.attempted > 3
    assert results.failed == 0


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_pages_show_a_picture_of_an_example(page):
    names = re.findall(r"sphx_glr_(plot_\w+)_001\.png", page.read_text())
    assert names
    assert all((DOCS.parent / "examples" / f"{name}.py").exists() for name in names)
