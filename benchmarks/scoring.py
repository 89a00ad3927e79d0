"""Run one scoring case: each library scores new rows with the model it fitted itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import TOL, Case
from benchmarks.data import load
from benchmarks.fitting import Setup
from benchmarks.timing import interleaved
from benchmarks.verify import scale_gamma, scores

MAX_ERROR = 1e-4  # of the range of the scores


def run_score(case: Case, setup: Setup) -> list[dict[str, Any]]:
    """Compare with scikit-learn, the only peer with a vectorised one-class scorer."""
    data = load(case.data, 2 * case.n, case.d)
    X, new = np.split(data.X.astype(case.dtype), 2)
    params = case.params | {"tol": TOL}
    libraries = {"ours": setup.subject, "peer": setup.peers[0]}
    models = {k: lib.prepare(case.problem, X, None, params)() for k, lib in libraries.items()}
    models["ours"].score_samples(new)  # warms up
    timings = interleaved(
        {key: lambda model=model: model.score_samples(new) for key, model in models.items()},
        setup.repeats,
    )

    gamma = scale_gamma(X)
    errors = {}
    for key, library in libraries.items():
        dual = library.dual(models[key])
        exact = scores(new, X[dual.support], dual.coef, "rbf", gamma)
        errors[key] = float(np.abs(timings[key].result - exact).max() / np.ptp(exact))
    ratio = timings["peer"].median / timings["ours"].median
    row = {
        "case": case.name,
        "kind": "score",
        "dtype": case.dtype,
        "data": data.source,
        "n": case.n,
        "d": case.d,
        "params": case.params,
        "peer": libraries["peer"].name,
        "ours_s": timings["ours"].median,
        "ours_runs_s": timings["ours"].seconds,
        "peer_s": timings["peer"].median,
        "peer_runs_s": timings["peer"].seconds,
        "ratio": ratio,
        "ours_error": errors["ours"],
        "peer_error": errors["peer"],
    }
    faults = ["error"] if errors["ours"] > MAX_ERROR else []
    if case.target is not None:
        faults = (["time"] if ratio < case.target else []) + faults
        row["target"] = f">= {case.target:g}"
        row["verdict"] = f"missed ({', '.join(faults)})" if faults else "met"
    elif faults:
        row["verdict"] = "wrong (error)"
    return [row]
