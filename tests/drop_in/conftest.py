"""What scikit-learn's own tests expect of their surroundings."""

import inspect

import pytest

from tests.drop_in.borrowing import OTHERS


def pytest_configure(config: pytest.Config) -> None:
    for mark in ("thread_unsafe", "no_check_spmatrix"):
        config.addinivalue_line("markers", f"{mark}: scikit-learn's, without meaning here")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out cases about classes this library does not replace."""
    items[:] = [item for item in items if not _about_others(item)]


def _about_others(item: pytest.Item) -> bool:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(
        value in OTHERS if inspect.isclass(value) else isinstance(value, OTHERS) for value in values
    )


@pytest.fixture
def global_random_seed() -> int:
    return 1
