"""The working-set loop that answers every program of the family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce.solvers._blas import single_threaded_blas
from scarce.solvers._certificate import judge, midpoints, reference_field
from scarce.solvers._newton import LARGEST, SINGULAR_UP_TO, free_variables, newton_steps
from scarce.solvers._problem import QuadraticProgram
from scarce.solvers._signed import SignedForm
from scarce.solvers._space import small_space
from scarce.solvers._start import checked_start, first_point, subsample, vertex, widening

Array = NDArray[Any]

SUBSAMPLE_ABOVE = 4096  # variables from which a subsample is solved first
SMALLEST_BLOCK = 128  # variables of a block beside the free ones, at least
FIRST_BLOCK = 256  # the same, at first, in a small program
LARGEST_FIRST_BLOCK = 2048  # and in a large one
PATIENCE = 20  # blocks without progress, within rounding errors, after which the loop gives up
STEPS_PER_CALL = 20_000  # compiled steps between two looks at the keyboard, at least
CHECKED_VALUES = 250_000  # kernel values up to which the final check covers every row


@dataclass(frozen=True)
class Progress:
    """State after one block: what a callback sees."""

    alpha: Array
    objective: float
    violation: float
    n_iter: int


@dataclass(frozen=True)
class Solution:
    """Answer of `solve`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The minimiser.
    gradient : ndarray of shape (n,)
        ``Q alpha + p``.
    multipliers : ndarray of shape (n_groups,)
        Multipliers of the equalities, the midpoints of ``[m_g, M_g]``.
    objective : float
        ``1/2 a'Qa + p'a``.
    dual_gap : float
        Relative duality gap.
    kkt_violation : float
        ``max over groups of m_g - M_g``, checked against freshly computed kernel values.
    n_iter : int
        Pairwise steps taken.
    status : {"optimal", "max_iter", "stopped", "stalled"}
        "stopped": the callback asked for it; "stalled": rounding errors allow no further progress
        before `tol` was met.
    """

    alpha: Array
    gradient: Array
    multipliers: Array
    objective: float
    dual_gap: float
    kkt_violation: float
    n_iter: int
    status: Literal["optimal", "max_iter", "stopped", "stalled"]


def solve(
    problem: QuadraticProgram,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: ArrayLike | None = None,
    cache_size: float = 200.0,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Solve a program of the family.

    Parameters
    ----------
    problem : QuadraticProgram
        The program.
    tol : float
        Stop when ``max over groups of m_g - M_g <= tol``, in the program's own scale.
    max_iter : int
        Largest number of pairwise steps; -1 for no limit. A solution that was cut off is feasible
        and can be given as `start` to go on.
    start : array-like of shape (n,), optional
        Feasible point to begin with. By default large programs begin with a solved subsample.
    cache_size : float
        Memory for kernel values in MB.
    callback : callable, optional
        Called with a `Progress` before the first and after every block; the solver stops when it
        returns something true.

    Returns
    -------
    Solution
        Feasible always; optimal to `tol` when its status says so.
    """
    if not tol > 0:
        raise ValueError(f"tol must be positive, got {tol}")
    if max_iter < -1:
        raise ValueError(f"max_iter must be -1 (no limit) or at least 0, got {max_iter}")
    form = SignedForm(problem)
    budget = np.iinfo(np.int64).max if max_iter == -1 else max_iter
    with single_threaded_blas, small_space("matrix") as matrix, small_space("block") as space:
        form.store_small(matrix, cache_size)
        loop = _Loop(form, tol, budget, cache_size, callback, space)
        if start is not None:
            return loop.run(checked_start(form, start), None)
        return loop.run(*_begin(form, loop, matrix))


def _begin(form: SignedForm, loop: _Loop, matrix: Array) -> tuple[Array, Array | None]:
    """Return a start, and the gradient a solved subsample predicts when the start is zero."""
    x = first_point(form)
    bounded = np.isfinite(form.lower).all() and np.isfinite(form.upper).all()
    chosen = subsample(form) if form.n > SUBSAMPLE_ABOVE and bounded else None
    if chosen is None:
        return x, None
    try:
        part = SignedForm(form.problem.subset(chosen, widening(form, chosen)))
    except ValueError:  # what was drawn cannot carry a group's total
        return x, None
    part.store_small(matrix, loop.cache_size)
    left = loop.budget - loop.steps
    smaller = _Loop(part, loop.tol, left, loop.cache_size, None, loop.space, rough=True)
    y = smaller.descend(*_begin(part, smaller, matrix))
    loop.steps += smaller.steps
    field = np.zeros(form.n)
    support = np.flatnonzero(y)
    form.add(field, chosen[support], y[support], form.kernel.precisions[0])
    gradient = form.turn * field + form.linear
    if not x.any():
        # Zero is feasible, costs nothing, and is better than a vertex of a margin problem.
        return x, gradient
    return vertex(form, gradient), None


class _Loop:
    """Select a block, solve it, update the field; again until no group violates its conditions."""

    def __init__(
        self,
        form: SignedForm,
        tol: float,
        budget: int,
        cache_size: float,
        callback: Callable[[Progress], Any] | None,
        space: Array,
        rough: bool = False,
    ) -> None:
        self.form = form
        self.tol = tol
        self.budget = budget
        self.cache_size = cache_size
        self.callback = callback
        self.rough = rough
        largest = np.abs(form.coupling).max() * np.abs(form.kernel.diagonal()) + form.diagonal
        self.steepest = float(largest.max())
        self.endless = bool(np.isinf(form.lower).any() or np.isinf(form.upper).any())
        self.steps = 0
        self.space = space
        self.checked: tuple[Array, Array, Array, float] | None = None
        self.stalled = False
        self.stopped = False

    # The two ways to run: to a certified solution, or only to a good start for a larger problem.

    def run(self, x: Array, hint: Array | None) -> Solution:
        form = self.form
        precisions = form.kernel.precisions
        for precision in precisions:
            last = precision == precisions[-1]
            # Below the tolerance by what the final check may add.
            goal = (0.9 if last else 0.5) * self.tol
            x, field = self._minimise(x, goal, precision, hint)
            hint = None
            if self.steps >= self.budget:
                break
            x, field = (self._polish if last else self._polish_rough)(x, field, precision)
            if not last and self._accurate_enough(x, field):
                break
        return self._solution(x, field)

    def descend(self, x: Array, hint: Array | None) -> Array:
        return self._minimise(x, self.tol, self.form.kernel.precisions[0], hint)[0]

    def _minimise(
        self, x: Array, goal: float, precision: Any, hint: Array | None
    ) -> tuple[Array, Array]:
        """Return a point whose violation is at most ``goal``, and its field."""
        form = self.form
        x = x.copy()
        field = form.field(x, precision)
        extra = min(max(FIRST_BLOCK, form.n // 32), LARGEST_FIRST_BLOCK)
        previous, best, since_best, crowded = np.inf, np.inf, 0, False
        self.stalled = False
        while True:
            gradient = form.gradient(x, field)
            m, M = self._extremes(gradient, x)
            gap = max(0.0, float(np.max(m - M)))
            if self.callback is not None:
                alpha = form.signs * x
                if self.callback(Progress(alpha, form.objective(x, field), gap, self.steps)):
                    self.stopped, self.budget = True, self.steps
            if self.endless:
                self._check_bounded(x, field)
            if self.rough and previous == np.inf:
                goal = max(goal, 1e-3 * float(np.ptp(gradient)))
            if gap <= goal or self.steps >= self.budget:
                return x, field
            since_best = 0 if gap < 0.9 * best else since_best + 1
            best = min(best, gap)
            patience = PATIENCE if precision == form.kernel.precisions[-1] else 2
            noise = self._noise(x, precision)
            # Errors that add up over many blocks may hold the gap some way above the noise of one.
            lost = since_best > 10 * patience and gap <= 1e3 * noise
            if lost or (since_best > patience and gap <= noise):
                self.stalled = True
                return x, field
            if gap > 0.5 * previous and crowded:  # more variables have to move at once
                extra *= 2
            previous = gap
            if hint is not None:
                block, hint = self._predicted(hint, x, precision), None
            else:
                block = self._select(gradient, x, midpoints(m, M), goal, extra, precision)
            whole = block.size == form.n
            tol = 0.3 * goal if whole else max(0.05 * gap, 0.3 * goal)
            tol = max(tol, self._noise(x, np.float64))  # below, steps follow rounding errors
            new = self._solve_block(block, gradient, x, tol, precision)
            moved = np.flatnonzero(new != x)
            if moved.size == 0:
                self.stalled = True
                return x, field
            crowded = moved.size > 0.25 * block.size
            form.add(field, moved, (new - x)[moved], precision)
            x = new

    def _solve_block(
        self, block: Array, gradient: Array, x: Array, tol: float, precision: Any
    ) -> Array:
        """Return the point after the variables of a block were solved for, the others held."""
        from scarce.solvers._compiled import UNBOUNDED, pairwise_steps

        form = self.form
        part, local = x[block], gradient[block]
        limit = min(max(STEPS_PER_CALL, 30 * block.size), self.budget - self.steps)
        # One space for all blocks: touching fresh memory would cost as much as the values.
        needed = block.size**2 * np.dtype(precision).itemsize
        if self.space.nbytes < needed:
            self.space = np.empty(-(-needed // 8))
        steps = pairwise_steps(
            form.block(block, precision, self.space.view(precision)),
            local,
            part,
            form.lower[block],
            form.upper[block],
            form.near[block],
            np.searchsorted(form.groups[block], np.arange(form.n_groups + 1)),
            tol,
            limit,
        )
        if steps == UNBOUNDED:
            self._raise_unbounded(gradient, x)
        self.steps += max(int(steps), 1)
        new = x.copy()
        new[block] = part
        if block.size == form.n and steps < limit:
            return new  # solved
        before, after = free_variables(form, x), free_variables(form, new)
        inside = np.zeros(form.n, bool)
        inside[block] = True
        if abs(after.size - before.size) <= 0.02 * after.size and inside[after].all():
            # The active bounds have settled: what is left is a linear system.
            gradient = gradient.copy()
            gradient[block] = local
            exact = newton_steps(form, new, gradient, LARGEST, tol)
            new = new if exact is None else exact
        return new

    def _polish(self, x: Array, field: Array, precision: Any) -> tuple[Array, Array]:
        """Return the exact solution for the active bounds found, if that is within tolerance.

        Its objective is never higher; a gap that rises may show that the bounds are wrong.
        """
        gradient = self.form.gradient(x, field)
        better = newton_steps(self.form, x, gradient, SINGULAR_UP_TO, self.tol)
        if better is None:
            return x, field
        moved = np.flatnonzero(better != x)
        refined = field.copy()
        self.form.add(refined, moved, (better - x)[moved], precision)
        allowed = max(self._gap(x, field), 0.5 * self.tol)
        return (better, refined) if self._gap(better, refined) <= allowed else (x, field)

    def _polish_rough(self, x: Array, field: Array, precision: Any) -> tuple[Array, Array]:
        """Do the same for a field in single precision, with exact values where that is cheap."""
        free = free_variables(self.form, x)
        if free.size > SINGULAR_UP_TO or free.size * self.form.n > CHECKED_VALUES:
            return x, field
        field = field.copy()
        field[free] = reference_field(self.form.problem, self.form.signs * x, free)
        return self._polish(x, field, precision)

    def _extremes(self, gradient: Array, x: Array) -> tuple[Array, Array]:
        from scarce.solvers._compiled import group_extremes

        form = self.form
        m, M = group_extremes(gradient, x, form.lower, form.upper, form.groups, form.n_groups)
        return m, M

    def _gap(self, x: Array, field: Array) -> float:
        m, M = self._extremes(self.form.gradient(x, field), x)
        return max(0.0, float(np.max(m - M)))

    def _largest_block(self, precision: Any) -> int:
        fitting = int(np.sqrt(self.cache_size * 1e6 / np.dtype(precision).itemsize))
        return max(SMALLEST_BLOCK, fitting)

    def _select(
        self, gradient: Array, x: Array, middle: Array, goal: float, extra: int, precision: Any
    ) -> Array:
        """Return the free variables and the worst violators, sorted by group."""
        from scarce.solvers._compiled import violation_keys

        form = self.form
        if form.stored:  # all of it: choosing would cost more than it saves
            return np.argsort(form.groups, kind="stable")
        keys = np.empty(form.n)
        violation_keys(gradient, x, form.lower, form.upper, form.groups, middle, keys)
        free = free_variables(form, x)
        violators = int(np.count_nonzero(keys > 0.5 * goal))
        others = min(extra, max(SMALLEST_BLOCK, 2 * violators))
        largest = self._largest_block(precision)
        if free.size + min(others, SMALLEST_BLOCK) <= largest:
            keys[free] = np.inf
        return self._largest(keys, min(free.size + others, largest))

    def _predicted(self, hint: Array, x: Array, precision: Any) -> Array:
        """Return the variables that a subsample's gradient says will leave their bounds."""
        form = self.form
        m, M = self._extremes(hint, x)
        middle = midpoints(m, M)[form.groups]
        gain = np.maximum(
            np.where(form.upper > x, -hint - middle, -np.inf),
            np.where(form.lower < x, hint + middle, -np.inf),
        )
        size = max(FIRST_BLOCK, int(np.count_nonzero(gain > 0)))
        return self._largest(gain, min(size, self._largest_block(precision)))

    def _largest(self, keys: Array, size: int) -> Array:
        n = keys.size
        if size >= n:
            chosen = np.arange(n)
        else:
            chosen = np.sort(np.argpartition(keys, n - size)[n - size :])
        return chosen[np.argsort(self.form.groups[chosen], kind="stable")]

    def _check_bounded(self, x: Array, field: Array) -> None:
        """Raise an error when the variables run away along a direction without curvature."""
        form = self.form
        size = float(x @ x)
        curvature = float(x @ (form.turn * field + form.diagonal * x))
        if size > 1e6 and curvature < 1e-9 * size * self.steepest and form.objective(x, field) < 0:
            self._raise_unbounded(form.gradient(x, field), x)

    def _raise_unbounded(self, gradient: Array, x: Array) -> None:
        m, M = self._extremes(gradient, x)
        g = int(np.argmax(m - M))
        raise ValueError(
            f"unbounded: in group {g} the objective falls without end along variables "
            "whose bounds are infinite (upper = inf or lower = -inf) and whose curvature is zero; "
            "give them finite bounds or a positive diagonal"
        )

    # What the loop computed against what plain float64 says.

    def _noise(self, x: Array, precision: Any) -> float:
        """Return a generous estimate of the rounding error of the field."""
        return 16.0 * float(np.finfo(precision).eps * self.steepest * np.abs(x).sum())

    def _sample(self, x: Array, field: Array) -> Array:
        """Return the rows to check: all when that is cheap, else extremes, free and random ones."""
        form = self.form
        support = np.count_nonzero(x)
        if support * form.n <= CHECKED_VALUES:
            return np.arange(form.n)
        gradient = form.gradient(x, field)
        random = np.random.default_rng(1).choice(form.n, min(form.n, 128), replace=False)
        ends = [gradient.argmin(), gradient.argmax(), np.abs(x).argmax()]
        free = free_variables(form, x)[:128]
        return np.unique(np.concatenate([random, ends, free]))

    def _deviation(self, x: Array, field: Array) -> tuple[Array, Array, float]:
        """Return the rows checked, their plain fields, and the largest difference."""
        if self.checked is None or self.checked[0] is not x:
            rows = self._sample(x, field)
            exact = reference_field(self.form.problem, self.form.signs * x, rows)
            difference = float(np.abs(exact - field[rows]).max())
            self.checked = (x, rows, exact, difference)
        return self.checked[1:]

    def _accurate_enough(self, x: Array, field: Array) -> bool:
        return not self.stalled and self._violation(x, field) <= self.tol

    def _violation(self, x: Array, field: Array) -> float:
        """Return a bound of the violation: what the loop sees and twice its error in a sample."""
        rows, exact, deviation = self._deviation(x, field)
        if rows.size == self.form.n:
            return self._gap(x, exact)
        return self._gap(x, field) + 2.0 * deviation

    def _solution(self, x: Array, field: Array) -> Solution:
        form = self.form
        alpha = form.signs * x
        violation = self._violation(x, field)
        rows, exact, _ = self._deviation(x, field)
        field[rows] = exact
        verdict = judge(form.problem, alpha, field)
        status: Literal["optimal", "max_iter", "stopped", "stalled"] = "optimal"
        if violation > self.tol:
            status = "max_iter" if self.steps >= self.budget else "stalled"
            status = "stopped" if self.stopped else status
        return Solution(
            alpha=alpha,
            gradient=form.signs * form.gradient(x, field),
            multipliers=verdict.multipliers,
            objective=verdict.objective,
            dual_gap=verdict.dual_gap,
            kkt_violation=violation,
            n_iter=self.steps,
            status=status,
        )
