"""Settings and fixtures shared by all tests."""

import os
from pathlib import Path

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
