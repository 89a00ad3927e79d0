"""Whether a source is related to the target, and where it lies when it is moved to the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._frame import collected_notes
from scarce.held_out import HeldOutScores, distinct_in_fixed_order
from scarce.one_class._one_class_svm import OneClassSVM

HELPS = 0.3  # mean p-value of the target above which a source helps
UNRELATED = 0.1  # below which it is hardly related
COMPARED_ROWS = 2000  # distinct rows of a source that are looked at, half of them to fit a model


@dataclass(frozen=True)
class SourceMoves:
    """How far sources are moved so that their means are the target's.

    Attributes
    ----------
    means : ndarray of shape (n_tasks, n_features)
        Means of the tasks, the target's first, which does not move.
    """

    means: Array

    @classmethod
    def of(cls, X: Array, tasks: Array, weights: Array, n_tasks: int) -> SourceMoves:
        """Return the means of all tasks."""
        members = sparse.csr_array((weights, (tasks, np.arange(tasks.size))), (n_tasks, tasks.size))
        sizes = np.bincount(tasks, weights, minlength=n_tasks)
        return cls((members @ X.astype(np.float64)) / sizes[:, None])

    def shifts(self, target: Array, weights: Array) -> Array:
        """Return every task's shift, given rows of the target.

        The mean of few rows is uncertain: of the squared distance between two means its variance is
        taken away (as in the estimator of James and Stein), and nothing is moved by less than that.

        Examples
        --------
        >>> import numpy as np
        >>> from scarce.one_class._relation import SourceMoves
        >>> moves = SourceMoves(np.array([[0.0, 0.0], [3.0, 0.0], [0.5, 0.0]]))
        >>> target = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # variance of the mean 1/3
        >>> moves.shifts(target, np.ones(3)).round(3) + 0.0
        array([[ 0.   ,  0.   ],
               [-2.889,  0.   ],
               [ 0.   ,  0.   ]])
        """
        total = float(weights.sum())
        mean = weights @ target.astype(np.float64) / total
        away = mean - self.means
        away[0] = 0.0
        if total <= 1.0:
            return np.zeros_like(away)
        squares = np.einsum("ij,ij->i", away, away)
        deviations = target - mean
        noise = float(weights @ np.einsum("ij,ij->i", deviations, deviations))
        noise /= total * (total - 1.0)
        factors = 1.0 - noise / np.where(squares > noise, squares, max(noise, 1.0))
        return np.asarray(np.where(squares > noise, factors, 0.0)[:, None] * away)


def target_p_value(
    X: Any, source: Array, target: Array, weights: Array, model: OneClassSVM, pairwise: bool
) -> float:
    """Return the mean p-value of the target's rows under a model of half of the source.

    The other half of the source says what its own rows score. Related rows have a mean of up to
    one half, unrelated ones near zero.

    Returned: the mean; NaN for sources of fewer than four distinct rows.
    """
    first, members = distinct_in_fixed_order(X[source])
    if first.size < 4:
        return float("nan")
    masses = np.bincount(members, weights[source])
    half = min(first.size, COMPARED_ROWS) // 2
    fitted, others = (
        source[first[part]] for part in (slice(half), slice(half, min(first.size, COMPARED_ROWS)))
    )

    def rows(chosen: Array) -> Any:
        return X[np.ix_(chosen, fitted)] if pairwise else X[chosen]

    with collected_notes():  # of a model that nobody asked for
        model.fit(rows(fitted), sample_weight=masses[: fitted.size])
    own = HeldOutScores.of(model.score_samples(rows(others)), masses[half : half + others.size])
    p_values = own.p_values(model.score_samples(rows(target)))
    return float(np.average(p_values, weights=weights[target]))


def unrelated(domain: int, p_value: float, relation: str) -> str | None:
    """Return what to say of a source; None if nothing.

    Examples
    --------
    >>> from scarce.one_class._relation import unrelated
    >>> print(unrelated(0, 0.03, "keep"))
    source 0 looks unrelated to the target, whose rows have a mean p-value of 0.03 under a model \
of it (0.5 if they were the same), and then makes the answers worse: leave it out, or use \
relation="auto"
    >>> unrelated(0, 0.31, "auto")
    """
    if p_value != p_value:
        few = f"source {domain} has fewer than 4 distinct rows, too few to tell if it is related"
        return f"{few}, and is not used" if relation == "auto" else None
    under = f"rows have a mean p-value of {p_value:.2g} under a model of it (0.5 if they were the"
    if relation == "auto" and not p_value > HELPS:
        return (
            f"source {domain} is not used: even when it is moved to their mean, the target's "
            f"{under} same), and below {HELPS:g} a source makes the answers worse. "
            'relation="keep" uses it'
        )
    if relation == "keep" and p_value < UNRELATED:
        return (
            f"source {domain} looks unrelated to the target, whose {under} same), and then makes "
            'the answers worse: leave it out, or use relation="auto"'
        )
    return None
