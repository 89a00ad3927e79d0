"""Settings and fixtures shared by all tests."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from joblib import cpu_count

# No deadline: the first example compiles. Derandomised: a failure is a failure for everyone.
settings.register_profile(
    "scarce",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("scarce")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The browser itself is to keep quiet too.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_configure(config: pytest.Config) -> None:
    """Share the cores out among the workers, whose threads of BLAS would spin for them."""
    workers = config.getoption("numprocesses", None)
    if workers:  # they take the environment of this process
        threads = max(1, cpu_count() // workers)
        for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, str(threads))


@pytest.fixture(scope="session")
def scarce_data() -> Path:
    """Folder with the real data sets, named by the environment variable SCARCE_DATA."""
    folder = os.environ.get("SCARCE_DATA")
    if not folder:
        pytest.skip("SCARCE_DATA is not set: no folder with the real data sets")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SCARCE_DATA names no folder: {folder}")
    return path


@pytest.fixture
def drawn_in_memory() -> Iterator[None]:
    """Draw without a window, and close every figure."""
    import matplotlib
    from matplotlib import pyplot

    before = matplotlib.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(before)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium or Chrome; without one tests are skipped, or fail with SCARCE_REQUIRE_BROWSER=1."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unavailable("playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        _unavailable(f"no browser is installed: none of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


def _unavailable(reason: str) -> None:
    if os.environ.get("SCARCE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"SCARCE_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)
