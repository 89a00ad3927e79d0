"""Run one training case: time all libraries in turn, then verify every model."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.cases import TOL, Case
from benchmarks.data import load
from benchmarks.memory import peak_memory
from benchmarks.peers import ESTIMATORS, Library
from benchmarks.timing import SLOW_SECONDS, Timing, interleaved
from benchmarks.verify import Verification, verify

OBJECTIVE_SLACK = 1e-6  # relative; two solutions within tol differ by about this much
FEASIBILITY_SLACK = 1e-6


@dataclass
class Setup:
    """What the cases of one run share."""

    subject: Library
    peers: list[Library]
    repeats: int
    # Slow fits of libraries that work in float64 whatever they are given, by (library, case name).
    slow: dict[tuple[str, str], tuple[Timing, Verification]] = field(default_factory=dict)


def run_fit(case: Case, setup: Setup) -> list[dict[str, Any]]:
    """Return one row of results for each peer, or one for the subject alone."""
    data = load(case.data, case.n, case.d)
    X = data.X.astype(case.dtype)
    y = None if case.problem == "one_class" else data.y
    params = case.params | {"tol": TOL}

    def check(library: Library, timing: Timing) -> Verification:
        dual = library.dual(timing.result)
        return verify(case.problem, X, y, dual, **case.params)

    ours = setup.subject
    peers = [p for p in setup.peers if case.peers and p.can_fit(case.problem, X)]
    known = {p.name: setup.slow[p.name, case.name] for p in peers if _is_known(p, case, setup)}
    runs = {
        library.name: library.prepare(case.problem, X, y, params)
        for library in [ours, *peers]
        if library.name not in known
    }
    start = time.perf_counter()
    runs[ours.name]()  # warms up
    warm_up = time.perf_counter() - start
    timings = interleaved(runs, setup.repeats)

    our_check = check(ours, timings[ours.name])
    row = {
        "case": case.name,
        "kind": "fit",
        "dtype": case.dtype,
        "data": data.source,
        "n": X.shape[0],
        "d": X.shape[1],
        "problem": case.problem,
        "params": case.params,
        "ours_s": timings[ours.name].median,
        "ours_runs_s": timings[ours.name].seconds,
        "warm_up_s": warm_up,
        "ours": asdict(our_check),
        "ours_reported": _reported(timings[ours.name].result),
        "growth": case.growth,
    }
    if case.memory:
        row["ours_memory"] = _memory(ours.module.__name__, case, params, X, y)
    row["verdict"] = _verdict_alone(case, row, our_check)
    row["target"] = f"< {case.max_peak_mb:g} MB" if case.max_peak_mb else None
    if not peers:
        return [row]

    rows = []
    for peer in peers:
        if peer.name in known:
            timing, peer_check = known[peer.name]
        else:
            timing = timings[peer.name]
            peer_check = check(peer, timing)
            if peer.works_in_float64 and timing.median > SLOW_SECONDS:
                kept = Timing(timing.seconds, None)
                setup.slow[peer.name, case.name] = (kept, peer_check)
        difference = our_check.objective - peer_check.objective
        compared = row | {
            "peer": peer.name,
            "peer_s": timing.median,
            "peer_runs_s": timing.seconds,
            "peer_from_other_dtype": peer.name in known,
            "ratio": timing.median / row["ours_s"],
            "peer_check": asdict(peer_check),
            "objective_difference": difference / max(abs(peer_check.objective), 1e-300),
        }
        is_reference = peer.name == "scikit-learn"
        if is_reference and case.memory:
            compared["peer_memory"] = _memory(peer.module.__name__, case, params, X, y)
        if is_reference and case.target is not None:
            compared["target"] = f">= {case.target:g}"
            compared["verdict"] = _verdict(case.target, compared, our_check)
        rows.append(compared)
    return rows


def _is_known(peer: Library, case: Case, setup: Setup) -> bool:
    return peer.works_in_float64 and (peer.name, case.name) in setup.slow


def _memory(module: str, case: Case, params: dict[str, Any], X: Any, y: Any) -> dict[str, float]:
    return peak_memory(module, ESTIMATORS[case.problem], params, X, y)


def _reported(model: Any) -> dict[str, float]:
    """Return what the model says of itself, to compare with the independent check."""
    names = ("kkt_violation_", "dual_gap_", "n_iter_")
    return {name: float(getattr(model, name)) for name in names if _is_number(model, name)}


def _is_number(model: Any, name: str) -> bool:
    try:
        float(getattr(model, name, None))
    except TypeError:
        return False
    return True


def _faults(check: Verification) -> list[str]:
    faults = ["KKT"] if check.kkt_violation > TOL else []
    return faults + (["infeasible"] if check.infeasibility > FEASIBILITY_SLACK else [])


def _verdict_alone(case: Case, row: dict[str, Any], check: Verification) -> str:
    faults = _faults(check)
    if case.max_peak_mb is None:
        return f"wrong ({', '.join(faults)})" if faults else ""
    if row["ours_memory"]["peak_mb"] >= case.max_peak_mb:
        faults.append("memory")
    return f"missed ({', '.join(faults)})" if faults else "met"


def _verdict(target: float, row: dict[str, Any], check: Verification) -> str:
    faults = ["time"] if row["ratio"] < target else []
    faults += _faults(check)
    if row["objective_difference"] > OBJECTIVE_SLACK:
        faults.append("objective")
    return f"missed ({', '.join(faults)})" if faults else "met"
