"""Time and memory of learning from shares: ``python -m benchmarks.proportions --help``.

Three questions. How long does the kernel between group means take, and how much memory, against the
full matrix of all rows. How long does the tube solver take against generic solvers of the same
quadratic program. And do the linear and the low-rank path stay linear in the number of rows.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child import run_child
from benchmarks.memory import MB, _peak_bytes
from benchmarks.report import COLUMNS, GROWTH_COLUMNS, growth_rows, machine, table, write_json
from benchmarks.timing import interleaved

SIZE = 8  # rows in a group, as in the paper
N_FEATURES = 16
GAMMA = 0.05
PUBLISHED = {"cost_per": "group", "calibrate": None}  # the same problem as that of the peers
TOL = 1e-3
GENERIC = ("Clarabel", "OSQP")
WANTED_RATIO = 20.0
WANTED_MB = 1536.0
NAIVE_UP_TO = 20_000  # rows whose full matrix is 3.2 GB
WARM_UP_ROWS = 64
RESULTS = Path(__file__).parent / "results"


def sample(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, the share of positives in each row's group, and the groups."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)).astype(dtype)
    positive = X[:, : d // 4].sum(axis=1) + 0.5 * random.normal(size=n) > 0
    groups = np.arange(n) // SIZE
    share = np.bincount(groups, positive) / np.bincount(groups)
    return X, share[groups], groups


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes
    ----------
    kind : {"means", "newton", "fit"}
        The kernel between group means, the quadratic program alone, or a whole fit.
    n : int
        Rows; for "newton" the units ``n + d``.
    """

    name: str
    kind: str
    n: int
    d: int = N_FEATURES
    dtype: str = "float64"
    estimator: str = "TransferGroupProbabilitySVM"
    params: dict[str, Any] = field(default_factory=dict)
    peers: tuple[str, ...] = ()
    memory: bool = False
    growth: str | None = None
    target: str = ""


def all_cases(quick: bool) -> list[Case]:
    """Return the cases, or small ones of every kind."""
    cases = []
    for n in (1_000, 2_000) if quick else (5_000, 20_000, 50_000):
        for dtype in ("float64", "float32"):
            cases.append(
                Case(
                    f"group means {n} rows",
                    "means",
                    n,
                    dtype=dtype,
                    peers=("full matrix",) if n <= NAIVE_UP_TO else (),
                    memory=True,
                    growth="group means",
                    target=f"< {WANTED_MB:.0f} MB" if n == 50_000 else "",
                )
            )
    for n in (200, 400) if quick else (500, 1_000, 2_000):
        cases.append(
            Case(
                f"program of {n} units",
                "newton",
                n,
                peers=GENERIC,
                target=f">= {WANTED_RATIO:g} x" if n == 2_000 else "",
            )
        )
    for n in (500, 1_000, 2_000) if quick else (5_000, 20_000, 50_000):
        for estimator in ("TransferGroupProbabilitySVM", "GroupProbabilitySVM"):
            cases.append(Case(f"fit rbf {n} rows", "fit", n, estimator=estimator, memory=not quick))
    low_rank = {"approximation": "nystroem", "n_components": 200, "random_state": 0}
    paths = {"linear": {"kernel": "linear"}, "low rank": low_rank}
    for path, params in paths.items():
        for n in (2_000, 8_000, 32_000) if quick else (62_500, 250_000, 1_000_000):
            for estimator in ("TransferGroupProbabilitySVM", "GroupProbabilitySVM"):
                growth = f"{path} {estimator}"
                case = Case(f"fit {path} {n} rows", "fit", n, 50, "float32", estimator, params)
                memory = n == 1_000_000
                cases.append(Case(**{**vars(case), "growth": growth, "memory": memory}))
    return cases


# The quadratic program, once for all solvers.


@dataclass(frozen=True)
class Program:
    """``1/2 t'(K + 1/C) t - z't + eps'|t|`` under ``sum t = 0``."""

    K: np.ndarray
    targets: np.ndarray
    tubes: np.ndarray
    costs: np.ndarray

    def dual(self, theta: np.ndarray) -> float:
        """Return the objective of multipliers, to be minimised, in plain NumPy."""
        value = 0.5 * theta @ (self.K @ theta) + 0.5 * (theta**2 / self.costs).sum()
        return float(value - self.targets @ theta + self.tubes @ np.abs(theta))


def program(n: int) -> Program:
    """Return a program of ``n`` units, a tenth of them common rows, the others groups."""
    from scarce.kernels import group_mean_kernel, make_kernel

    n_common = n // 10
    n_groups = n - n_common
    X, y, _ = sample(n_common + SIZE * n_groups, N_FEATURES, "float64")
    codes = np.concatenate([np.arange(n_common), n_common + np.arange(SIZE * n_groups) // SIZE])
    K = group_mean_kernel(X, codes, make_kernel("rbf", gamma=GAMMA), n)
    share = np.clip(np.bincount(codes, y)[n_common:] / SIZE, 0.0625, 0.9375)
    common = 2.0 * np.tanh(X[:n_common, :4].sum(axis=1))
    targets = np.concatenate([common, np.log(share / (1 - share))])
    tubes = np.concatenate([np.zeros(n_common), 0.01 / (share * (1 - share))])
    return Program(K / 2.0, targets, tubes, np.full(n, 1.0))


def newton(problem: Program) -> Any:
    from scarce.solvers import GramSystem, solve_tube

    system = GramSystem(problem.K)
    return solve_tube(system, problem.targets, problem.tubes, problem.costs, tol=TOL)


def generic(solver: str, problem: Program) -> np.ndarray:
    """Solve the same program through cvxpy, the absolute values split as the solver likes them."""
    import cvxpy as cp

    settings: dict[str, Any] = {
        "Clarabel": {"tol_feas": TOL, "tol_gap_abs": TOL, "tol_gap_rel": TOL},
        "OSQP": {"eps_abs": TOL, "eps_rel": 0.0, "max_iter": 20_000},
    }[solver]
    theta = cp.Variable(problem.targets.size)
    Q = problem.K + np.diag(1.0 / problem.costs)
    objective = 0.5 * cp.quad_form(theta, cp.psd_wrap(Q)) - problem.targets @ theta
    objective += problem.tubes @ cp.abs(theta)
    task = cp.Problem(cp.Minimize(objective), [cp.sum(theta) == 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task.solve(solver=solver.upper(), **settings)
    if theta.value is None:
        raise RuntimeError(f"{solver}: {task.status}")
    return np.asarray(theta.value)


# What is run, here and in a process of its own.


def run(what: str, task: dict[str, Any], X: np.ndarray, y: np.ndarray, groups: np.ndarray) -> Any:
    """Return group means by this library or from the full matrix, or a fitted estimator."""
    if what == "full matrix":
        values = X @ X.T
        norms = np.einsum("ij,ij->i", X, X)
        values *= 2 * GAMMA
        values -= GAMMA * norms
        values -= GAMMA * norms[:, None]
        np.exp(values, out=values)
        starts = np.arange(0, len(X), SIZE)
        sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
        return sums / SIZE**2
    if what == "group means":
        from scarce.kernels import group_mean_kernel, make_kernel

        return group_mean_kernel(X, groups, make_kernel("rbf", gamma=GAMMA), int(groups[-1]) + 1)
    import scarce

    return getattr(scarce, task["estimator"])(tol=TOL, **PUBLISHED, **task["params"]).fit(
        X, y, groups
    )


def peak_memory(what: str, case: Case) -> dict[str, float]:
    """Return base, peak and their difference in MB, in a process of its own."""
    X, y, groups = sample(case.n, case.d, case.dtype)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y, groups=groups)
        task = {"what": what, "path": str(path), "estimator": case.estimator, "params": case.params}
        return run_child("benchmarks.proportions", json.dumps(task))


def measure(task: dict[str, Any]) -> dict[str, float]:
    """Do the work of `peak_memory` in the child."""
    data = np.load(task["path"])
    X, y, groups = data["X"], data["y"], data["groups"]
    few = slice(0, WARM_UP_ROWS)
    small = {**task, "params": {**task["params"]}}
    if "n_components" in small["params"]:
        small["params"]["n_components"] = 8
    run(task["what"], small, X[few], y[few], groups[few])
    base = _peak_bytes()
    run(task["what"], task, X, y, groups)
    peak = _peak_bytes()
    return {"base_mb": base / MB, "peak_mb": peak / MB, "fit_mb": (peak - base) / MB}


def run_case(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Return one row of results for each peer, or one without."""
    if case.kind == "newton":
        return _program_rows(case, repeats)
    X, y, groups = sample(case.n, case.d, case.dtype)
    ours = "group means" if case.kind == "means" else case.estimator
    task = {"estimator": case.estimator, "params": case.params}
    few = slice(0, 80)
    warm = {**task, "params": {k: v for k, v in case.params.items() if k != "n_components"}}
    for what in (ours, *case.peers):
        run(what, warm, X[few], y[few], groups[few])  # imports
    timings = interleaved(
        {what: lambda w=what: run(w, task, X, y, groups) for what in (ours, *case.peers)}, repeats
    )
    row = _row(case, timings[ours], case.n, case.d)
    if case.kind == "fit":
        model = timings[ours].result
        row["ours"] = {"kkt_violation": model.kkt_violation_, "dual_gap": model.dual_gap_}
        row["objective"], row["n_iter"] = model.objective_, int(model.n_iter_)
        row["verdict"] = "" if model.kkt_violation_ <= TOL else "wrong (KKT)"
    if case.memory:
        row["ours_memory"] = peak_memory(ours, case)
        if case.kind == "means":
            result = (case.n // SIZE) ** 2 * 8 / MB
            row["above_result_mb"] = row["ours_memory"]["fit_mb"] - result
            if case.target:
                row["verdict"] = "met" if row["above_result_mb"] < WANTED_MB else "missed (memory)"
    rows = []
    for peer in case.peers:
        compared = row | _compared(row, peer, timings[peer])
        difference = np.abs(timings[peer].result - timings[ours].result).max()
        compared["peer_difference"] = float(difference)
        if case.memory:
            compared["peer_memory"] = peak_memory(peer, case)
        rows.append(compared)
    return rows or [row]


def _program_rows(case: Case, repeats: int) -> list[dict[str, Any]]:
    problem = program(case.n)
    small = program(50)
    newton(small)
    for peer in case.peers:
        generic(peer, small)  # imports
    runs = {"ours": lambda: newton(problem)}
    runs |= {peer: lambda p=peer: generic(p, problem) for peer in case.peers}
    timings = interleaved(runs, repeats)
    solution = timings["ours"].result
    row = _row(case, timings["ours"], case.n, case.d)
    row["ours"] = {
        "kkt_violation": solution.kkt_violation,
        "dual_gap": solution.dual_gap,
        "objective": problem.dual(solution.theta),
    }
    row["n_iter"] = solution.n_iter
    rows = []
    for peer in case.peers:
        compared = row | _compared(row, peer, timings[peer])
        theta = timings[peer].result
        value = problem.dual(theta - theta.mean())
        difference = (row["ours"]["objective"] - value) / abs(value)
        compared["peer_check"] = {"objective": value}
        compared["objective_difference"] = difference
        compared["verdict"] = "wrong (objective)" if difference > 1e-6 else ""
        rows.append(compared)
    if case.target:
        met = min(each["ratio"] for each in rows) >= WANTED_RATIO
        for each in rows:
            each["verdict"] = each["verdict"] or ("met" if met else "missed (time)")
    return rows


def _row(case: Case, timing: Any, n: int, d: int) -> dict[str, Any]:
    return asdict(case) | {
        "case": case.name + (f" {case.estimator}" if case.kind == "fit" else ""),
        "n": n,
        "d": d,
        "ours_s": timing.median,
        "ours_runs_s": timing.seconds,
    }


def _compared(row: dict[str, Any], peer: str, timing: Any) -> dict[str, Any]:
    return {
        "peer": peer,
        "peer_s": timing.median,
        "peer_runs_s": timing.seconds,
        "ratio": timing.median / row["ours_s"],
    }


SHARE_COLUMNS = {
    **{name: COLUMNS[name] for name in ("case", "dtype", "ours", "peer", "peer is", "ratio")},
    "steps": lambda row: str(row.get("n_iter", "")),
    "target": COLUMNS["target"],
    "verdict": COLUMNS["verdict"],
    **{name: COLUMNS[name] for name in ("obj. diff.", "KKT ours", "gap ours")},
    "MB ours": COLUMNS["MB ours"],
    "MB peer": COLUMNS["MB peer"],
    "MB above result": lambda row: (
        f"{row['above_result_mb']:.0f}" if "above_result_mb" in row else ""
    ),
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proportions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only, about a minute")
    parser.add_argument("--cases", metavar="PATTERN", default="", help="only cases that match")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; return 1 if one failed to run."""
    options = parse(arguments)
    cases = [c for c in all_cases(options.quick) if re.search(options.cases, c.name)]
    kind = "-partial" if options.cases else "-quick" if options.quick else ""
    path = options.out or RESULTS / f"proportions{kind}.json"
    content: dict[str, Any] = {"machine": machine(), "tol": TOL, "rows": [], "failures": []}
    solvers = ("cvxpy", "clarabel", "osqp")
    content["machine"]["versions"] |= {solver: version(solver) for solver in solvers}
    begin = time.perf_counter()
    for number, case in enumerate(cases, 1):
        seconds = time.perf_counter() - begin
        print(f"[{number}/{len(cases)}, {seconds:.0f} s] {case.name}", file=sys.stderr, flush=True)
        try:
            content["rows"] += run_case(case, options.repeats)
        except Exception as reason:  # one broken case must not cost the others
            traceback.print_exc()
            content["failures"].append({"case": case.name, "reason": repr(reason)})
        content["growth"] = growth_rows(content["rows"], {})
        content["total_s"] = time.perf_counter() - begin
        write_json(path, content)
    show(content)
    return 1 if content["failures"] else 0


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    size = content["machine"]
    print(f"{size['cpus']} CPUs ({size['processor']}), {size['memory_gb']} GB, {size['date']}")
    print(", ".join(f"{name} {number}" for name, number in size["versions"].items()))
    if content["rows"]:
        print(f"\n{table(content['rows'], SHARE_COLUMNS)}")
    if content["growth"]:
        print(f"\n{table(content['growth'], GROWTH_COLUMNS)}")
    for failure in content["failures"]:
        print(f"FAILED {failure['case']}: {failure['reason']}")


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(measure(json.loads(sys.argv[1]))))
    else:
        sys.exit(main())
