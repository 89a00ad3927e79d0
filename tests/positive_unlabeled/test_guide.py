"""The code of the user page runs and prints what the page says."""

import doctest
from pathlib import Path


def test_guide():
    page = Path(__file__).parents[2] / "docs" / "guide" / "positive_unlabeled.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0
