"""Parts of a sample to leave out, and programs without them: scores of a model of one task.

Scores are those of the program's scale: ``(K a)_i + linear_i``. The coefficients always sum to what
they do in the model of all rows, so that all scores are on one scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce._frame import is_optimal
from scarce.held_out._scores import HeldOutScores
from scarce.kernels import distinct_rows
from scarce.solvers import DenseMatrix, QuadraticProgram, Solution, feasible_start, solve

ONE_BY_ONE = 50  # distinct rows up to which each is left out alone
N_FOLDS = 10


def distinct_in_fixed_order(rows: Any) -> tuple[Array, Array]:
    """Return one row of each set of equal ones, and the set of every row.

    The order does not depend on that of the rows, and is no sorted one: the solver is slow on rows
    whose neighbours come after each other.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._programs import distinct_in_fixed_order
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
    >>> from scarce.held_out._programs import left_out_parts
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

    ``landmarks``: landmarks of all rows. ``rest``: rows that are not left out, ascending. ``draw``:
    from a number of rows to landmarks among them. Returned: places among ``rest``, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._programs import landmarks_without
    >>> landmarks_without(np.array([1, 4, 5]), np.array([0, 1, 3, 5]), np.arange)
    array([1, 3])
    """
    left = np.flatnonzero(np.isin(rest, landmarks))
    return left if left.size else draw(rest.size)


def scores_by_parts(
    score_without: Callable[[Array], tuple[Array, float]],
    n: int,
    parts: list[Array],
    margin: float,
) -> Array:
    """Return the score of every row by a model that has not seen its part.

    ``score_without``: from a part to the scores of its rows, and the margin of their model.
    ``margin``: of the model of all rows. Without a single row it is nearly the same.
    """
    scores = np.empty(n)
    for part in parts:
        found, own = score_without(part)
        scores[part] = on_margin(found, own, margin) if part.size > 1 else found
    return scores


def on_margin(scores: Array, own: float, margin: float) -> Array:
    """Return scores of held-out rows as if the model without them had the margin of all rows.

    Scores of rows inside crowd at the margin, which is higher for fewer rows, of which each counts
    for more, and is each model's own. Scores there are scaled with it; those of rows far out, where
    the threshold is, stay what they are, and between the two the factor grows with the square.

    ``own``, ``margin``: score of a row on the margin of that model, and of the model of all rows.
    Those that are not above zero say nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._programs import on_margin
    >>> on_margin(np.array([0.0, 0.1, 0.5, 1.0, 2.0]), own=1.0, margin=0.9)
    array([0.    , 0.0999, 0.4875, 0.9   , 1.8   ])
    """
    if not min(own, margin) > 0.0:
        return scores
    inside = np.clip(scores / own, 0.0, 1.0) ** 2
    return np.asarray(scores * (1.0 + (margin / own - 1.0) * inside))


FEW_SUPPORT_VECTORS = 512  # up to which a start at the model of all rows is worth it, and above
MOSTLY_FREE = 0.5  # if this share of them is within its bounds, which no other start can guess
LAZILY = 200  # distinct rows up to which the exact rule is used


@dataclass
class SmallSample:
    """Distinct rows and the model of all of them, the kernel matrix stored."""

    matrix: Array  # (n, n): the kernel matrix
    # weights, linear, alpha: (n,): weights, linear term of the program, coefficients of the model
    weights: Array
    linear: Array
    alpha: Array
    tol: float  # of the solver
    definite: bool  # whether the kernel is positive semidefinite for certain
    solved: bool = True  # whether all fits without rows so far reached it

    def lazily(self, false_alarms: float) -> tuple[Array, Array]:
        """Return held-out scores, exact up to the threshold, and which are exact."""
        scores, known = lazy_scores(
            self.sums_without,
            scores=self.matrix @ self.alpha,
            coefficients=self.alpha,
            diagonal=self.matrix.diagonal(),
            linear=self.linear,
            weights=self.weights,
            false_alarms=false_alarms,
        )
        return scores, known

    def sums_without(self, part: Array) -> Array:
        """Return the scores of some rows by the model of the others."""
        upper = self.weights.copy()
        upper[part] = 0.0
        mass = float(self.alpha.sum())
        total = mass_without(mass, self.weights, part)
        coefficients, solution = coefficients_without(
            DenseMatrix(self.matrix, definite=self.definite),
            upper,
            self.linear,
            self.alpha,
            mass,
            total,
            tol=self.tol,
        )
        self.solved &= is_optimal(solution, self.tol)
        return np.asarray(self.matrix[part] @ coefficients + self.linear[part])


def mass_without(mass: float, weights: Array, part: Array) -> float:
    """Return what the coefficients of a model without some of the distinct rows sum to.

    Without one row the bounds of the others stay, so that a row which is no support vector changes
    nothing. Without a tenth of the rows that would be a larger `nu`, whose scores are higher, and
    `nu` stays.
    """
    rest = float(weights.sum() - weights[part].sum())
    # With nu near 1 the others alone cannot carry the mass: each is at its bound then.
    return min(mass, rest) if part.size == 1 else mass * rest / float(weights.sum())


def coefficients_without(
    operator: Any,
    upper: Array,
    linear: Array,
    start: Array,
    mass: float,
    total: float,
    **options: Any,
) -> tuple[Array, Solution]:
    """Return the coefficients of a model of fewer rows, on the scale of the model of all.

    And the solution they come from.

    ``upper`` are weights, zero for rows left out that the operator still has; ``start`` are
    coefficients in the model of all rows, whose sum over all rows is ``mass``; those of the others
    are to sum to ``total``, and are scaled up to the mass.
    """
    program = QuadraticProgram(
        operator, totals=[total], upper=upper, linear=linear * (total / mass)
    )
    left = warm_start(np.where(upper > 0, start, 0.0), total)
    begin = None if left is None else feasible_start(program, left)
    solution = solve(program, start=begin, **options)
    return np.asarray(solution.alpha * (mass / total)), solution


def warm_start(alpha: Array, total: float) -> Array | None:
    """Return where to begin without some rows: the dual variables of the others, scaled up.

    None for many support vectors at their bounds: the solver's own start is then the better one.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._programs import warm_start
    >>> warm_start(np.array([0.0, 1.0, 2.0]), total=6.0)
    array([0., 2., 4.])
    """
    mass, n_used = float(alpha.sum()), np.count_nonzero(alpha)
    if mass <= 0.0:
        return None
    if n_used > FEW_SUPPORT_VECTORS:
        n_free = np.count_nonzero((alpha > 0.0) & (alpha < (1 - 1e-6) * alpha.max()))
        if n_free < MOSTLY_FREE * n_used:
            return None
    return np.asarray(alpha * (total / mass))


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

    ``score_without``: from the rows of a part to their scores by the model of the others.
    ``scores``, ``coefficients``, ``diagonal``, ``weights``: of distinct rows, in the model of all
    of them: sums over the coefficients, these, ``k(x, x)`` and weights. ``linear``: what a score
    has beside the sum over coefficients. Returned: ``scores``, the scores left out; ``known``,
    which of them are exact.
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
        threshold = HeldOutScores.of(found, weights).threshold(false_alarms)
        candidates = np.flatnonzero(~known & (found <= threshold + room))
        if candidates.size == 0:
            return found, known
        row = candidates[np.argmin(found[candidates])]
        exact = float(score_without(np.array([row]))[0])
        if np.isfinite(found[row]):
            room = max(room, found[row] - exact)
        found[row], known[row] = exact, True
