"""The code of every user page runs and prints what the page says."""

import doctest
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
