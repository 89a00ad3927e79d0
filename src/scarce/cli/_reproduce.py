"""`scarce reproduce`: run papers' tables again and write the report."""

import os
import shlex
from functools import cache
from pathlib import Path

from scarce.cli._output import Progress, finish, prepare
from scarce.datasets import DatasetNotFoundError, load_dataset
from scarce.experiments import PAPERS, run_papers


def run(
    paper: str,
    *,
    full: bool,
    repetitions: int | None,
    data: Path | None,
    jobs: int,
    out: Path,
    seed: int,
) -> None:
    """Run one paper or all, print their tables and write the report.

    Parameters
    ----------
    paper : str
        Key of the paper, or "all".
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

    Raises
    ------
    DatasetNotFoundError
        When the data of no table are at hand. What is missing has been printed.
    """
    if data is not None:
        if not data.is_dir():
            raise NotADirectoryError(f"--data names no folder: {data}")
        os.environ["SCARCE_DATA"] = str(data.resolve())  # workers inherit it
    prepare(out)
    extent = "--full" if full else "--quick"
    arguments = [paper, extent, "--jobs", str(jobs), "--seed", str(seed)]
    if repetitions is not None:
        arguments += ["--repetitions", str(repetitions)]
    found = run_papers(
        list(PAPERS.values()) if paper == "all" else [PAPERS[paper]],
        out,
        full=full,
        seed=seed,
        repetitions=repetitions,
        n_jobs=jobs,
        missing=cache(_why_missing),  # many settings share a set, and loading one takes seconds
        report=Progress(),
        command=shlex.join(["scarce", "reproduce", *arguments]),
    )
    finish(found, out)
    if not any(result.tables for result in found.papers):
        raise DatasetNotFoundError(
            "nothing was run, because none of the data sets is at hand; name their folder by "
            "--data or SCARCE_DATA"
        )


def _why_missing(name: str) -> str | None:
    """Return why a data set cannot be had, None if it can."""
    try:
        load_dataset(name)
    except DatasetNotFoundError as error:
        return str(error)
    return None
