"""Parts of a sample to leave out, in an order that does not depend on that of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce.kernels import distinct_rows

ONE_BY_ONE = 50  # distinct rows up to which each is left out alone
N_FOLDS = 10


def distinct_in_fixed_order(rows: Any) -> tuple[Array, Array]:
    """Return one row of each set of equal ones, and the set of every row.

    The order does not depend on that of the rows, and is no sorted one: the solver is slow on rows
    whose neighbours come after each other.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._parts import distinct_in_fixed_order
    >>> rows = np.array([[2.0], [0.0], [2.0], [1.0]])
    >>> first, members = distinct_in_fixed_order(rows)
    >>> rows[first][members].ravel()
    array([2., 0., 2., 1.])
    """
    first, members = distinct_rows(rows)
    order = np.random.RandomState(0).permutation(first.size)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return first[order], places[members]


def left_out_parts(n: int, random_state: Any = None, one_by_one: int = ONE_BY_ONE) -> list[Array]:
    """Return the rows to be left out together, for ``n`` distinct rows in a fixed order.

    Each row alone up to ``one_by_one`` of them, ten parts drawn at random above. The same parts
    for the same rows: None is a fixed seed.

    Examples
    --------
    >>> from scarce.held_out._parts import left_out_parts
    >>> left_out_parts(3)
    [array([0]), array([1]), array([2])]
    >>> [part.size for part in left_out_parts(75)]
    [8, 8, 8, 8, 8, 7, 7, 7, 7, 7]
    """
    if n <= one_by_one:
        return [np.array([row]) for row in range(n)]
    random = check_random_state(0 if random_state is None else random_state)
    return [np.sort(part) for part in np.array_split(random.permutation(n), N_FOLDS)]


def landmarks_without(landmarks: Array, rest: Array, draw: Callable[[int], Array]) -> Array:
    """Return the landmarks that are left when some rows are left out, as places among the others.

    Those of the model of all rows, since through others the kernel would be another function, and
    scores not comparable. Drawn anew only if none is left.

    Parameters
    ----------
    landmarks : ndarray of int
        Landmarks of all rows.
    rest : ndarray of int
        Rows that are not left out, ascending.
    draw : callable
        From a number of rows to landmarks among them.

    Returns
    -------
    ndarray of int
        Places among ``rest``, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._parts import landmarks_without
    >>> landmarks_without(np.array([1, 4, 5]), np.array([0, 1, 3, 5]), np.arange)
    array([1, 3])
    """
    left = np.flatnonzero(np.isin(rest, landmarks))
    return left if left.size else draw(rest.size)


def scores_by_parts(score_without: Callable[[Array], Array], n: int, parts: list[Array]) -> Array:
    """Return the score of every row by a model that has not seen its part."""
    scores = np.empty(n)
    for part in parts:
        scores[part] = score_without(part)
    return scores
