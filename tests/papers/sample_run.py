"""A run as large and as uneven as a real one; its figures mean nothing."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from papers._results import (
    BEST_OF_GRID,
    FIXED,
    SELECTED,
    Figure,
    PaperResult,
    Run,
    Score,
    Series,
    Table,
)

CAPTION = (
    "One source task, 40 % of the training rows with noise. The paper does not say how parameters "
    "were chosen: here once by two-fold validation on the target's positives with uniform "
    "artificial outliers, once by the test labels. Width of the kernel from five quantiles of the "
    "pairwise distances; the coupling from 0.1, 1 and 10. The negatives of the test set are all "
    "rows of the remaining sub-categories."
)
METHODS = ("UOCT-SVM", "TLOC-SVM", "UOC-SVM", "OC-SVM", "OC-SVM, pooled", "MTOC", "Weighted PU")
SETTINGS = (
    "RT.orgs(1)",
    "RT.people(1)",
    "RT.place(1)",
    "MR.edible(1)",
    "MR.poisonous(2)",
    "NG.os against NG.hockey, one half",
    "NG.hockey",
    "NG.crypt",
    "Isolet S/X",
)


def _scores(random, metric, protocol, level, spread, *, settings=SETTINGS, methods=METHODS, key):
    scores = []
    for row, setting in enumerate(settings):
        for column, method in enumerate(methods):
            mean = level * (1 - 0.04 * column) * random.uniform(0.93, 1.07)
            is_printed = metric != "speed" and (row + column) % 4 != 3
            scores.append(
                Score(
                    setting,
                    method,
                    protocol,
                    metric,
                    mean=mean,
                    std=spread * random.uniform(0.4, 3),
                    n=10 if row != 4 else 7 + column % 3,
                    printed=round(mean + random.normal(scale=spread), 2) if is_printed else None,
                    p_value=None if column == 0 else float(random.choice([0.0004, 0.031, 0.4, 1])),
                    cells=f"cells/{key}/{row:02d}"
                    if row % 2
                    else f"cells/{key}/{row:02d}/{column}-{protocol.replace(' ', '-')}",
                )
            )
    return tuple(scores)


def _one_source(random):
    return Table(
        key="one-source",
        title="Table 2: one source task",
        caption=CAPTION,
        metrics={"f": "F of the target class, percent", "speed": "Fits a second"},
        settings=SETTINGS,
        methods=METHODS,
        reference="UOCT-SVM",
        scores=(
            *_scores(random, "f", SELECTED, 78, 1.2, key="uoct/one-source"),
            *_scores(random, "f", BEST_OF_GRID, 84, 1.1, key="uoct/one-source"),
            *_scores(random, "speed", SELECTED, 0.08, 0.01, key="uoct/one-source"),
        ),
    )


def _several_sources(random):
    scores = _scores(
        random,
        "f",
        FIXED,
        0.81,
        0.02,
        settings=SETTINGS[:5],
        methods=METHODS[:4],
        key="uoct/several",
    )
    return Table(
        key="several",
        title="Table 3: several source tasks",
        caption="Without a choice of parameters. Two cells were not run.",
        metrics={"f": "F of the target class"},
        settings=SETTINGS[:5],
        methods=METHODS[:4],
        reference="UOCT-SVM",
        scores=scores[:9] + scores[11:],
    )


def _line(random, name, x, start, slope, *, spread=None, printed=False):
    y = [start + slope * place + random.normal(scale=0.8) for place in range(len(x))]
    spreads = () if spread is None else tuple(random.uniform(0.5, 1.5, len(x)) * spread)
    return Series(name, tuple(map(float, x)), tuple(y), spreads, printed)


def _noise(random):
    x = (20, 40, 60, 80, 100)
    return Figure(
        "noise",
        "Figure 4: noise level, MR.edible(1)",
        "Share of training rows with noise. Bars are standard deviations over 10 repetitions.",
        "Rows with noise, percent",
        "F of the target class, percent",
        tuple(
            _line(random, name, x, 88 - 3 * number, -1.5 - 0.6 * number, spread=1.1)
            for number, name in enumerate(METHODS)
        ),
    )


def _angles(random):
    x = (0, 10, 20, 30, 40)
    return Figure(
        "angles",
        "Figure 2: rotation angle of the two moons",
        "Ten per cent common rows. Dashed: read off the paper's table.",
        "Rotation, degrees",
        "Accuracy, percent",
        (
            _line(random, "TGPLM-CD", x, 97, -2, spread=1.5),
            _line(random, "TGPLM-CD", x, 96, -1.8, printed=True),
            _line(random, "IC-SVM", x, 95, -4, spread=1.8),
        ),
    )


def _time(random):
    x = tuple(int(n) for n in np.geomspace(100, 100_000, 7))
    lines = []
    for number, name in enumerate(("SVMC", "Mapping convergence", "SVM, all negatives")):
        y = tuple(1e-6 * n ** (1.4 + 0.3 * number) * random.uniform(0.8, 1.2) for n in x)
        lines.append(Series(name, tuple(map(float, x)), y, tuple(0.3 * v for v in y)))
    return Figure(
        "time",
        "Figure 5: running time",
        "Median of three runs on one core.",
        "Rows",
        "Seconds",
        tuple(lines),
        log_x=True,
        log_y=True,
    )


def _lambda(random):
    x = tuple(10.0**power for power in range(-6, 7))
    return Figure(
        "lambda",
        "Figure 3: the weight of the source, lambda",
        "Ten per cent common rows, 30 degrees.",
        "λ",
        "Accuracy, percent",
        (_line(random, "TGPLM-CD", x, 80, 0.9), _line(random, "IC-SVM", x, 82, 0)),
        log_x=True,
    )


def _categories(random):
    x = tuple(range(len(SETTINGS)))
    return Figure(
        "sets",
        "Figure 6: all data sets side by side",
        "Each mean with its standard deviation; open markers are the paper's figures.",
        "Data set",
        "F of the target class, percent",
        (
            *(
                _line(random, name, x, 85 - 4 * number, -0.5, spread=2)
                for number, name in enumerate(METHODS[:3])
            ),
            _line(random, METHODS[0], x, 86, -0.5, printed=True),
        ),
        ticks=SETTINGS,
    )


def _rounds(random):
    return Figure(
        "rounds",
        "Figure 7: rounds until nothing changes",
        "Few categories.",
        "Training size",
        "Rounds",
        (_line(random, "SVMC", (0, 1, 2), 4, 1, spread=0.5),),
        ticks=("small", "middle", "large"),
    )


def _many(random):
    ticks = tuple(f"{name}, {size} rows" for name in SETTINGS[:5] for size in range(2, 9))
    lines = tuple(
        Series(
            name,
            tuple(map(float, range(len(ticks)))),
            tuple(random.lognormal(number - 3, 1, len(ticks))),
        )
        for number, name in enumerate(METHODS[:4])
    )
    caption = "What each method took, *not* counting the choice of parameters."
    return Figure("times", "Running time", caption, "", "Seconds", lines, log_y=True, ticks=ticks)


def sample_run() -> Run:
    """Two papers, tables with many columns, a figure of each kind, something skipped."""
    random = np.random.default_rng(0)
    uoct = PaperResult(
        "uoct",
        "Uncertain one-class transfer learning",
        "A. Author, B. Author and C. Author: Uncertain one-class transfer learning with support "
        "vector machines. A journal of long names, volume 12, pages 345 to 367, 2014.",
        (_one_source(random), _several_sources(random)),
        (_noise(random), _categories(random), _many(random)),
        (
            "LDPA: the file localization.csv is not in the data folder.",
            "Table 3, NG rows: more than the time of a quick run.",
        ),
        remarks=("ConvergenceWarning: stopped after 50 rounds (3 cells)",),
        seconds=4321.0,
    )
    tgplm = PaperResult(
        "tgplm",
        "Transfer from group probabilities with common data",
        "D. Author: Transfer learning from group probabilities. A conference, 2015.",
        (),
        (_angles(random), _lambda(random), _time(random), _rounds(random)),
        seconds=75.4,
    )
    return Run(
        title="The papers' tables, run again",
        created="2026-11-15 21:04 UTC",
        command="python -m papers all --quick --data data --jobs 2 --seed 0 --out results/quick",
        settings={"mode": "quick", "seed": "0", "repetitions": "10", "jobs": "2"},
        versions={"scarce": "0.1.0", "scikit-learn": "1.9.0", "NumPy": "2.3.1", "Python": "3.11.7"},
        machine="2 cores, x86_64, 8 GB, Linux",
        papers=(uoct, tgplm),
        seconds=4400.1,
        notes=("A quick run: fewer repetitions and rows than the papers had.",),
    )


def _hostile(value: Any) -> Any:
    """Return the value with every text in it turned into an attack."""
    if isinstance(value, str):
        attack = f"\"'><img src=http://example.invalid/{value} onerror=alert(1)>"
        return f"{attack}</style></title></td>\x1b\udcff&amp;"
    if isinstance(value, tuple):
        return tuple(_hostile(item) for item in value)
    if isinstance(value, dict):
        return {_hostile(name): _hostile(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{item.name: _hostile(getattr(value, item.name)) for item in fields(value)}
        )
    return value


def hostile_run() -> Run:
    """Return the same run, every text of it an attempt to break out of the page."""
    return _hostile(sample_run())
