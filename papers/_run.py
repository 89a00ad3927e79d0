"""Run the cells of papers that are not on file yet, and put everything on file together."""

from __future__ import annotations

import datetime
import os
import platform
import re
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from papers._cells import Cell, Finding, cell_of
from papers._choice import narrowed, with_methods, with_quick_methods
from papers._experiment import QUICK, Experiment, Outcome, Paper, Record
from papers._results import Figure, PaperResult, Run, Table
from papers._summary import read_records, summarise, write_records

REPORTED_VERSIONS = ("scarce", "numpy", "scipy", "scikit-learn", "joblib")

Missing = Callable[[str], str | None]
Report = Callable[[str, int, int], None]


def run_papers(
    papers: Sequence[Paper],
    out: Path,
    *,
    full: bool,
    seed: int,
    n_jobs: int,
    missing: Missing,
    report: Report,
    repetitions: int | None = None,
    only: str | None = None,
    grid: str = QUICK,
    methods: Sequence[str] | None = None,
    on_file: bool = False,
    earlier: Path | None = None,
    command: str = "",
) -> Run:
    """Run papers, going on where an earlier run into the same folder stopped.

    Parameters
    ----------
    papers : sequence of Paper
        What to run.
    out : Path
        Folder of the run. Finished cells are in ``out/cells``.
    full : bool
        All settings and repetitions, or those of a quick run.
    seed : int
        Seed that those of all cells are derived from.
    n_jobs : int
        Cells that run at once. The tables do not depend on it.
    missing : callable
        Returns why a data set is not at hand, by name, or None if it is.
    report : callable
        Called with the paper's key, the number of finished cells and of all, at each change.
    repetitions : int or None
        Run no more than so many repetitions of each setting.
    only : str or None
        One table, or one table and setting, as "table-1/letter A"; see `narrowed`.
    grid : {"quick", "paper"}
        Which values of the parameters are tried.
    methods : sequence of str or None
        Run and show these methods only. What others have on file is kept.
    on_file : bool
        Run nothing, and put together what is on file.
    earlier : Path or None
        Folder ``cells`` of an earlier run with the same seed and grid, of which the CSV files are
        enough. What it holds need not be run again.
    command : str
        The command to repeat the run with, for the record.
    """
    start = time.perf_counter()
    options: dict[str, Any] = {
        "full": full,
        "seed": seed,
        "n_jobs": n_jobs,
        "repetitions": repetitions,
        "grid": grid,
        "on_file": on_file,
        "earlier": earlier,
    }
    chosen = [with_methods(narrowed(paper, only), methods) for paper in papers]
    results = [run_paper(paper, out, missing=missing, report=report, **options) for paper in chosen]
    return Run(
        title="The papers' tables, run again",
        created=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=command,
        settings={
            "extent": "full" if full else "quick",
            "grid": grid,
            "seed": str(seed),
            "jobs": str(n_jobs),
        },
        versions={"python": platform.python_version()}
        | {name: version(name) for name in REPORTED_VERSIONS},
        machine=f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        papers=tuple(results),
        seconds=None if any(r.seconds is None for r in results) else time.perf_counter() - start,
    )


def run_paper(
    paper: Paper,
    out: Path,
    *,
    full: bool,
    seed: int,
    n_jobs: int,
    missing: Missing,
    report: Report,
    repetitions: int | None = None,
    grid: str = QUICK,
    on_file: bool = False,
    earlier: Path | None = None,
) -> PaperResult:
    """Run one paper; see `run_papers`."""
    start = time.perf_counter()
    cells: dict[str, list[Cell]] = {}
    skipped: list[str] = []
    if not full:
        paper, skipped = with_quick_methods(paper)
    for experiment in paper.experiments:
        settings = _settings_at_hand(experiment, full, missing, skipped)
        folder = out / "cells" / paper.key / experiment.key
        number = experiment.repetitions if full else experiment.quick_repetitions
        number = number if repetitions is None else min(number, repetitions)
        if settings and number < experiment.repetitions and not on_file:
            skipped.append(
                f"{experiment.title}: {number} of {experiment.repetitions} repetitions were run"
            )
        cells[experiment.key] = [
            cell_of(experiment, setting, repetition, seed, folder, grid)
            for repetition in range(number)
            for setting in settings
        ]
    # First repetitions first, so that a run cut short has something to say about everything.
    every_cell = sorted(
        (cell for group in cells.values() for cell in group), key=lambda cell: cell.repetition
    )
    if earlier is not None:
        for key, group in cells.items():
            _take_over(group, earlier / paper.key / f"{key}.csv")
    resumed = any(cell.path.exists() for cell in every_cell)
    findings = _on_file(every_cell)
    if on_file:
        skipped += _absent(cells, findings)
    else:
        findings = _finished(every_cell, findings, paper.key, n_jobs, report)
    tables: list[Table] = []
    figures: list[Figure] = []
    for experiment in paper.experiments:
        records = [
            Record(cell.setting, cell.repetition, outcome)
            for cell in cells[experiment.key]
            if cell.path in findings
            for outcome in findings[cell.path].outcomes
            if outcome.method in experiment.methods
        ]
        if records:
            write_records(records, out / "cells" / paper.key / f"{experiment.key}.csv")
            table = summarise(experiment, records, f"cells/{paper.key}/{experiment.key}")
            tables.append(table)
            if experiment.draw is not None:
                figures += experiment.draw(table, records)
    return PaperResult(
        paper.key,
        paper.title,
        paper.citation,
        tuple(tables),
        tuple(figures),
        tuple(skipped),
        _counted(findings.values()),
        None if resumed else time.perf_counter() - start,
    )


def _settings_at_hand(
    experiment: Experiment, full: bool, missing: Missing, skipped: list[str]
) -> list[str]:
    """Return the settings to run; say in ``skipped`` why others are not."""
    reasons = [reason for name in experiment.needs if (reason := missing(name))]
    if reasons:
        skipped.append(f"{experiment.title}: {reasons[0]}")
        return []
    settings = []
    late = []
    absent: dict[str, list[str]] = {}
    for setting, arguments in experiment.settings.items():
        reason = missing(arguments["data"]) if "data" in arguments else None
        if reason:
            absent.setdefault(reason, []).append(setting)
        elif not full and experiment.quick_settings and setting not in experiment.quick_settings:
            late.append(setting)
        else:
            settings.append(setting)
    # Names of settings may hold commas.
    for reason, names in absent.items():
        skipped.append(f"{experiment.title}, {'; '.join(names)}: {reason}")
    if late:
        skipped.append(f"{experiment.title}: {'; '.join(late)} (quick run)")
    return settings


def _on_file(cells: Iterable[Cell]) -> dict[Path, Finding]:
    return {cell.path: found for cell in cells if (found := cell.read()) is not None}


def _take_over(cells: list[Cell], path: Path) -> None:
    """Put on file what the table of an earlier run holds of the cells, if there is one."""
    outcomes: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
    for record in read_records(path) if path.exists() else ():
        outcomes[record.setting, record.repetition].append(record.outcome)
    for cell in cells:
        found = outcomes.get((cell.setting, cell.repetition))
        if found:
            methods = tuple(dict.fromkeys(outcome.method for outcome in found))
            remarks = ("taken over from the tables of an earlier run",)
            before = Finding(tuple(found), remarks, version("scarce"), methods)
            here = cell.read()
            cell.write(before if here is None else before.joined(here))


def _absent(cells: dict[str, list[Cell]], findings: dict[Path, Finding]) -> list[str]:
    """Say what of the tables is not on file: whole ones, settings, and columns."""
    lines = []
    for group in filter(None, cells.values()):
        experiment = group[0].experiment
        there = [cell for cell in group if cell.path in findings]
        run = {name for cell in there for name in findings[cell.path].methods}
        settings = dict.fromkeys(cell.setting for cell in group)
        without = [name for name in settings if name not in {cell.setting for cell in there}]
        columns = [name for name in experiment.methods if name not in run]
        if not there:
            lines.append(f"{experiment.title}: not run")
            continue
        lines += [f"{experiment.title}: {'; '.join(without)}"] if without else []
        lines += [f"{experiment.title}, columns: {'; '.join(columns)}"] if columns else []
    return lines


def _finished(
    cells: list[Cell],
    findings: dict[Path, Finding],
    name: str,
    n_jobs: int,
    report: Report,
) -> dict[Path, Finding]:
    """Return the findings of all cells, running what is not on file."""
    findings = dict(findings)
    todo = []
    for cell in cells:
        present = findings[cell.path].methods if cell.path in findings else ()
        methods = tuple(name for name in cell.experiment.methods if name not in present)
        if methods:
            todo.append((cell, methods))
    done = len(cells) - len(todo)
    report(name, done, len(cells))
    for cell, finding in _computed(todo, n_jobs):
        before = findings.get(cell.path)
        whole = finding if before is None else before.joined(finding)
        cell.write(whole)
        findings[cell.path] = whole
        done += 1
        report(name, done, len(cells))
    return findings


def _counted(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return each warning, and each other version, with the number of cells it concerns."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts.update(finding.remarks)
        if finding.version != version("scarce"):
            counts[f"run by another version of scarce, {finding.version or 'unknown'}"] += 1
    return tuple(f"{remark} ({count} cells)" for remark, count in sorted(counts.items()))


def _computed(
    todo: list[tuple[Cell, tuple[str, ...]]], n_jobs: int
) -> Iterator[tuple[Cell, Finding]]:
    """Yield the cells as they finish, whatever joblib backend runs them."""
    jobs = (
        delayed(_run_cell)(index, cell.experiment.run, cell.arguments, methods, cell.title)
        for index, (cell, methods) in enumerate(todo)
    )
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        batches: Iterable[Iterable[Any]] = [jobs]
    except ValueError:  # multiprocessing's backend, and Ray's, hand back whole lists only
        parallel = Parallel(n_jobs=n_jobs)
        batches = iter(lambda: list(islice(jobs, 4 * n_jobs)), [])
    for batch in batches:
        for index, finding in parallel(batch):
            yield todo[index][0], finding


def _run_cell(
    index: int,
    run: Callable[..., list[Outcome]],
    arguments: dict[str, Any],
    methods: tuple[str, ...],
    title: str,
) -> tuple[int, Finding]:
    """Run one cell in a worker; one thread each, so that sums do not depend on the workers."""
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            outcomes = run(**arguments, methods=methods)
    except Exception as error:
        raise RuntimeError(f"{title}: {error}") from error
    # Figures differ from cell to cell; without them equal warnings can be counted.
    texts = (f"{w.category.__name__}: {str(w.message).splitlines()[0]}" for w in raised)
    remarks = {re.sub(r"#(, #)+", "#", re.sub(r"[-+\d.]*\d[-+\de.]*", "#", text)) for text in texts}
    return index, Finding(tuple(outcomes), tuple(sorted(remarks)), version("scarce"), methods)
