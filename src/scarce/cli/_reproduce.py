"""`scarce reproduce`: run papers' tables again and write the report."""

import os
import shlex
from pathlib import Path

from scarce.cli._output import Progress, finish
from scarce.datasets import DatasetNotFoundError, load_dataset
from scarce.experiments import PAPERS, run_papers


def run(
    papers: list[str],
    *,
    full: bool,
    repetitions: int | None,
    data: Path | None,
    jobs: int,
    out: Path,
    seed: int,
) -> None:
    """Run papers, print their tables and write the report.

    Parameters
    ----------
    papers : list of str
        Keys of the papers.
    full : bool
        Every cell whose data is at hand, or a quick selection.
    repetitions : int or None
        Largest number of repetitions of a setting; None for the paper's.
    data : Path or None
        Folder with the data sets; None leaves the choice to ``SCARCE_DATA``.
    jobs : int
        Cells that run at once.
    out : Path
        Folder of the run; one that was cut short there goes on.
    seed : int
        Seed of all cells.
    """
    if data is not None:
        if not data.is_dir():
            raise NotADirectoryError(f"--data names no folder: {data}")
        os.environ["SCARCE_DATA"] = str(data.resolve())  # workers inherit it
    extent = "--full" if full else "--quick"
    arguments = [*papers, extent, "--jobs", str(jobs), "--seed", str(seed)]
    if repetitions is not None:
        arguments += ["--repetitions", str(repetitions)]
    found = run_papers(
        [PAPERS[key] for key in papers],
        out,
        full=full,
        seed=seed,
        repetitions=repetitions,
        n_jobs=jobs,
        missing=_why_missing,
        report=Progress(),
        command=shlex.join(["scarce", "reproduce", *arguments]),
    )
    finish(found, out)


def _why_missing(name: str) -> str | None:
    """Return why a data set cannot be had, None if it can."""
    try:
        load_dataset(name)
    except DatasetNotFoundError as error:
        return str(error)
    return None
