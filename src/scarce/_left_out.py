"""Parts of a sample to leave out, and the scores of rows left out of a kernel's program.

The theory, and what is not proven, is in docs/theory/false_alarms.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce._false_alarms import ROUNDING, LeftOut
from scarce.kernels import distinct_rows

ONE_BY_ONE = 50  # distinct rows up to which each is left out alone
N_FOLDS = 10
WIDER = 4.0  # times narrower than the kernel that says which rows are odd is "scale"
WIDE_NU = 0.5
MORE = 2.0  # times the contamination is left out: the wide kernel's order is a rough one
MOST = 0.5  # of all rows that are left out
ODD_TO_WIDE = 0.2  # proportion of rows with the lowest scores that "auto" looks at
FINE_TO_NARROW = 0.3  # rank from which such a row is not odd to the narrow kernel
FEW_SUPPORT_VECTORS = 512  # up to which a start at the model of all rows is worth it


def distinct_in_fixed_order(rows: Any) -> tuple[Array, Array]:
    """Return one row of each set of equal ones, and the set of every row.

    The order does not depend on that of the rows, and is no sorted one: the solver is slow on rows
    whose neighbours come after each other.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._left_out import distinct_in_fixed_order
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
    >>> from scarce._left_out import left_out_parts
    >>> left_out_parts(3)
    [array([0]), array([1]), array([2])]
    >>> [part.size for part in left_out_parts(75)]
    [8, 8, 8, 8, 8, 7, 7, 7, 7, 7]
    """
    if n <= one_by_one:
        return [np.array([row]) for row in range(n)]
    random = check_random_state(0 if random_state is None else random_state)
    return [np.sort(part) for part in np.array_split(random.permutation(n), N_FOLDS)]


def warm_start(alpha: Array, total: float) -> Array | None:
    """Return where to begin without some rows: the dual variables of the others, scaled up.

    None for many support vectors: the solver's own start is then the better one.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._left_out import warm_start
    >>> warm_start(np.array([0.0, 1.0, 2.0]), total=6.0)
    array([0., 2., 4.])
    """
    mass = float(alpha.sum())
    if mass <= 0.0 or np.count_nonzero(alpha) > FEW_SUPPORT_VECTORS:
        return None
    return np.asarray(alpha * (total / mass))


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
    >>> from scarce._left_out import landmarks_without
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


def lazy_scores(
    score_without: Callable[[Array], Array],
    *,
    scores: Array,
    coefficients: Array,
    diagonal: Array,
    weights: Array,
    false_alarms: float,
    linear: Array | float = 0.0,
) -> tuple[Array, Array]:
    """Return scores of rows left out of a one-class SVM, exact up to the threshold.

    A row that is no support vector changes nothing when it is left out, as long as the bound of the
    others stays. For a support vector the score of the model with its own term taken out, and the
    other terms scaled up to the same sum, is nearly always too low. Rows are left out in the order
    of that estimate until no estimate is as low as the threshold. Rows beyond it keep the estimate.

    The estimate is not proven to be too low. Should it have been too high for a row that was left
    out, all rows whose estimates come as near to the threshold as that are left out too.

    Parameters
    ----------
    score_without : callable
        From the rows of a part to their scores by the model of the others.
    scores, coefficients, diagonal, weights : ndarray of shape (n,)
        Of distinct rows, in the model of all of them: sums over the coefficients, these,
        ``k(x, x)`` and weights.
    false_alarms : float
        The rate wanted.
    linear : ndarray of shape (n,) or float
        What a score has beside the sum over coefficients.

    Returns
    -------
    scores : ndarray of shape (n,)
        The scores left out.
    known : ndarray of bool of shape (n,)
        Which of them are exact.
    """
    mass = float(coefficients.sum())
    known = coefficients <= 0.0
    found = scores.astype(np.float64).copy()
    rest = mass - coefficients
    alone = ~known & (rest <= 1e-12 * mass)  # nothing is left to estimate by
    estimated = ~known & ~alone
    found[alone] = -np.inf
    own = coefficients[estimated]
    found[estimated] = (scores[estimated] - own * diagonal[estimated]) * (mass / rest[estimated])
    found += linear
    room = 0.0
    while True:
        threshold = LeftOut.of(found, weights).threshold(false_alarms)
        candidates = np.flatnonzero(~known & (found <= threshold + room))
        if candidates.size == 0:
            return found, known
        row = candidates[np.argmin(found[candidates])]
        exact = float(score_without(np.array([row]))[0])
        if np.isfinite(found[row]):
            room = max(room, found[row] - exact)
        found[row], known[row] = exact, True


def standardised_on_themselves(rows: Any) -> bool:
    """Return whether every column has mean 0 and standard deviation 1 over the rows, or is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._left_out import standardised_on_themselves
    >>> standardised_on_themselves(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    True
    """
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f" or rows.ndim != 2:
        return False
    rounding = 100 * float(np.finfo(rows.dtype).eps)
    deviations = rows.std(axis=0, dtype=np.float64)
    one = np.abs(deviations - 1.0) <= rounding
    centred = np.abs(rows.mean(axis=0, dtype=np.float64)) <= rounding
    return bool(centred.all() and (one | (deviations <= rounding)).all() and one.any())


def odd_rows(
    contamination: float | str, wide: Array, narrow: Callable[[], Array], weights: Array
) -> Array:
    """Return which rows may not be of the class.

    Parameters
    ----------
    contamination : float or "auto"
        Half of the proportion of the weight; "auto" takes the rows that are odd to the wide kernel
        alone.
    wide : ndarray of shape (n,)
        Held-out scores by a model with a wide kernel.
    narrow : callable
        The same by the model that is to be fitted, asked for when they are needed.
    weights : ndarray of shape (n,)
        How often each row counts.

    Returns
    -------
    ndarray of bool of shape (n,)
        True for rows to be dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._left_out import odd_rows
    >>> odd_rows(0.125, np.array([3.0, 1.0, 2.0, 4.0]), None, np.ones(4))
    array([False,  True, False, False])
    """
    if contamination != "auto":
        return held_out_ranks(wide, weights) <= min(MORE * float(contamination), MOST) + ROUNDING
    odd = held_out_ranks(wide, weights) <= ODD_TO_WIDE + ROUNDING
    if odd.any():
        odd &= held_out_ranks(narrow(), weights) >= FINE_TO_NARROW
    return odd


def held_out_ranks(scores: Array, weights: Array) -> Array:
    """Return the proportion of the weight whose score is at most each row's."""
    left_out = LeftOut.of(scores, weights)
    reached = np.concatenate([[0.0], left_out.reached])
    return np.asarray(reached[np.searchsorted(left_out.scores, scores, side="right")] / reached[-1])
