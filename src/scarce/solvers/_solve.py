"""The way into the solver: any program of the family, from a feasible start to a solution."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce.solvers._blas import single_threaded_blas
from scarce.solvers._field import Field
from scarce.solvers._loop import Loop
from scarce.solvers._plain_steps import is_worth_it
from scarce.solvers._problem import QuadraticProgram
from scarce.solvers._signed import SignedForm
from scarce.solvers._small import is_ordinary
from scarce.solvers._solution import Progress, Solution
from scarce.solvers._space import small_space
from scarce.solvers._start import (
    checked_start,
    first_point,
    guessed_vertex,
    subsample,
    vertex,
    widening,
)

Array = NDArray[Any]

NOT_HELD = nullcontext()
NO_LIMIT = np.iinfo(np.int64).max  # of steps
GUESS_FROM = 512  # variables from which a guess of the support vectors saves more than it takes
SUBSAMPLE_ABOVE = 4096  # variables from which a subsample is solved first


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
        Stop when ``max over groups of m_g - M_g <= tol``, in the program's own scale, and the
        relative duality gap is at most `tol` too.
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
    budget = NO_LIMIT if max_iter == -1 else max_iter
    plainly = is_worth_it(form.n)
    # Sums by several threads of BLAS are rounded otherwise, and answers must not depend on them.
    unused = not plainly and getattr(problem.kernel, "without_blas", False)
    with small_space("matrix") as matrix, small_space("block") as space:
        with NOT_HELD if unused else single_threaded_blas:
            form.keep_rows(matrix, cache_size, plainly=plainly)
            loop = Loop(form, tol, budget, cache_size, callback, space)
            if start is None:
                x, hint = _begin(form, loop, matrix)
            else:
                x, hint = checked_start(form, start), None
            if budget > 0 and is_ordinary(form):
                x, solution = loop.run_small(x)
                if solution is not None:
                    return solution
        with single_threaded_blas:
            if form.single is not None:
                x = loop.first_steps(x)
            return loop.run(x, hint)


def _begin(form: SignedForm, loop: Loop, matrix: Array) -> tuple[Array, Array | None]:
    """Return a start, and the gradient a solved subsample predicts when the start is zero."""
    x = first_point(form)
    lazy = form.kept is not None and form.kept.count < form.n
    if lazy and GUESS_FROM <= form.n and is_ordinary(form) and x.any():
        with single_threaded_blas:
            return guessed_vertex(form), None
    if not (loop.rough or x.any()):  # a start need not be good enough to pay for that
        form.keep_single_rows(loop.cache_size)
    if form.single is not None:
        return x, None
    chosen = subsample(form) if form.n > SUBSAMPLE_ABOVE and form.bounded else None
    if chosen is None:
        return x, None
    try:
        part = SignedForm(form.problem.subset(chosen, widening(form, chosen)))
    except ValueError:  # what was drawn cannot carry a group's total
        return x, None
    part.keep_rows(matrix, loop.cache_size)
    left = loop.budget - loop.steps
    smaller = Loop(part, loop.tol, left, loop.cache_size, None, loop.space, rough=True)
    y = smaller.descend(*_begin(part, smaller, matrix))
    loop.steps += smaller.steps
    spread = np.zeros(form.n)
    spread[chosen] = y
    field = Field(form, spread, form.kernel.precisions[0])
    gradient = form.turn * field.values + form.linear
    if not x.any():
        # Zero is feasible, costs nothing, and is better than a vertex of a margin problem.
        return x, gradient
    return vertex(form, gradient), None
