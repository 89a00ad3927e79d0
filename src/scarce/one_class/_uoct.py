"""The transfer model in the parameters of its paper."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions
from scarce.one_class._transfer import TransferOneClassSVM
from scarce.reductions import TaskParameters

REPLACED = (
    "contamination",
    "relation",
    "nu",
    "source_nu",
    "coupling",
    "source_coupling",
    "source_weight",
)


class UOCTSVM(TransferOneClassSVM):
    """Uncertain one-class transfer SVM with the paper's one parameter ``C`` per task.

    ``C`` is the cost of a unit of slack and sets the coupling as well: it is the coupling in the
    paper's form for two tasks, and ``C / n_tasks`` in its form for any number. The two differ at
    two tasks.

    Parameters
    ----------
    C_source, C_target : float, default=0.1 and 1.0
        ``C`` of the sources and of the target. ``C`` times the task's weight must be at least 1.
    variant : {"auto", "pair", "multi"}, default="auto"
        The form for two tasks, or that for any number; "auto" is the first for one source.
    radius : float or "knn", default="knn"
        Radius of every row, or the paper's rule; see `TransferOneClassSVM`.
    radius_scale, radius_neighbors : optional
        Factor and number of neighbours of the rule; see `TransferOneClassSVM`.
    kernel : str or callable, default="rbf"
        See `TransferOneClassSVM`.
    gamma : {"scale", "auto", "neighbors"} or float, default="scale"
        See `OneClassSVM`.
    degree, coef0, offset, false_alarms, safeguard : optional
        See `TransferOneClassSVM`. The algorithm as printed: ``offset="shifted", safeguard=False``,
        with a `radius_scale` of 0.1 to 0.5 on noisy rows; with 1 it rejects every row.
    round_tol : float, default=0.1
        Stop when the objective changes by no more than this proportion from round to round.
    max_rounds, tol, cache_size, max_iter, verbose : optional
        See `TransferOneClassSVM`.
    approximation, n_components, random_state, max_memory : optional
        See `TransferOneClassSVM`.

    See Also
    --------
    TransferOneClassSVM : The same with separate parameters; it lists the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import UOCTSVM
    >>> random = np.random.default_rng(0)
    >>> source, target = random.normal(size=(100, 2)), random.normal(0.3, size=(10, 2))
    >>> X, domain = np.r_[source, target], np.r_[np.zeros(100, int), np.full(10, -1)]
    >>> UOCTSVM().fit(X, sample_domain=domain).predict([[0.3, 0.3], [9.0, 9.0]])
    array([ 1, -1])
    """

    relation = "keep"  # as published

    _allowed_values: ClassVar[dict[str, Any]] = {
        **{
            name: rule
            for name, rule in TransferOneClassSVM._allowed_values.items()
            if name not in REPLACED
        },
        "C_source": [Interval(Real, 0.0, None, closed="neither")],
        "C_target": [Interval(Real, 0.0, None, closed="neither")],
        "variant": [StrOptions({"auto", "pair", "multi"})],
    }

    def __init__(
        self,
        *,
        C_source: float = 0.1,
        C_target: float = 1.0,
        variant: str = "auto",
        radius: Any = "knn",
        radius_scale: float = 1.0,
        radius_neighbors: int | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        offset: str = "left_out",
        false_alarms: float | None = None,
        safeguard: bool = True,
        round_tol: float = 0.1,
        max_rounds: int = 50,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        verbose: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
        max_memory: float | None = None,
    ) -> None:
        self.C_source = C_source
        self.C_target = C_target
        self.variant = variant
        self.radius = radius
        self.radius_scale = radius_scale
        self.radius_neighbors = radius_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.offset = offset
        self.false_alarms = false_alarms
        self.safeguard = safeguard
        self.round_tol = round_tol
        self.max_rounds = max_rounds
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.verbose = verbose
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state
        self.max_memory = max_memory

    @property
    def _contamination(self) -> float:
        return 0.0  # the paper leaves no row out

    def _task_parameters(self, sizes: Array) -> TaskParameters:
        """Return the parameters of (7), or of (23), for tasks of the given weights."""
        n_tasks = sizes.size
        if self.variant == "pair" and n_tasks != 2:
            raise ValueError(
                f'variant="pair" is for one source and the target, got {n_tasks} tasks; use "multi"'
            )
        costs = np.array([self.C_target] + (n_tasks - 1) * [self.C_source], dtype=float)
        short = np.flatnonzero(costs * sizes < 1.0 - 1e-12)
        if short.size:
            t = int(short[0])
            name, which = ("C_target", "the target") if t == 0 else ("C_source", "source")
            task = which if t == 0 else f"{which} {self.domains_[t]}"
            raise ValueError(
                f"{name}={costs[t]:g} is infeasible: times the weight {sizes[t]:g} of {task} it "
                f"is {costs[t] * sizes[t]:g}, and must be at least 1; the smallest admissible "
                f"value is {1.0 / sizes[t]:g}"
            )
        paired = self.variant == "pair" or (self.variant == "auto" and n_tasks == 2)
        return TaskParameters(
            own=costs if paired else costs / n_tasks, costs=costs, masses=np.ones(n_tasks)
        )
