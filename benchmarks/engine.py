"""Benchmark the engine against its peers: ``python -m benchmarks.engine --help``."""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from benchmarks.approximate import run_approximate
from benchmarks.cases import MODES, TOL, Case, all_cases
from benchmarks.fitting import Setup, run_fit
from benchmarks.history import keep_line
from benchmarks.peers import installed_peers, subject
from benchmarks.report import GROWTH_COLUMNS, growth_rows, machine, table, write_json
from benchmarks.scoring import run_score
from benchmarks.startup import startup_rows

RUNNERS = {"fit": run_fit, "score": run_score, "approximate": run_approximate}
BUSY_LOAD = 0.5  # of one CPU, by others, before the first case
RESULTS = Path(__file__).parent / "results"


def note(message: str) -> None:
    """Print progress; the table alone goes to standard output."""
    print(message, file=sys.stderr, flush=True)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--quick",
        dest="mode",
        action="store_const",
        const="quick",
        help="small sizes only, under three minutes",
    )
    mode.add_argument(
        "--full",
        dest="mode",
        action="store_const",
        const="full",
        help="everything, including 50,000 rows, 200,000 rows and a million rows",
    )
    parser.add_argument(
        "--cases",
        metavar="PATTERN",
        default="",
        help="only cases whose name matches this regular expression",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help="runs of each library (default 3); slow ones run less often",
    )
    parser.add_argument(
        "--peers",
        metavar="PATTERN",
        default="",
        help="only peers whose name matches this regular expression, as 'learn$' for scikit-learn",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument(
        "--subject",
        metavar="MODULE",
        default="scarce",
        help="module whose OneClassSVM, SVC and NuSVC are measured; sklearn.svm "
        "checks the benchmark itself: all ratios should be near 1",
    )
    options = parser.parse_args(arguments)
    options.mode = options.mode or "standard"
    options.repeats = options.repeats or 3
    return options


def selected(cases: list[Case], mode: str, pattern: str) -> list[Case]:
    """Return the cases of `mode` that match `pattern`."""
    return [c for c in cases if mode in c.modes and re.search(pattern, c.label)]


def default_path(options: argparse.Namespace) -> Path:
    """Return where the results go: part of the cases never overwrites a whole run."""
    return RESULTS / f"engine-{'partial' if options.cases else options.mode}.json"


def main(arguments: list[str] | None = None) -> int:
    """Run the selected cases; return 1 if a case failed to run."""
    options = parse(arguments)
    assert options.mode in MODES
    cases = selected(all_cases(), options.mode, options.cases)
    if options.list:
        print("\n".join(case.label for case in cases))
        return 0
    path = options.out or default_path(options)
    peers = [p for p in installed_peers(note) if re.search(options.peers, p.name)]
    setup = Setup(subject(options.subject), peers, options.repeats)
    content: dict[str, Any] = {
        "machine": machine(),
        "mode": options.mode,
        "subject": options.subject,
        "tol": TOL,
        "startup": [],
        "rows": [],
        "growth": [],
        "failures": [],
    }
    load = content["machine"]["load_at_start"]
    if load is not None and load > BUSY_LOAD:
        note(f"the machine is busy (load {load}): do not trust the times")
    begin = time.perf_counter()
    if re.search(options.cases, "startup"):
        note("startup")
        content["startup"] = startup_rows(options.subject, max(options.repeats, 3))
    for number, case in enumerate(cases, 1):
        note(f"[{number}/{len(cases)}, {time.perf_counter() - begin:.0f} s] {case.label}")
        try:
            content["rows"] += RUNNERS[case.kind](case, setup)
        except Exception as reason:  # one broken case must not cost an hour of results
            note(traceback.format_exc())
            content["failures"].append({"case": case.label, "reason": repr(reason)})
        targets = {c.growth: c.max_growth for c in cases if c.growth and c.max_growth}
        content["growth"] = growth_rows(content["rows"], targets)
        write_json(path, content)
    content["total_s"] = time.perf_counter() - begin
    write_json(path, content)
    show(content)
    if options.out is None and not options.cases and options.subject == "scarce":
        rows = [row for row in content["rows"] if row.get("peer") == "scikit-learn"]
        ratios = {f"{row['case']}, {row['dtype']}": row["ratio"] for row in rows}
        keep_line("engine", ratios, load=load, clock="perf_counter")
    note(f"{content['total_s']:.0f} s; results in {path}")
    return 1 if content["failures"] else 0


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    size = content["machine"]
    print(f"{size['cpus']} CPUs ({size['processor']}), {size['memory_gb']} GB, {size['date']}")
    print(", ".join(f"{name} {number}" for name, number in size["versions"].items()))
    for rows, columns in (("startup", None), ("rows", None), ("growth", GROWTH_COLUMNS)):
        if content[rows]:
            print()
            print(table(content[rows], columns) if columns else table(content[rows]))
    for failure in content["failures"]:
        print(f"FAILED {failure['case']}: {failure['reason']}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        # A fit that stops early says so; that belongs on the screen once per case.
        warnings.simplefilter("always")
        sys.exit(main())
