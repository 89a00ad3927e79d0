"""Small problems are enough for the published machines; that they are small is said elsewhere."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/proportions" in item.path.as_posix() and item.path.name != "test_untuned.py":
            item.add_marker(pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning"))
