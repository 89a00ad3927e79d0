"""Peak memory of one fit, measured in a process of its own.

The child loads the data from a file, fits once on a few rows (so that libraries and compiled code
belong to the base), notes its peak, and fits on all rows.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.child import run_child

MB = 1024 * 1024
WARM_UP_ROWS = 64


def peak_memory(
    module: str, estimator: str, params: dict[str, Any], X: Any, y: Any
) -> dict[str, float]:
    """Return base, peak and their difference, in MB, of ``module.estimator(**params).fit(X, y)``.

    The base holds the interpreter, the libraries and the data.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / ("X.npz" if sparse.issparse(X) else "X.npy")
        if sparse.issparse(X):
            sparse.save_npz(data, X, compressed=False)
        else:
            np.save(data, X)
        labels = None
        if y is not None:
            labels = str(Path(folder) / "y.npy")
            np.save(labels, y)
        task = {"module": module, "estimator": estimator, "params": params}
        return run_child("benchmarks.memory", json.dumps(task | {"X": str(data), "y": labels}))


def _peak_bytes() -> int:
    # Linux hands ru_maxrss of the parent on to the child; the high-water mark of /proc is its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _measure(task: dict[str, Any]) -> dict[str, float]:
    module = importlib.import_module(task["module"])
    estimator = getattr(module, task["estimator"])
    sparse_data = task["X"].endswith(".npz")
    X = sparse.load_npz(task["X"]) if sparse_data else np.load(task["X"])
    y = np.load(task["y"]) if task["y"] else None
    few = _few_rows(X.shape[0], y)
    small = task["params"].copy()
    if "n_components" in small:
        small["n_components"] = min(small["n_components"], few.size // 2)
    if "nu" in small:
        small["nu"] = min(max(small["nu"], 0.1), 0.5)  # always feasible, here of no interest
    estimator(**small).fit(X[few], None if y is None else y[few])
    base = _peak_bytes()
    estimator(**task["params"]).fit(X, y)
    peak = _peak_bytes()
    return {"base_mb": base / MB, "peak_mb": peak / MB, "fit_mb": (peak - base) / MB}


def _few_rows(n: int, y: np.ndarray | None) -> np.ndarray:
    if y is None:
        return np.arange(min(n, WARM_UP_ROWS))
    half = WARM_UP_ROWS // 2
    return np.concatenate([np.flatnonzero(y > 0)[:half], np.flatnonzero(y < 0)[:half]])


if __name__ == "__main__":
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
