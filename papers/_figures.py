"""Figures that several papers share: a metric along the settings, times of the methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from papers._experiment import Record
from papers._results import Figure, Series, Table


def along_settings(
    table: Table,
    *,
    key: str,
    title: str,
    x: Mapping[str, float],
    x_label: str,
    metric: str,
    protocol: str,
    log_x: bool = False,
    printed: bool = True,
) -> Figure:
    """Draw a metric of each method over settings that are numbers.

    Parameters
    ----------
    table : Table
        Where the figures come from.
    key, title, x_label : str
        Name of the figure and its headings.
    x : dict of str to float
        Place of each setting on the axis; settings that are not named are left out.
    metric, protocol : str
        Which of the table's figures to draw.
    log_x : bool, default=False
        Whether the axis is logarithmic.
    printed : bool, default=True
        Whether to draw the paper's figures too, dashed.
    """
    series = []
    for method in table.methods:
        scores = sorted(
            (
                s
                for s in table.scores
                if (s.method, s.metric, s.protocol) == (method, metric, protocol) and s.setting in x
            ),
            key=lambda score: x[score.setting],
        )
        if not scores:
            continue
        places = tuple(x[score.setting] for score in scores)
        means, stds = tuple(s.mean for s in scores), tuple(s.std for s in scores)
        series.append(Series(method, places, means, stds))
        theirs = {x[s.setting]: s.printed for s in scores if s.printed is not None}
        if printed and theirs:
            series.append(Series(method, tuple(theirs), tuple(theirs.values()), printed=True))
    caption = f"{table.title}. Parameters: {protocol}."
    label = table.metrics[metric]
    return Figure(key, title, caption, x_label, label, tuple(series), log_x=log_x)


def curve(**figure: Any) -> Callable[[Table, list[Record]], tuple[Figure, ...]]:
    """Return what draws the one figure of a table, by the arguments of `along_settings`."""
    return lambda table, _: (along_settings(table, **figure),)


def running_times(table: Table, records: list[Record], key: str, remark: str = "") -> Figure:
    """Draw the seconds that each method took in each setting, medians over the repetitions.

    Parameters
    ----------
    table : Table
        Gives the methods and settings.
    records : list of Record
        Where the times come from.
    key : str
        Name of the figure.
    remark : str, default=""
        What a method does more than one fit and its evaluation.
    """
    series = []
    for method in table.methods:
        places, seconds = [], []
        for place, setting in enumerate(table.settings):
            taken = [
                r.outcome.seconds
                for r in records
                if r.setting == setting and r.outcome.method == method
            ]
            if taken:
                places.append(float(place))
                seconds.append(float(np.median(taken)))
        if places:
            series.append(Series(method, tuple(places), tuple(seconds)))
    return Figure(
        key,
        f"Running time: {table.title}",
        "Median over repetitions of one fit and its evaluation, workers sharing the machine."
        + (f" {remark}" if remark else ""),
        "",
        "seconds",
        tuple(series),
        log_y=True,
        ticks=table.settings,
    )
