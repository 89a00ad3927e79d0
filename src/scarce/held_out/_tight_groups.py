"""Groups of rows that are equal or nearly so: anomalies that vouch for each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from scarce._arrays import Array
from scarce.held_out._scores import ROUNDING, HeldOutScores

NEAR = 0.5  # of the median distance to the nearest row: rows up to it count as one
ODD_TOGETHER = 0.2  # proportion of the other rows that may score lower than a group held out
AT_LEAST = 2.0  # times what the median row counts is the least weight of a group
BLOCK = 4_000_000  # kernel values at a time
SAME = 1e-12  # squared distance, relative to the diagonal, that may be rounding


def representatives(
    values: Callable[[Array, Array], Array], members: Array, weights: Array, most: float
) -> tuple[Array, list[Array]]:
    """Return the distinct row that stands for each row, and the groups of rows that are as one.

    Distances are those of the kernel's feature space. Rows are linked up to half of the median
    distance to the nearest row. Where rows repeat anyway, in columns of a few values, a group has
    to be twice as heavy as the median row and its equals.

    ``values``: from places among the distinct rows, twice, to their kernel values. ``members``:
    place of every row among the distinct ones. ``weights``: how often each row counts. ``most``:
    largest proportion of the weight in a group. Returned: ``places``, place among the distinct
    rows; the same one for all rows of a group; ``groups``, rows of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._tight_groups import representatives
    >>> rows = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 9.1])
    >>> representatives(lambda i, j: np.outer(rows[i], rows[j]), np.arange(7), np.ones(7), 0.5)
    (array([0, 1, 2, 3, 4, 5, 5]), [array([5, 6])])
    """
    summed = np.bincount(members, weights)
    labels = _linked(values, summed.size)
    in_group = np.bincount(labels, summed)[labels]
    usual = HeldOutScores.of(summed, summed).threshold(0.5)
    heavy = in_group >= AT_LEAST * usual * (1.0 - ROUNDING)
    heavy &= in_group <= most * float(summed.sum()) * (1.0 + ROUNDING)
    first = np.full(summed.size, summed.size)
    np.minimum.at(first, labels, np.arange(summed.size))
    places = np.where(heavy, first[labels], np.arange(summed.size))
    found = np.unique(places[heavy])
    return places[members], [np.flatnonzero(places[members] == place) for place in found]


def _linked(values: Callable[[Array, Array], Array], n: int) -> Array:
    """Return the component of each of the distinct rows when near ones are linked."""
    all_rows, step = np.arange(n), max(1, BLOCK // n)
    blocks = [all_rows[start : start + step] for start in range(0, n, step)]
    small = [all_rows[start : start + 64] for start in range(0, n, 64)]
    diagonal = np.concatenate([np.diagonal(values(part, part)) for part in small])

    def squared(part: Array) -> Array:
        found = diagonal[part, None] + diagonal - 2.0 * values(part, all_rows)
        found[np.arange(part.size), part] = np.inf
        return np.asarray(found)

    nearest = np.concatenate([squared(part).min(axis=1) for part in blocks])
    limit = NEAR**2 * float(np.median(nearest))
    if not SAME * float(np.abs(diagonal).max()) < limit < np.inf:
        return all_rows
    near = np.flatnonzero(nearest <= limit)  # the others have no link
    pairs: list[tuple[Array, Array]] = []
    for start in range(0, near.size, step):
        part = near[start : start + step]
        rows, columns = np.nonzero(squared(part) <= limit)
        pairs.append((part[rows], columns))
    if not pairs:
        return all_rows
    rows, columns = (np.concatenate(each) for each in zip(*pairs, strict=True))
    links = sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


def odd_groups(groups: list[Array], scores: Array, weights: Array) -> list[Array]:
    """Return the groups that few rows score below, the oddest first.

    ``groups``: rows of each group. ``scores``: held-out scores, those of a group of a model that
    has seen none of its rows. ``weights``: how often each row counts. Returned: some of the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._tight_groups import odd_groups
    >>> groups = [np.array([0, 1]), np.array([2, 3])]
    >>> odd_groups(groups, np.array([9.0, 9.0, 0.0, 0.0, 1.0, 2.0, 3.0]), np.ones(7))
    [array([2, 3])]
    """

    def below(group: Array) -> float:
        others = np.delete(weights, group)
        lower = np.delete(scores, group) < scores[group].max()
        return float(others @ lower) / max(float(others.sum()), ROUNDING)

    kept = [group for group in groups if below(group) <= ODD_TOGETHER]
    return sorted(kept, key=lambda group: float(scores[group].max()))
