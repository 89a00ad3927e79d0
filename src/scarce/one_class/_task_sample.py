"""Rows of several tasks in a fixed order, equal rows of a task as one; parameters per task."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.held_out import distinct_in_fixed_order
from scarce.one_class._shift_rounds import ShiftRounds


@dataclass(frozen=True)
class TaskSample:
    """Distinct rows, the target's first, as positions among the rows of a fit.

    Attributes
    ----------
    first : ndarray of int of shape (n,)
        One row of each set of equal ones.
    members : ndarray of int of shape (n_rows,)
        The set of every row.
    tasks, weights, alpha : ndarray of shape (n,)
        Task, summed weight and summed dual variable of each.
    n_target : int
        How many are the target's.
    given_radii : bool
        Whether radii came with the rows, so that rows of different radii are not equal.
    """

    first: Array
    members: Array
    tasks: Array
    weights: Array
    alpha: Array
    n_target: int
    given_radii: bool

    @classmethod
    def of(cls, rounds: ShiftRounds, given_radii: bool) -> TaskSample:
        """Return the distinct rows of rounds that were run."""
        order: list[Array] = []
        members = np.empty(rounds.tasks.size, dtype=np.int64)
        n_sets = 0
        sizes = []
        for task in np.unique(rounds.tasks):
            own = np.flatnonzero(rounds.tasks == task)
            rows = rounds.rows[own]
            if given_radii:
                radii = rounds.radii[own][:, None]
                stack = sparse.hstack if sparse.issparse(rows) else np.hstack
                rows = stack([rows, radii])
            first, sets = distinct_in_fixed_order(rows)
            order.append(own[first])
            members[own] = n_sets + sets
            n_sets += first.size
            sizes.append(first.size)
        first = np.concatenate(order)
        return cls(
            first=first,
            members=members,
            tasks=rounds.tasks[first],
            weights=np.bincount(members, rounds.weights),
            alpha=np.bincount(members, rounds.solution.alpha),
            n_target=sizes[0],
            given_radii=given_radii,
        )

    def part(self, rows: Any, chosen: Array, pairwise: bool) -> Any:
        """Return some of the distinct rows; of a kernel matrix, these rows and columns."""
        positions = self.first[chosen]
        return rows[np.ix_(positions, positions)] if pairwise else rows[positions]


def per_task(target: float, source: float | None, n_sources: int) -> Array:
    """Return the target's value and the sources', which are the same for None.

    Examples
    --------
    >>> from scarce.one_class._task_sample import per_task
    >>> per_task(0.1, None, 2)
    array([0.1, 0.1, 0.1])
    """
    return np.array([target] + n_sources * [target if source is None else source], dtype=float)


def task_masses(source_weight: Any, sources: list[int]) -> Array:
    """Return the tasks' masses: 1 for the target, one number or one each for the sources.

    Examples
    --------
    >>> from scarce.one_class._task_sample import task_masses
    >>> task_masses({4: 2.0, 7: 0.5}, [4, 7])
    array([1. , 2. , 0.5])
    """
    if not isinstance(source_weight, dict):
        return np.array([1.0] + len(sources) * [source_weight], dtype=float)
    masses = source_weight.values()
    positive = (isinstance(mass, Real) and 0 < float(mass) < np.inf for mass in masses)
    if set(source_weight) != set(sources) or not all(positive):
        raise ValueError(
            f"source_weight must give each of the sources {sources} a positive number, got "
            f"{source_weight}"
        )
    return np.array([1.0] + [source_weight[source] for source in sources], dtype=float)
