"""Time, memory and F1 of mapping convergence: ``python -m benchmarks.positive_unlabeled --help``.

The peer is the same loop on scikit-learn's `OneClassSVM` and `NuSVC`, with the same kernel and
tolerance. SMC is the loop that keeps all negatives.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.metrics import f1_score

from benchmarks.data import letters
from benchmarks.memory import peak_memory
from benchmarks.report import GROWTH_COLUMNS, growth_rows, machine, seconds, table, write_json
from benchmarks.timing import interleaved
from scarce import SVMC, MappingConvergence
from scarce.positive_unlabeled import OneClassMapper

TOL = 1e-5
NU, MAPPING_NU = 0.01, 0.1
RESULTS = Path(__file__).parent / "results"
MEMORY_LIMIT_MB = 4096
# Positives, unlabelled rows and positives among them, as printed in the paper.
LETTERS = {
    "A": (521, 10007, 384),
    "B": (571, 10004, 377),
    "C": (485, 9996, 371),
    "D": (525, 10050, 402),
    "E": (518, 10026, 392),
}


@dataclass(frozen=True)
class Sample:
    """Rows of the fit with labels +1 (positive) and -1 (unlabelled), and new rows with classes."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Case:
    """One sample, and who meets on it.

    Attributes
    ----------
    sample : callable
        Makes the sample.
    peers : tuple of str
        Of "scikit-learn" and "SMC".
    targets : bool
        Whether the ratios of times that the project asks for apply.
    growth : str or None
        Cases of the same `growth` differ in the number of rows only.
    """

    name: str
    sample: Callable[[], Sample]
    gamma: float | str = "scale"
    peers: tuple[str, ...] = ()
    targets: bool = False
    growth: str | None = None
    memory: bool = False


TARGETS = {"scikit-learn": 5.0, "SMC": 3.8}


def letter_sample(letter: str, seed: int = 0) -> Sample:
    """Return a draw with the sizes of the paper; P and U are drawn from the same images."""
    X, names = letters()
    n_positive, n_unlabelled, n_hidden = LETTERS[letter]
    random = np.random.default_rng(seed)
    own, others = np.flatnonzero(names == letter), np.flatnonzero(names != letter)
    positive = random.choice(own, n_positive, replace=False)
    hidden = random.choice(own, n_hidden, replace=False)
    rest = random.choice(others, n_unlabelled - n_hidden, replace=False)
    rows = np.concatenate([positive, hidden, rest])
    new = np.setdiff1d(np.arange(len(X)), rows)
    y = np.repeat([1, -1], [n_positive, n_unlabelled])
    return Sample(X[rows], y, X[new], names[new] == letter)


def shells(n_unlabelled: int, d: int = 16, seed: int = 0) -> Sample:
    """Return a class around the origin among rows at all distances beyond; 5 % are positive."""
    random = np.random.default_rng(seed)
    n_positive, n_new = n_unlabelled // 20, 20_000
    n = n_positive + n_unlabelled + n_new
    of_class = random.random(n) < 0.05
    of_class[:n_positive] = True
    scale = np.where(of_class, 0.5, random.uniform(1.0, 2.5, n))
    X = (random.normal(size=(n, d)) * scale[:, None]).astype(np.float32)
    y = np.repeat([1, -1], [n_positive, n_unlabelled])
    return Sample(X[:-n_new], y, X[-n_new:], of_class[-n_new:])


def all_cases(quick: bool) -> Iterator[Case]:
    """Return the cases, or small ones of every kind."""
    for letter in "A" if quick else "ABCDE":
        yield Case(
            f"letter {letter}",
            lambda w=letter: letter_sample(w),
            peers=("scikit-learn", "SMC"),
            targets=True,
        )
    for n in (2_000, 10_000) if quick else (10_000, 100_000, 1_000_000):
        peers = ("scikit-learn", "SMC") if n <= 10_000 else ("SMC",) if n <= 100_000 else ()
        yield Case(
            f"shells {n}x16", lambda n=n: shells(n), peers=peers, growth="shells", memory=True
        )


def estimators(gamma: float | str) -> dict[str, Callable[[], Any]]:
    """Return what can be fitted, by name."""
    theirs = {"gamma": gamma, "tol": TOL}
    return {
        "SVMC": lambda: SVMC(gamma=gamma, nu=NU, mapping_nu=MAPPING_NU, tol=TOL, diagnose=False),
        "SMC": lambda: SVMC(
            gamma=gamma, nu=NU, mapping_nu=MAPPING_NU, tol=TOL, keep="all", diagnose=False
        ),
        "scikit-learn": lambda: MappingConvergence(
            mapper=OneClassMapper(svm.OneClassSVM(nu=MAPPING_NU, **theirs)),
            classifier=svm.NuSVC(nu=NU, **theirs),
            keep="support",
            stop=None,
            diagnose=False,
            tol=TOL,
        ),
    }


def run_case(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Return one row of results for each peer."""
    sample = case.sample()
    makers = estimators(case.gamma)
    few = np.random.default_rng(0).choice(len(sample.y), 1000, replace=False)
    makers["SVMC"]().fit(sample.X[few], sample.y[few])  # warms up
    timings = interleaved(
        {
            name: lambda name=name: makers[name]().fit(sample.X, sample.y)
            for name in ("SVMC", *case.peers)
        },
        repeats,
    )
    facts = {name: _facts(timing.result, sample) for name, timing in timings.items()}
    row: dict[str, Any] = {
        "case": case.name,
        "dtype": str(sample.X.dtype),
        "n": int((sample.y == -1).sum()),
        "d": sample.X.shape[1],
        "ours_s": timings["SVMC"].median,
        "ours_runs_s": timings["SVMC"].seconds,
        "ours": facts["SVMC"],
        "growth": case.growth,
        "verdict": "",
    }
    if case.memory:
        row["ours_memory"] = peak_memory(
            "scarce", "SVMC", {"gamma": case.gamma}, sample.X, sample.y
        )
        if not case.peers:
            row["target"] = f"< {MEMORY_LIMIT_MB} MB"
            within = row["ours_memory"]["peak_mb"] < MEMORY_LIMIT_MB
            row["verdict"] = "met" if within else "missed (memory)"
    rows = []
    for peer in case.peers:
        ratio = timings[peer].median / row["ours_s"]
        compared = row | {
            "peer": peer,
            "peer_s": timings[peer].median,
            "peer_runs_s": timings[peer].seconds,
            "peer_facts": facts[peer],
            "ratio": ratio,
        }
        rows.append(compared)
        if not case.targets:
            continue
        compared["target"] = f">= {TARGETS[peer]:g}"
        faults = ["time"] if ratio < TARGETS[peer] else []
        if peer == "scikit-learn" and facts["SVMC"]["f1"] < facts[peer]["f1"] - 1e-3:
            faults.append("F1")
        compared["verdict"] = f"missed ({', '.join(faults)})" if faults else "met"
    return rows or [row]


def _facts(model: Any, sample: Sample) -> dict[str, Any]:
    return {
        "f1": float(f1_score(sample.truth, model.predict(sample.new) == 1)),
        "class_prior": model.accepted_share_,
        "rounds": model.n_rounds_,
        "mapping_s": model.mapping_seconds_,
        "history": model.history_,
    }


COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "case": lambda row: row["case"],
    "ours": lambda row: seconds(row["ours_s"]),
    "peer": lambda row: seconds(row.get("peer_s")),
    "peer is": lambda row: row.get("peer", ""),
    "ratio": lambda row: f"{row['ratio']:.3g}" if "ratio" in row else "",
    "target": lambda row: row.get("target", ""),
    "verdict": lambda row: row["verdict"],
    "F1 ours": lambda row: f"{row['ours']['f1']:.4f}",
    "F1 peer": lambda row: f"{row['peer_facts']['f1']:.4f}" if "peer_facts" in row else "",
    "rounds ours": lambda row: str(row["ours"]["rounds"]),
    "rounds peer": lambda row: str(row["peer_facts"]["rounds"]) if "peer_facts" in row else "",
    "prior": lambda row: f"{row['ours']['class_prior']:.4f}",
    "peak MB": lambda row: f"{row['ours_memory']['peak_mb']:.0f}" if "ours_memory" in row else "",
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.positive_unlabeled", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only, about a minute")
    parser.add_argument("--cases", metavar="PATTERN", default="", help="only cases that match")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; return 1 if one failed to run."""
    options = parse(arguments)
    cases = [c for c in all_cases(options.quick) if re.search(options.cases, c.name)]
    suffix = "-partial" if options.cases else "-quick" if options.quick else ""
    path = options.out or RESULTS / f"positive_unlabeled{suffix}.json"
    content: dict[str, Any] = {
        "machine": machine(),
        "tol": TOL,
        "nu": NU,
        "mapping_nu": MAPPING_NU,
        "rows": [],
        "growth": [],
        "failures": [],
    }
    begin = time.perf_counter()
    for number, case in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}, {time.perf_counter() - begin:.0f} s] {case.name}",
              file=sys.stderr, flush=True)  # fmt: skip
        try:
            content["rows"] += run_case(case, options.repeats)
        except Exception as reason:  # one broken case must not cost the others
            traceback.print_exc()
            content["failures"].append({"case": case.name, "reason": repr(reason)})
        content["growth"] = growth_rows(content["rows"], {})
        content["total_s"] = time.perf_counter() - begin
        write_json(path, content)
    print(table(content["rows"], COLUMNS) if content["rows"] else "no rows")
    if content["growth"]:
        print(f"\n{table(content['growth'], GROWTH_COLUMNS)}")
    print(f"{content['total_s']:.0f} s; results in {path}", file=sys.stderr)
    return 1 if content["failures"] else 0


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        sys.exit(main())
