"""Squared slacks outside tubes, with the weights drawn to those of a source (TGPLM-CD).

``1/2 |w|^2 + T/2 |w - w_s|^2`` is, up to a constant, ``(1 + T)/2 |w - share w_s|^2`` with
``share = T / (1 + T)``. What is learnt is the difference ``w - share w_s``, by a plain tube problem
whose kernel is multiplied by ``1 - share`` and from whose targets the source's part is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.solvers import TubeSolution, TubeSystem


@dataclass(frozen=True)
class TubeProblem:
    """What `scarce.solvers.solve_tube` is to fit; see `source_tube`."""

    # targets, tubes, costs: (n_bags,): wanted scores of the part that is learnt, half widths of the
    # tubes around them, costs of half the squared slack
    targets: Array
    tubes: Array
    costs: Array
    # the bags that come first and have no tube: rows whose scores the source gives
    n_common: int = 0


@dataclass(frozen=True)
class TubeModel:
    """What a solution of a `TubeProblem` says; see `read_source_tube`."""

    # offset, spread: the constant, and the difference between the values that it is the mean of
    offset: float
    spread: float = 0.0
    interval: tuple[float, float] | None = None  # all optimal offsets, when no bag says which


def source_share(transfer: float) -> float:
    """Return the proportion ``T / (1 + T)`` of the source's weights in ours for the cost ``T``.

    ``transfer``: cost of half the squared distance to the source's weights. Returned: in [0, 1).

    Examples
    --------
    >>> source_share(3.0)
    0.75
    """
    return transfer / (1.0 + transfer)


def source_tube(
    scores: Array,
    tubes: Array,
    costs: Array,
    *,
    source_means: Array | None = None,
    source_intercept: float = 0.0,
    share: float = 0.0,
) -> TubeProblem:
    """Return the problem of the part that is learnt beside ``share`` times the source.

    ``scores``, ``tubes``: wanted mean scores of the bags, from their label proportions, and the
    tubes around them. ``costs``: costs of half the squared slack: of the common rows, then of the
    bags. ``source_means``: the source's scores without its constant: of the common rows, then the
    bags' means. None for no source, and no common rows.. ``source_intercept``: the source's
    constant; a common row wants the source's whole score. Returned: for a system whose kernel is
    multiplied by ``1 - share``.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import source_tube
    >>> problem = source_tube(
    ...     np.array([2.0]),
    ...     np.array([0.1]),
    ...     np.ones(2),
    ...     source_means=np.array([1.0, 3.0]),
    ...     source_intercept=0.5,
    ...     share=0.5,
    ... )
    >>> problem.targets, problem.tubes
    (array([1. , 0.5]), array([0. , 0.1]))
    """
    if source_means is None:
        return TubeProblem(scores, tubes, costs)
    n_common = source_means.size - scores.size
    wanted = np.concatenate([source_means[:n_common] + source_intercept, scores])
    tubes = np.concatenate([np.zeros(n_common), tubes])
    return TubeProblem(wanted - share * source_means, tubes, costs, n_common)


def read_source_tube(problem: TubeProblem, system: TubeSystem, solution: TubeSolution) -> TubeModel:
    """Return the offset and how well the bags agree on it.

    Every bag with a dual variable, and every common row, is off its target by its tube and
    ``theta / C``; what is left is the offset.

    ``system``: the bags it was solved for. ``solution``: its solution, which holds coefficients and
    objective.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import read_source_tube, source_tube
    >>> from scarce.solvers import GramSystem, solve_tube
    >>> x = np.array([-1.0, 1.0])
    >>> system, problem = GramSystem(np.outer(x, x)), source_tube(x + 5.0, np.zeros(2), np.ones(2))
    >>> solution = solve_tube(system, problem.targets, problem.tubes, problem.costs)
    >>> round(read_source_tube(problem, system, solution).offset, 6)
    5.0
    """
    targets, tubes, theta = problem.targets, problem.tubes, solution.theta
    wanted = targets - tubes * np.sign(theta) - theta / problem.costs
    used = np.arange(problem.n_common) if problem.n_common else np.flatnonzero(theta)
    if used.size == 0 and solution.status != "optimal":
        return TubeModel(solution.intercept)
    if used.size == 0:
        low, high = float((targets - tubes).max()), float((targets + tubes).min())
        return TubeModel(0.5 * (low + high), interval=(low, high))
    fresh = system.scores(system.combination(theta))
    offset = float((wanted - solution.scores)[used].mean())
    return TubeModel(offset, float(np.ptp((wanted - fresh)[used])))
