"""Peak memory of one transfer fit or one generic solve, in a process of its own.

As in `benchmarks.memory`, the child first works on a few rows, so that libraries and compiled code
belong to the base.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.child import run_child
from benchmarks.memory import MB, _peak_bytes

WARM_UP_ROWS = 64


def peak_memory(what: str, X: Any, domain: np.ndarray, params: dict[str, Any]) -> dict[str, float]:
    """Return base, peak and their difference in MB; see `runner` for the arguments."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / ("X.npz" if sparse.issparse(X) else "X.npy")
        if sparse.issparse(X):
            sparse.save_npz(data, X, compressed=False)
        else:
            np.save(data, X)
        np.save(Path(folder) / "domain.npy", domain)
        task = {"what": what, "params": params, "X": str(data)}
        return run_child("benchmarks.transfer_memory", json.dumps(task))


def run(what: str, X: Any, domain: np.ndarray, params: dict[str, Any]) -> Any:
    """Fit ``scarce.<what>``, or solve the dual by the generic solver `what`."""
    if what == "TransferOneClassSVM":
        return _estimator(what)(**params).fit(X, sample_domain=domain)
    if what == "OneClassSVM":
        return _estimator(what)(**params).fit(X)
    # Here, so that the other children do not pay for cvxpy.
    from benchmarks.generic_qp import solve_generic

    return solve_generic(what, X, domain, params["nu"], params["tol"])


def _estimator(name: str) -> Any:
    return getattr(importlib.import_module("scarce"), name)


def _measure(task: dict[str, Any]) -> dict[str, float]:
    path = Path(task["X"])
    X = sparse.load_npz(path) if path.suffix == ".npz" else np.load(path)
    domain = np.load(path.with_name("domain.npy"))
    few = _few_rows(domain)
    run(task["what"], X[few], domain[few], task["params"])
    base = _peak_bytes()
    run(task["what"], X, domain, task["params"])
    peak = _peak_bytes()
    return {"base_mb": base / MB, "peak_mb": peak / MB, "fit_mb": (peak - base) / MB}


def _few_rows(domain: np.ndarray) -> np.ndarray:
    tasks = np.unique(domain)
    share = WARM_UP_ROWS // tasks.size
    return np.concatenate([np.flatnonzero(domain == task)[:share] for task in tasks])


if __name__ == "__main__":
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
