"""One-class tasks with related tasks, after Xiao, Liu, Yu and Hao (2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.data._dataset import Array


@dataclass(frozen=True, eq=False)
class OneClassTransferSplit:
    """Which rows are the target's, which the sources', which are tested."""

    target: Array
    sources: tuple[Array, ...]
    test: Array
    is_target: Array
    """The truth about each test row."""

    @property
    def train(self) -> Array:
        """Rows to learn from, sources first."""
        return np.concatenate([*self.sources, self.target])

    @property
    def sample_domain(self) -> Array:
        """Domain of each row of `train`: 0, 1, ... for the sources, -1 for the target."""
        sizes = [source.size for source in self.sources]
        return np.repeat([*range(len(sizes)), -1], [*sizes, self.target.size])


def one_class_transfer_split(
    label: Any,
    target: str,
    sources: Sequence[str],
    *,
    random_state: Any,
    negatives: Sequence[str] | None = None,
    target_share: float = 0.1,
    n_negatives: int | str = "balanced",
    n_sources: int | None = None,
    max_source: int | None = None,
) -> OneClassTransferSplit:
    """Draw a part of the target class to train on; test the rest of it and negatives.

    Parameters
    ----------
    label : array-like of shape (n,)
        Class of each row.
    target : str
        Label of the target class.
    sources : sequence of str
        Labels of the source tasks; all their rows train.
    random_state : int or Generator
        The seed.
    negatives : sequence of str, default=None
        Labels of the negatives. None: all others.
    target_share : float, default=0.1
        Share of the target class that trains.
    n_negatives : int, "balanced" or "all", default="balanced"
        Negatives to test, drawn at random. "balanced": as many as positives; of the more numerous
        only so many are tested as of the others. The paper gives a number for Isolet only, 300.
    n_sources : int, default=None
        Draw so many of the sources. None takes all.
    max_source : int, default=None
        Draw no more than so many rows of a source, to save time. None takes all, as the paper.

    Returns
    -------
    OneClassTransferSplit
        Numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import one_class_transfer_split
    >>> label = np.repeat(["S", "X", "A", "B"], 100)
    >>> split = one_class_transfer_split(label, "S", ["X"], random_state=0)
    >>> split.target.size, split.sample_domain.size, split.test.size
    (10, 110, 180)
    """
    label = np.asarray(label)
    rng = np.random.default_rng(random_state)
    own = rng.permutation(np.flatnonzero(label == target))
    n_train = round(target_share * own.size)
    if not 1 <= n_train <= own.size:
        raise ValueError(
            f"target_share={target_share} of the {own.size} rows labelled {target!r} is {n_train} "
            "rows; it must be at least one and no more than all"
        )
    if negatives is None:
        others = np.flatnonzero((label != target) & ~np.isin(label, list(sources)))
    else:
        others = np.flatnonzero(np.isin(label, list(negatives)))
    positives = own[n_train:]
    count = _number_of_negatives(n_negatives, others.size, positives.size)
    drawn = rng.choice(others, count, replace=False)
    if n_negatives == "balanced":
        positives = positives[:count]
    if n_sources is not None:
        sources = [sources[i] for i in rng.choice(len(sources), n_sources, replace=False)]
    rows = [np.flatnonzero(label == source) for source in sources]
    for source, members in zip(sources, rows, strict=True):
        if not members.size:
            raise ValueError(f"sources: no row is labelled {source!r}")
    if max_source is not None:
        rows = [
            np.sort(rng.choice(members, max_source, replace=False))
            if members.size > max_source
            else members
            for members in rows
        ]
    test = np.concatenate([positives, drawn])
    return OneClassTransferSplit(
        own[:n_train], tuple(rows), test, np.arange(test.size) < positives.size
    )


def _number_of_negatives(wanted: int | str, available: int, n_positives: int) -> int:
    if wanted == "all":
        return available
    if wanted == "balanced":
        return min(n_positives, available)
    if isinstance(wanted, str) or not 0 <= wanted <= available:
        raise ValueError(
            f'n_negatives must be "balanced", "all" or between 0 and {available}, got {wanted!r}'
        )
    return wanted
