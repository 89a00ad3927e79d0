"""What the tests of the papers' cells share."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from papers import Experiment, Outcome, Paper, PaperResult, run_papers


def by_kind(outcomes: list[Outcome]) -> dict[tuple[str, str], Outcome]:
    """Return the outcomes by method and protocol, each of which occurs once."""
    found = {(outcome.method, outcome.protocol): outcome for outcome in outcomes}
    assert len(found) == len(outcomes)
    return found


def untimed(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes without what differs between two runs of the same cell."""
    return [replace(outcome, seconds=0.0) for outcome in outcomes]


def chosen(outcomes: list[Outcome], protocol: str) -> dict[str, Any]:
    """Return the parameters that each method chose under a protocol."""
    return {
        outcome.method: outcome.parameters for outcome in outcomes if outcome.protocol == protocol
    }


def table_of(paper: Paper, key: str) -> Experiment:
    """Return one experiment of a paper."""
    return next(experiment for experiment in paper.experiments if experiment.key == key)


def short_run(out: Path, experiment: Experiment, settings: tuple[str, ...]) -> PaperResult:
    """Run two repetitions of some settings of an experiment."""
    short = replace(
        experiment,
        settings={name: experiment.settings[name] for name in settings},
        repetitions=2,
    )
    paper = Paper("short", "A short run", "", (short,))
    options = {"full": True, "seed": 0, "n_jobs": 1}
    silent = {"missing": lambda name: None, "report": lambda name, done, total: None}
    return run_papers([paper], out, **options, **silent).papers[0]
