"""`scarce demo`: what each family is for, on data that comes with scikit-learn, and a report."""

import shutil
from dataclasses import replace
from pathlib import Path

from scarce.cli import _speed
from scarce.cli._output import Progress, finish, prepare
from scarce.experiments import run_papers
from scarce.experiments.demo import DEMO

NOTE = (
    "A demonstration, not a study: parameters were fixed beforehand but for one, repetitions are "
    "few. The papers' own tables are run by scarce reproduce."
)


def run(rows: int, out: Path, jobs: int) -> None:
    """Compare our fits with scikit-learn's, then run all families and write the report.

    Parameters
    ----------
    rows : int
        Number of rows of the generated data that fits are timed on.
    out : Path
        Folder for the report.
    jobs : int
        Cells that run at once.
    """
    prepare(out)
    _speed.run(rows)
    print(flush=True)
    shutil.rmtree(out / "cells" / DEMO.key, ignore_errors=True)  # always as of today's code
    found = run_papers(
        [DEMO],
        out,
        full=True,
        seed=0,
        n_jobs=jobs,
        missing=lambda name: None,
        report=Progress(),
        command="scarce demo",
    )
    finish(replace(found, title="scarce: a demonstration", notes=(NOTE,)), out)
