"""Samples with heavy tails, discrete columns and odd shapes, and rows that are not of the class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Task = tuple[str, Array, Array]  # a name, rows of the class, other rows

ROWS = 2400


def generated(half: str) -> list[Task]:
    """Return the tasks of a half; the two halves share no shape."""
    return _choosing() if half == "choosing" else _confirming()


def _shuffled(rows: Array, random: np.random.Generator) -> Array:
    """Return rows whose columns do not know of each other."""
    return np.column_stack([column[random.permutation(len(rows))] for column in rows.T])


def _choosing() -> list[Task]:
    random = np.random.default_rng(5)
    tails = random.standard_t(2.5, size=(ROWS, 6)) @ random.normal(size=(6, 6))
    moved = tails[::-1] + 4 * np.abs(tails).mean() * random.normal(size=tails.shape)
    rates = np.exp(random.normal(size=(ROWS, 1))) * np.array([1, 2, 3, 5, 0.5])
    counts = random.poisson(rates).astype(float)
    others = _shuffled(counts, random) * random.integers(1, 4, size=counts.shape)
    centres = 3 * random.normal(size=(4, 8))
    clusters = centres[random.integers(0, 4, ROWS)]
    clusters = clusters + random.normal(size=(ROWS, 8)) * random.uniform(0.3, 1.5, size=8)
    box = clusters.min(axis=0) + np.ptp(clusters, axis=0) * random.uniform(size=(ROWS, 8))
    return [
        ("heavy tails", tails, moved),
        ("counts", counts, others),
        ("clusters", clusters, 0.5 * (box + clusters[::-1])),
    ]


def _confirming() -> list[Task]:
    random = np.random.default_rng(6)
    mixing = random.normal(size=(10, 10)) / 3
    skewed = np.exp(0.8 * random.normal(size=(ROWS, 10)) @ mixing)
    values = random.integers(0, 3, size=(ROWS, 3))
    total = values.sum(axis=1) + random.integers(0, 2, ROWS)
    product = (values[:, 0] * values[:, 1]) % 3
    categories = np.c_[values, total, product, random.integers(0, 2, ROWS)].astype(float)
    angles = random.uniform(0, 3 * np.pi, size=(2, ROWS))
    spiral, other = (
        np.c_[angle * np.cos(angle + turn), angle * np.sin(angle + turn), random.normal(size=ROWS)]
        + noise * random.normal(size=(ROWS, 3))
        for angle, turn, noise in zip(angles, (0.0, 1.0), (0.3, 1.0), strict=True)
    )
    return [
        ("lognormal", skewed, np.exp(0.96 * random.normal(size=skewed.shape))),
        ("categories", categories, _shuffled(categories, random)),
        ("spiral", spiral, other),
    ]
