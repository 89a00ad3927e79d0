"""Rows of several tasks: their radii, how sources are moved, the target's rows left out in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._frame import collected_notes, is_optimal
from scarce.held_out import HeldOutScores, distinct_in_fixed_order, landmarks_without, warm_start
from scarce.kernels import Kernel, gradient_names
from scarce.one_class._one_class_svm import OneClassSVM
from scarce.one_class._shift_rounds import ShiftRounds, new_history
from scarce.solvers import QuadraticProgram, Solution, one_class_offset

SHARE = 0.1  # neighbours counted, as a share of the target's rows


def neighbour_radii(X: Any, tasks: Array, weights: Array, n_neighbors: int | None = None) -> Array:
    """Return each row's mean distance to its nearest others of the same task.

    The number of neighbours is a tenth of the target's rows (task 0) by default, at least one, and
    at most all others of the task; the only row of a task has radius 0. Rows are counted by their
    weights, so that a row of weight 2 is its own nearest neighbour, as if it were given twice.
    """
    from sklearn.neighbors import NearestNeighbors  # loads half of scikit-learn

    # Rounded twice, lest a sum of fractions fall just short of a half.
    share = round(round(SHARE * float(weights[tasks == 0].sum()), 9))
    wanted = max(1, share) if n_neighbors is None else n_neighbors
    radii = np.zeros(X.shape[0])
    for task in np.unique(tasks):
        members = np.flatnonzero(tasks == task)
        own = weights[members]
        count = min(float(wanted), float(own.sum()) - 1.0)
        if count <= 0:
            continue
        # As many as are needed if all of them were the lightest; the row itself comes first.
        enough = int(np.searchsorted(np.cumsum(np.sort(own)), 1.0 + count)) + 1
        search = NearestNeighbors(n_neighbors=min(enough, members.size)).fit(X[members])
        distances, near = search.kneighbors(X[members])
        # The mean over the weight that comes after a first unit, which is the row itself.
        reached = np.clip(np.cumsum(own[near], axis=1), 1.0, 1.0 + count)
        counted = np.diff(reached, axis=1, prepend=1.0)
        radii[members] = (counted * distances).sum(axis=1) / count
    return radii


def checked_radii(sample_radius: Any, n_rows: int) -> Array:
    """Return one radius per row, as given."""
    radii = np.asarray(sample_radius, dtype=np.float64)
    if radii.shape != (n_rows,):
        raise ValueError(
            f"sample_radius must have one value per row, {n_rows}, got shape {radii.shape}"
        )
    wrong = radii[~(np.isfinite(radii) & (radii >= 0))]
    if wrong.size:
        raise ValueError(f"sample_radius must be finite and not negative, got {wrong[0]}")
    return radii


def check_movable(X: Any, kernel: Any, kind: type[Kernel]) -> None:
    """Refuse positive radii where rows cannot be moved."""
    if not kind.has_gradient:
        raise ValueError(
            "a positive radius moves rows along the kernel's gradient, which kernel="
            f"{kernel!r} does not have; use {', '.join(gradient_names())}, or radius=0"
        )
    if sparse.issparse(X) and not kind.explicit:
        raise ValueError(
            "a positive radius moves rows in every feature, which would make sparse rows "
            'dense; give a dense X, or kernel="linear", or radius=0'
        )


HELPS = 0.3  # mean p-value of the target above which a source helps
UNRELATED = 0.1  # below which it is hardly related
COMPARED_ROWS = 2000  # distinct rows of a source that are looked at, half of them to fit a model


@dataclass(frozen=True)
class SourceMoves:
    """How far sources are moved so that their means are the target's."""

    # (n_tasks, n_features): means of the tasks, the target's first, which does not move
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
        >>> from scarce.one_class._task_sample import SourceMoves
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
    >>> from scarce.one_class._task_sample import unrelated
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


@dataclass(frozen=True)
class TaskSample:
    """Distinct rows, the target's first, as positions among the rows of a fit."""

    first: Array  # (n,): one row of each set of equal ones
    members: Array  # (n_rows,): the set of every row
    # tasks, weights, alpha: (n,): task, summed weight and summed dual variable of each
    tasks: Array
    weights: Array
    alpha: Array
    n_target: int  # how many are the target's
    # whether radii came with the rows, so that rows of different radii are not equal
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


@dataclass
class TargetLeftOut:
    """Fits without some rows of the target, each begun at the model of all rows."""

    full: ShiftRounds  # the rounds of all rows, run
    sample: TaskSample  # their distinct rows
    solve: Callable[[QuadraticProgram, Array | None], Solution]  # ``solve(program, start)``
    # ``radii(rows, tasks, weights)`` where a rule gives them, which sees only what is left; None
    # where they belong to the rows
    radii: Callable[[Any, Array, Array], Array] | None
    # the choice of landmarks among a number of rows, should all landmarks of a low-rank kernel be
    # left out
    draw: Callable[[int], Array]
    # moves, shifts: (n_tasks, n_features): how far sources are moved, which the rows left out have
    # no part in, and how far they are
    moves: SourceMoves | None
    shifts: Array | None
    # tol, round_tol, max_rounds: of the programs and of the rounds
    tol: float
    round_tol: float
    max_rounds: int
    solved: bool = True  # whether the objective of all fits so far has settled

    def scores(self, part: Array) -> tuple[Array, float]:
        """Return the scores of a part of the target's rows by the model of all other rows.

        And the score on that model's margin.
        """
        full, sample = self.full, self.sample
        rest = np.setdiff1d(np.arange(sample.weights.size), part)
        weights, tasks = sample.weights[rest], sample.tasks[rest]
        pairwise = full.kernel.pairwise
        rows = sample.part(full.rows, rest, pairwise)
        if self.moves is not None:
            target = tasks == 0
            others = self.moves.shifts(rows[target], weights[target])
            rows = (rows + (others - self.shifts)[tasks]).astype(rows.dtype)
        own = full.radii[sample.first[rest]]
        # The bounds stay, unless the rows that are left cannot carry the mass with them.
        costs = full.parameters.costs.copy()
        costs[0] = max(costs[0], 1.0 / weights[tasks == 0].sum())
        left = None
        if full.landmarks is not None:
            left = landmarks_without(sample.members[full.landmarks], rest, self.draw)
        rounds = replace(
            full,
            rows=rows,
            tasks=tasks,
            weights=weights,
            radii=own if self.radii is None else self.radii(rows, tasks, weights),
            parameters=replace(full.parameters, costs=costs),
            solve=self.solve,
            landmarks=left,
            history=new_history(),
        )
        start = sample.alpha[rest]
        target = warm_start(start[tasks == 0], float(sample.alpha[: sample.n_target].sum()))
        start[tasks == 0] = 0.0 if target is None else target
        settled = rounds.run(
            self.round_tol, self.max_rounds, start=None if target is None else start
        )
        self.solved &= settled and is_optimal(rounds.solution, self.tol)
        if pairwise:
            support = sample.first[rest[rounds.support]]
            values = full.rows[np.ix_(sample.first[part], support)]
            scores = np.asarray(values @ rounds.coefficients[0])
        else:
            scores = rounds.target_scores(full.rows[sample.first[part]])
        return scores, target_margin(rounds)


def target_margin(rounds: ShiftRounds) -> float:
    """Return the score of a row on the target's margin."""
    own = rounds.tasks == 0
    return one_class_offset(rounds.scores[own], rounds.parameters.costs[0], rounds.weights[own])
