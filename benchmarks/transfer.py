"""Time and memory of transfer fits: ``python -m benchmarks.transfer --help``."""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import load
from benchmarks.multitask import (
    TARGET_SHARE,
    check,
    linear_primal,
    multipliers,
    rbf_dual,
    related_tasks,
)
from benchmarks.report import (
    COLUMNS,
    GROWTH_COLUMNS,
    growth_rows,
    machine,
    small,
    table,
    write_json,
)
from benchmarks.timing import Timing, interleaved
from benchmarks.transfer_memory import peak_memory, run

TOL = 1e-3
NU = 0.1
OURS, PLAIN = "TransferOneClassSVM", "OneClassSVM"
GENERIC = ("Clarabel", "OSQP")
OBJECTIVE_SLACK = 1e-4  # relative; solutions within tol differ by less
LINEAR_MEAN = 2.0  # of every feature: around the origin a linear one-class problem has only w = 0
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Case:
    """One problem and the solvers that meet on it.

    Attributes
    ----------
    data : {"mixture", "text"}
    n, d, n_tasks
        Rows of all tasks, features, tasks; the target has a tenth of the rows.
    params : dict
        Parameters of `TransferOneClassSVM` besides ``nu`` and ``tol``.
    plain, generic : bool
        Whether `OneClassSVM` on the same rows, and the generic solvers, run too.
    n_target : int or None
        Rows of the target, where not a tenth.
    growth : str or None
        Cases of the same `growth` differ in `n` only.
    rounds_target : bool
        Ask for no more than (rounds + 1) x 2 plain fits.
    """

    name: str
    n: int
    d: int
    n_tasks: int
    dtype: str = "float64"
    data: str = "mixture"
    params: dict[str, Any] = field(default_factory=dict)
    plain: bool = True
    generic: bool = False
    memory: bool = False
    n_target: int | None = None
    growth: str | None = None
    rounds_target: bool = False

    def rows(self) -> tuple[Any, np.ndarray]:
        """Return rows and domains."""
        if self.data == "text":
            X = load("text", self.n, self.d).X.astype(self.dtype)
            return X, np.where(np.arange(self.n) < TARGET_SHARE * self.n, -1, 0)
        X, domain = related_tasks(self.n, self.d, self.n_tasks, self.dtype, self.n_target)
        if self.params.get("kernel") == "linear":
            X += LINEAR_MEAN
        return X, domain


def all_cases(quick: bool) -> Iterator[Case]:
    """Return the cases, or small ones of every kind."""
    for n in (200, 500) if quick else (200, 500, 1_000, 2_000):
        for n_tasks in (1, 2, 4):
            yield Case(
                f"exact rows {n}x16 K={n_tasks}",
                n,
                16,
                n_tasks,
                generic=True,
                memory=n_tasks == 2,
            )
    source, target, d = (400, 40, 120) if quick else (2_000, 200, 600)
    for dtype in ("float32", "float64"):
        yield Case(
            f"radii {source}+{target}x{d} K=2",
            source + target,
            d,
            2,
            dtype,
            params={"radius": "knn"},
            memory=True,
            n_target=target,
            rounds_target=True,
        )
    series = [(f"exact rows, K={k}", k, {}) for k in (1, 2, 4)]
    series += [("radii, K=2", 2, {"radius": "knn"})]
    for name, n_tasks, params in series:
        for n in (500, 1_000, 2_000) if quick else (1_250, 2_500, 5_000, 10_000, 20_000):
            label = f"{name.split(',')[0]} {n}x16 K={n_tasks}"
            memory = n == 20_000 and n_tasks == 2
            yield Case(label, n, 16, n_tasks, "float32", params=params, growth=name, memory=memory)
    n = 20_000 if quick else 1_000_000
    linear = {"kernel": "linear", "radius": 0.1}
    yield Case(f"linear radii {n}x50 K=2", n, 50, 2, "float32", params=linear, memory=True)
    n, d = (2_000, 5_000) if quick else (100_000, 20_000)
    params = {"kernel": "linear"}
    yield Case(f"text {n}x{d} K=2", n, d, 2, "float32", "text", params, memory=True)


def run_case(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Return one row of results for each solver that ours is compared with."""
    X, domain = case.rows()
    ours = {"nu": NU, "tol": TOL} | case.params
    plain = {"nu": NU, "tol": TOL} | {k: v for k, v in case.params.items() if k == "kernel"}
    params = {OURS: ours}
    params |= {PLAIN: plain} if case.plain else {}
    params |= {solver: {"nu": NU, "tol": TOL} for solver in GENERIC} if case.generic else {}
    few = np.concatenate([np.flatnonzero(domain == task)[:50] for task in np.unique(domain)])
    for what, given in params.items():
        run(what, X[few], domain[few], given)  # imports
    timings = interleaved(
        {what: lambda w=what, p=given: run(w, X, domain, p) for what, given in params.items()},
        repeats,
    )
    model = timings[OURS].result
    row: dict[str, Any] = {
        "case": case.name,
        "dtype": case.dtype,
        "n": X.shape[0],
        "d": X.shape[1],
        "tasks": case.n_tasks,
        "params": ours,
        "ours_s": timings[OURS].median,
        "ours_runs_s": timings[OURS].seconds,
        "n_rounds": model.n_rounds_,
        "converged": model.converged_,
        "n_support": len(model.support_),
        "history": model.history_,
        "objective": model.objective_,
        "ours": {"kkt_violation": model.kkt_violation_, "dual_gap": model.dual_gap_},
        "growth": case.growth,
    }
    dual = rbf_dual(X, domain, NU) if case.generic else None
    if dual is not None:
        row["ours"] = asdict(check(dual, multipliers(model, dual)))
    if ours.get("kernel") == "linear":
        primal = linear_primal(model, X, domain, NU, ours.get("radius", 0.0))
        row["primal_difference"] = (primal - model.objective_) / abs(model.objective_)
    row["verdict"] = "" if row["ours"]["kkt_violation"] <= TOL else "wrong (KKT)"
    if case.memory:
        row["ours_memory"] = peak_memory(OURS, X, domain, ours)
    rows = []
    for peer, given in list(params.items())[1:]:
        compared = row | _compared(row, peer, timings[peer])
        if peer in GENERIC:
            assert dual is not None
            _add_check(compared, dual, timings[peer].result)
        if case.memory:
            compared["peer_memory"] = peak_memory(peer, X, domain, given)
        if case.rounds_target and peer == PLAIN:
            allowed = 2 * (model.n_rounds_ + 1)
            compared["target"] = f"<= {allowed} x plain"
            in_time = row["ours_s"] <= allowed * compared["peer_s"]
            compared["verdict"] = compared["verdict"] or ("met" if in_time else "missed (time)")
        rows.append(compared)
    return rows or [row]


def _compared(row: dict[str, Any], peer: str, timing: Timing) -> dict[str, Any]:
    return {
        "peer": peer,
        "peer_s": timing.median,
        "peer_runs_s": timing.seconds,
        "ratio": timing.median / row["ours_s"],
    }


def _add_check(row: dict[str, Any], dual: Any, answer: Any) -> None:
    peer = check(dual, answer.alpha)
    difference = (row["ours"]["objective"] - peer.objective) / abs(peer.objective)
    row["peer_check"] = asdict(peer)
    row["peer_status"] = answer.status
    row["peer_solver_s"] = answer.solver_s
    row["objective_difference"] = difference
    if difference > OBJECTIVE_SLACK:
        row["verdict"] = "wrong (objective)"


def _objective(row: dict[str, Any], key: str) -> str:
    value = row.get(key, {}).get("objective")
    return "" if value is None else f"{value:.8f}"


TRANSFER_COLUMNS = {
    **{name: COLUMNS[name] for name in ("case", "dtype", "ours", "peer", "peer is", "ratio")},
    "rounds": lambda row: str(row["n_rounds"]) if row["params"].get("radius") else "",
    "target": COLUMNS["target"],
    "verdict": COLUMNS["verdict"],
    "dual ours": lambda row: _objective(row, "ours"),
    "dual peer": lambda row: _objective(row, "peer_check"),
    **{name: COLUMNS[name] for name in ("obj. diff.", "KKT ours", "gap ours", "gap peer")},
    "infeasible peer": lambda row: small(row.get("peer_check", {}).get("infeasibility")),
    "primal diff.": lambda row: small(row.get("primal_difference")),
    "MB ours": COLUMNS["MB ours"],
    "MB peer": COLUMNS["MB peer"],
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only, about a minute")
    parser.add_argument("--cases", metavar="PATTERN", default="", help="only cases that match")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; return 1 if one failed to run."""
    options = parse(arguments)
    cases = [c for c in all_cases(options.quick) if re.search(options.cases, c.name)]
    name = (
        "transfer-partial" if options.cases else "transfer-quick" if options.quick else "transfer"
    )
    path = options.out or RESULTS / f"{name}.json"
    content: dict[str, Any] = {
        "machine": machine(),
        "tol": TOL,
        "nu": NU,
        "rows": [],
        "growth": [],
        "failures": [],
    }
    solvers = ("cvxpy", "clarabel", "osqp")
    content["machine"]["versions"] |= {solver: version(solver) for solver in solvers}
    begin = time.perf_counter()
    for number, case in enumerate(cases, 1):
        print(
            f"[{number}/{len(cases)}, {time.perf_counter() - begin:.0f} s] {case.name}",
            file=sys.stderr,
            flush=True,
        )
        try:
            content["rows"] += run_case(case, options.repeats)
        except Exception as reason:  # one broken case must not cost the others
            traceback.print_exc()
            content["failures"].append({"case": case.name, "reason": repr(reason)})
        content["growth"] = growth_rows(content["rows"], {})
        content["total_s"] = time.perf_counter() - begin
        write_json(path, content)
    show(content)
    print(f"{content['total_s']:.0f} s; results in {path}", file=sys.stderr)
    return 1 if content["failures"] else 0


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    size = content["machine"]
    print(f"{size['cpus']} CPUs ({size['processor']}), {size['memory_gb']} GB, {size['date']}")
    print(", ".join(f"{name} {number}" for name, number in size["versions"].items()))
    if content["rows"]:
        print(f"\n{table(content['rows'], TRANSFER_COLUMNS)}")
    if content["growth"]:
        print(f"\n{table(content['growth'], GROWTH_COLUMNS)}")
    for failure in content["failures"]:
        print(f"FAILED {failure['case']}: {failure['reason']}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        sys.exit(main())
