"""What every run found, one line each in history.jsonl, and a picture of it.

A benchmark that is run whole and writes to its own results file adds a line: its name, the commit
(with ``-dirty`` if files differ from it), the date, how busy the machine was, the clock, and
scikit-learn's time over ours by case. ``python -m benchmarks.history FILE`` draws them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Line = dict[str, Any]

HISTORY = Path(__file__).parent / "history.jsonl"
BUSY = 1.0  # load for each CPU at the start, from which a run is drawn hollow
PANELS: dict[str, tuple[str, dict[str, str]]] = {  # title: benchmark, legend of its cases
    "one class, nu .1, few rows": (
        "small",
        {f"one-class nu .1, {n}": f"{n:,} rows" for n in (100, 1000, 5000)},
    ),
    "SVC, C 1, few rows": ("small", {f"SVC C 1, {n}": f"{n:,} rows" for n in (100, 1000, 5000)}),
    "20,000 rows, float64": (
        "engine",
        {
            "one-class 20000x16 nu=0.1, float64": "one class, nu .1",
            "one-class 20000x16 nu=0.5, float64": "one class, nu .5",
            "C-SVC 20000x16 easy C=1, float64": "SVC, little overlap",
        },
    ),
    "several classes": (
        "several_classes",
        {"digits, C = 1, fit": "digits, fit", "digits, C = 1, predict": "digits, predict"},
    ),
}


def commit() -> str | None:
    """Return the commit of the working tree, None outside of one."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        run = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


def keep_line(
    benchmark: str,
    ratios: Mapping[str, float],
    *,
    load: float | None,
    clock: str,
    path: Path = HISTORY,
) -> None:
    """Add the line of a run that has just ended."""
    line = {
        "benchmark": benchmark,
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "load": None if load is None else round(load, 1),
        "cpus": os.cpu_count(),
        "clock": clock,
        "ratios": {case: float(f"{ratio:.3g}") for case, ratio in ratios.items()},
    }
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def read_lines(path: Path = HISTORY) -> list[Line]:
    """Return all lines, in the order of the runs."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def draw_history(lines: Sequence[Line]) -> Any:
    """Return a figure: a panel for each kind of fit, runs from left to right."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(9.5, 7.0), layout="constrained")
    for axes, (title, (benchmark, cases)) in zip(panels.flat, PANELS.items(), strict=True):
        runs = [line for line in lines if line["benchmark"] == benchmark]
        runs = [line for line in runs if not line["ratios"].keys().isdisjoint(cases)]
        for case, label in cases.items():
            points = [
                (k, run["ratios"][case], (run["load"] or 0.0) / run["cpus"] >= BUSY)
                for k, run in enumerate(runs)
                if case in run["ratios"]
            ]
            (drawn,) = axes.plot([p[0] for p in points], [p[1] for p in points], label=label)
            for busy in (False, True):
                some = [p[:2] for p in points if p[2] == busy]
                face = "none" if busy else drawn.get_color()
                place = ([p[0] for p in some], [p[1] for p in some])
                axes.scatter(*place, edgecolors=drawn.get_color(), facecolors=face, zorder=3)
        axes.axhline(1.0, color="gray", lw=0.8)
        names = [f"{run['commit'] or '?'}\n{run['date'][5:]}" for run in runs]
        axes.set_xticks(range(len(runs)), names, fontsize=8)
        axes.margins(x=0.15)
        axes.set(title=title, yscale="log", ylabel="scikit-learn's time / ours")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:.0e}"[0] in "235" else "")
        axes.legend(fontsize=8)
    return figure


def main() -> None:
    """Draw to the file named."""
    draw_history(read_lines()).savefig(sys.argv[1], dpi=120)


if __name__ == "__main__":
    main()
