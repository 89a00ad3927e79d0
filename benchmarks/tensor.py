"""Time and memory of tensor machines: ``python -m benchmarks.tensor --help``.

One-class: against scikit-learn's linear `OneClassSVM` on the flattened images. Its weights have
full rank, so that the objectives differ; ours is bounded by its. Two classes: against hottbox's
`LSSTM` where hottbox is installed. Its loss is another one (squared slacks), so that only time and
accuracy can be compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM

from benchmarks.memory import peak_memory
from benchmarks.report import COLUMNS, GROWTH_COLUMNS, growth_rows, machine, table, write_json
from benchmarks.timing import interleaved
from scarce import STM, OneClassSTM

VECTORS, LEAST_SQUARES = "OneClassSVM on vectors", "hottbox LSSTM"
MEMORY_TARGET = 1.5  # times the input
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Case:
    """One problem.

    Attributes
    ----------
    problem : {"one_class", "binary"}
    n, side
        Number of images and their side.
    nu, rank
        Parameters of the machine.
    target : bool
        Ask for less time than the machine on vectors.
    growth : str or None
        Cases of the same `growth` differ in one size only.
    """

    problem: str
    n: int
    side: int
    dtype: str = "float64"
    nu: float = 0.5
    rank: int = 1
    target: bool = False
    memory: bool = False
    peer: bool = True
    growth: str | None = None

    @property
    def name(self) -> str:
        what = f"{self.problem} {self.n} of {self.side}x{self.side}"
        what += f" nu={self.nu:g}" if self.problem == "one_class" else ""
        return what + (f" rank={self.rank}" if self.rank > 1 else "")

    def images(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a smooth pattern of varying brightness under noise, and labels.

        Images of the second class have a second pattern on top, of a third of the size.
        """
        random = np.random.default_rng(0)
        signs = np.where(np.arange(self.n) % 2, 1.0, -1.0)
        position = np.linspace(0.0, 1.0, self.side)
        bump = np.exp(-30.0 * (position - 0.5) ** 2)
        pattern = np.outer(bump, bump) + 0.3 * position[:, None]
        X = random.normal(scale=0.5, size=(self.n, self.side, self.side)) + 0.2
        X += (1.0 + 0.2 * random.normal(size=(self.n, 1, 1))) * pattern
        if self.problem == "binary":
            X += 0.15 * (1.0 + signs[:, None, None]) * np.outer(position, bump)
        return X.astype(self.dtype), signs


def all_cases(quick: bool) -> Iterator[Case]:
    """Return the cases, or small ones of every kind."""
    for dtype in ("float64", "float32"):
        for nu in (0.5, 0.1):
            yield Case("one_class", 200, 64, dtype, nu=nu, target=True)
    yield Case("one_class", 200, 64, nu=0.5, rank=3)
    for dtype in ("float64", "float32"):
        n = 2_000 if quick else 10_000
        yield Case("one_class", n, 32, dtype, nu=0.1, memory=not quick, peer=quick)
    yield Case("binary", 2_000 if quick else 10_000, 32, memory=not quick, peer=False)
    for n, side in ((100, 16), (200, 32)) if quick else ((100, 16), (200, 32), (200, 64)):
        yield Case("binary", n, side)
    for n in (250, 500, 1_000) if quick else (500, 1_000, 2_000, 4_000, 8_000):
        yield Case("one_class", n, 24, growth="images of 24x24, n")
    for side in (16, 32, 64) if quick else (16, 32, 64, 128, 256):
        yield Case("one_class", 100, side, growth="100 images, side")


def run_case(case: Case, repeats: int) -> dict[str, Any]:
    """Return the row of results of a case."""
    X, y = case.images()
    flat = X.reshape(case.n, -1)
    one_class = case.problem == "one_class"
    params: dict[str, Any] = {"rank": case.rank}
    if one_class:  # one fit is compared with one fit: scores of samples left out take many
        params |= {"nu": case.nu, "offset": "training"}
    ours = OneClassSTM if one_class else STM
    runs = {"ours": lambda: ours(**params).fit(X, y)}
    if one_class and case.peer:
        runs[VECTORS] = lambda: OneClassSVM(kernel="linear", nu=case.nu).fit(flat)
    elif case.peer and importlib.util.find_spec("hottbox"):
        runs[LEAST_SQUARES] = lambda: least_squares_machine(X, y)
    ours(**params).fit(X[:60], y[:60])  # warms up
    timings = interleaved(runs, repeats)
    model = timings["ours"].result
    row: dict[str, Any] = {
        "case": case.name,
        "dtype": case.dtype,
        "n": case.n if "side" not in (case.growth or "") else case.side,
        "params": params,
        "ours_s": timings["ours"].median,
        "ours_runs_s": timings["ours"].seconds,
        "sweeps": model.n_iter_,
        "converged": model.converged_,
        "objective": model.objective_,
        "ours": {"kkt_violation": model.kkt_violation_, "dual_gap": model.dual_gap_},
        "growth": case.growth,
        "input_mb": X.nbytes / 2**20,
    }
    sound = model.converged_ and model.kkt_violation_ <= model.tol
    row["verdict"] = "" if sound else "wrong (not converged)"
    if one_class and case.peer:
        vector = timings[VECTORS].result
        # LIBSVM's multipliers sum to nu n; the spec's objective is minus half the norm.
        weights = vector.dual_coef_ @ vector.support_vectors_ / (case.nu * case.n)
        row["peer_objective"] = -0.5 * float((weights**2).sum())
    if not one_class:
        row["accuracy"] = float(np.mean(model.predict(X) == y))
    if case.memory:
        row["ours_memory"] = peak_memory(
            "scarce", ours.__name__, params, X, None if one_class else y
        )
        share = 1.0 + row["ours_memory"]["fit_mb"] / row["input_mb"]
        row["memory_share"] = share
        row["target"] = f"< {MEMORY_TARGET} x input"
        met = "met" if share < MEMORY_TARGET else "missed (memory)"
        row["verdict"] = row["verdict"] or met
    for peer in [name for name in timings if name != "ours"]:
        row |= {
            "peer": peer,
            "peer_s": timings[peer].median,
            "peer_runs_s": timings[peer].seconds,
            "ratio": timings[peer].median / row["ours_s"],
        }
        if peer == LEAST_SQUARES:
            row["peer_accuracy"] = timings[peer].result
        if case.target:
            row["target"] = "> 1 x vectors"
            row["verdict"] = row["verdict"] or ("met" if row["ratio"] > 1 else "missed (time)")
    return row


def least_squares_machine(X: np.ndarray, y: np.ndarray) -> float:
    """Fit hottbox's machine at its defaults; return its training accuracy by its own weights."""
    from hottbox.algorithms.classification import LSSTM
    from hottbox.core import Tensor

    np.random.seed(0)  # noqa: NPY002 - its start is drawn from the global state
    model = LSSTM()
    model.fit([Tensor(image) for image in X], y)
    scores = np.einsum("iab,a,b->i", X, *model.weights_) + model.bias_
    first = model._orig_labels[0]
    return float(np.mean((scores > 0) == (y == first)))


def _share(row: dict[str, Any], key: str) -> str:
    return f"{row[key]:.3f}" if key in row else ""


def _value(row: dict[str, Any], key: str) -> str:
    return f"{row[key]:.6g}" if key in row else ""


TENSOR_COLUMNS = {
    **{name: COLUMNS[name] for name in ("case", "dtype", "ours", "peer", "peer is", "ratio")},
    "sweeps": lambda row: str(row["sweeps"]),
    "target": COLUMNS["target"],
    "verdict": COLUMNS["verdict"],
    "objective": lambda row: _value(row, "objective"),
    "objective peer": lambda row: _value(row, "peer_objective"),
    "accuracy": lambda row: _share(row, "accuracy"),
    "accuracy peer": lambda row: _share(row, "peer_accuracy"),
    "KKT ours": COLUMNS["KKT ours"],
    "gap ours": COLUMNS["gap ours"],
    "MB input": lambda row: f"{row['input_mb']:.0f}" if "memory_share" in row else "",
    "MB ours": COLUMNS["MB ours"],
    "peak / input": lambda row: _share(row, "memory_share"),
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensor", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only, about a minute")
    parser.add_argument("--cases", metavar="PATTERN", default="", help="only cases that match")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; return 1 if one failed to run."""
    options = parse(arguments)
    cases = [c for c in all_cases(options.quick) if re.search(options.cases, c.name)]
    name = "tensor-partial" if options.cases else "tensor-quick" if options.quick else "tensor"
    path = options.out or RESULTS / f"{name}.json"
    content: dict[str, Any] = {"machine": machine(), "rows": [], "growth": [], "failures": []}
    content["hottbox"] = bool(importlib.util.find_spec("hottbox"))
    begin = time.perf_counter()
    for number, case in enumerate(cases, 1):
        elapsed = time.perf_counter() - begin
        print(f"[{number}/{len(cases)}, {elapsed:.0f} s] {case.name}", file=sys.stderr, flush=True)
        try:
            content["rows"].append(run_case(case, options.repeats))
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
    if not content["hottbox"]:
        print("hottbox is not installed: the binary machine has no peer")
    if content["rows"]:
        print(f"\n{table(content['rows'], TENSOR_COLUMNS)}")
    if content["growth"]:
        print(f"\n{table(content['growth'], GROWTH_COLUMNS)}")
    for failure in content["failures"]:
        print(f"FAILED {failure['case']}: {failure['reason']}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        sys.exit(main())
