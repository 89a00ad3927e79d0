"""From the records of an experiment to its table."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from papers._cells import slug
from papers._experiment import Experiment, Outcome, Record
from papers._results import FIXED, PROTOCOLS, Score, Table
from papers._statistics import paired_p_values
from scarce._model_files import write_whole

Figures = dict[int, float]


def summarise(experiment: Experiment, records: Iterable[Record], folder: str) -> Table:
    """Return the table of an experiment: means, deviations, tests, the paper's figures.

    Parameters
    ----------
    experiment : Experiment
        Where settings, methods and printed figures come from.
    records : iterable of Record
        Outcomes of all cells.
    folder : str
        Folder of the cell files, relative to the run's.
    """
    figures: dict[tuple[str, str, str, str], Figures] = defaultdict(dict)
    for record in records:
        for metric, value in record.outcome.values.items():
            key = (record.setting, record.outcome.protocol, metric, record.outcome.method)
            figures[key][record.repetition] = value

    settings = tuple(s for s in experiment.settings if any(key[0] == s for key in figures))
    scores: list[Score] = []
    for setting in settings:
        for protocol in PROTOCOLS:
            for metric in experiment.metrics:
                of_methods = {
                    method: figures[setting, protocol, metric, method]
                    for method in experiment.methods
                    if (setting, protocol, metric, method) in figures
                }
                reference = of_methods.get(experiment.reference) or figures.get(
                    (setting, FIXED, metric, experiment.reference)
                )
                scores += _row(experiment, setting, protocol, metric, of_methods, reference, folder)
    return Table(
        experiment.key,
        experiment.title,
        experiment.caption,
        dict(experiment.metrics),
        settings,
        experiment.methods,
        experiment.reference,
        tuple(scores),
    )


def write_records(records: Iterable[Record], path: Path) -> None:
    """Write what the cells of an experiment hold as one table, a line for each figure."""
    import pandas as pd

    lines = [
        {
            "setting": record.setting,
            "repetition": record.repetition,
            "method": record.outcome.method,
            "protocol": record.outcome.protocol,
            "metric": metric,
            "value": value,
            "parameters": json.dumps(record.outcome.parameters, sort_keys=True, default=float),
            "seconds": round(record.outcome.seconds, 4),
        }
        for record in records
        for metric, value in record.outcome.values.items()
    ]
    write_whole(path, pd.DataFrame(lines).to_csv(index=False))


def read_records(path: Path) -> list[Record]:
    """Return what `write_records` has written."""
    outcomes: dict[tuple[str, int, str, str], Outcome] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            key = (line["setting"], int(line["repetition"]), line["method"], line["protocol"])
            if key not in outcomes:
                parameters = json.loads(line["parameters"])
                outcomes[key] = Outcome(*key[2:], {}, parameters, float(line["seconds"]))
            outcomes[key].values[line["metric"]] = float(line["value"])
    return [Record(*key[:2], outcome) for key, outcome in outcomes.items()]


def _row(
    experiment: Experiment,
    setting: str,
    protocol: str,
    metric: str,
    of_methods: dict[str, Figures],
    reference: Figures | None,
    folder: str,
) -> Sequence[Score]:
    others = {name: f for name, f in of_methods.items() if name != experiment.reference}
    p_values = paired_p_values(reference, others) if reference else {}
    row = []
    for method, by_repetition in of_methods.items():
        values = np.array([by_repetition[r] for r in sorted(by_repetition)])
        row.append(
            Score(
                setting,
                method,
                protocol,
                metric,
                mean=float(values.mean()),
                std=float(values.std(ddof=1)) if values.size > 1 else 0.0,
                n=values.size,
                printed=experiment.printed.get((setting, method, metric)),
                p_value=p_values.get(method),
                cells=f"{folder}/{slug(setting)}",
            )
        )
    return row
