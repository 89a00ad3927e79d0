"""What a report of a problem should say of the computer it was met on."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

NEEDED = ("scarce", "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
EXTRAS = ("pandas", "pyarrow", "matplotlib", "rich", "jinja2", "skops", "onnx", "dask")


def show_versions() -> None:
    """Print the versions of Python, of this library and of what it uses: for reports of problems.

    Examples
    --------
    >>> import scarce
    >>> scarce.show_versions()
    python: 3...
    """
    from threadpoolctl import threadpool_info

    lines = {
        "python": sys.version.split()[0],
        "system": platform.platform(),
        "processor": platform.machine(),
        **{name: _version(name) for name in (*NEEDED, *EXTRAS)},
    }
    for pool in threadpool_info():
        pair = f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads"
        lines[pool["user_api"]] = pair
    for name, value in lines.items():
        print(f"{name}: {value}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
