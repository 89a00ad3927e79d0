"""What a run shows while it goes on, and what it leaves behind."""

import json
import math
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

from papers import Run, conditions_as_text, paper_as_text, render
from scarce._model_files import write_whole


class Progress:
    """Shows finished cells on standard error: one line that is rewritten, or, in a log, few."""

    def __init__(self) -> None:
        self._name = ""
        self._start = self._shown = 0.0
        self._before = 0

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show how many of a paper's cells are finished."""
        now = time.monotonic()
        if name != self._name:
            self._name, self._start, self._shown, self._before = name, now, -1e9, done
        interactive = sys.stderr.isatty()
        if done < total and now - self._shown < (0.2 if interactive else 15.0):
            return
        self._shown = now
        line = f"{name}: {done} of {total} cells, {now - self._start:.0f} s"
        if self._before < done < total:
            left = (now - self._start) * (total - done) / (done - self._before)
            line += f", about {left:.0f} s left"
        end = "\n" if done == total or not interactive else ""
        print(("\r\033[K" if interactive else "") + line, end=end, file=sys.stderr, flush=True)


def prepare(out: Path) -> None:
    """Create the folder of a run, so that a wrong name is noticed before the work."""
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"--out must name a folder, but {out} is a file")
    out.mkdir(parents=True, exist_ok=True)


def finish(run: Run, out: Path) -> None:
    """Print the tables of a run; write them as Markdown, as JSON and as a report to look at."""
    # Files first: whoever reads what is printed may hang up before its end.
    for paper in run.papers:
        text = f"{paper_as_text(paper, level=1)}\n{conditions_as_text(run)}\n"
        write_whole(out / f"{paper.key}.md", text)
    write_whole(out / "results.json", json.dumps(asdict(run), indent=1))
    report = out / "report.html"
    write_whole(report, render(run))
    # A terminal would break lines that are too long; a file or pipe does not.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else math.inf
    for paper in run.papers:
        print(paper_as_text(paper, width=width))
    print(f"Report: {report.resolve().as_uri()}")
    print(f"Tables and cell files: {out.resolve()}")
