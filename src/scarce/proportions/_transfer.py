"""TGPLM-CD: shares, a source model and common rows (docs/theory/group_probability.md)."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from scarce._kernel_machine import NOT_FINITE, all_or_nothing
from scarce.kernels import Kernel
from scarce.proportions._base import FIT_LEVEL, ShareMachine
from scarce.proportions._groups import Units
from scarce.proportions._source import LinearSource, Source, check_same_kernel, read_sources
from scarce.proportions._space import Expansion, UnitSpace
from scarce.solvers import FeatureSystem, TubeSolution, TubeSystem, solve_tube

Array = NDArray[Any]


class TransferGroupProbabilitySVM(ShareMachine):
    """Learn from the shares of positives in groups, near a source model (TGPLM-CD).

    Beside the groups of `GroupProbabilitySVM`, with squared slacks, a model of a related domain may
    be given: the weights are drawn to its weights, and on common rows, which belong to both
    domains, the scores to its scores. No label of a row and no row of the source is needed.

    Parameters
    ----------
    source : object, default=None
        The source model: a fitted classifier of two classes with a decision function, wrapped in
        `sklearn.frozen.FrozenEstimator` so that clone keeps it; a pair ``(coef, intercept)``; or
        what `scarce.proportions.load_source` returns. For several classes a pair with one line for
        each class, or a list of sources. None drops the transfer whatever `transfer` is.
    C_common : float, default=1.0
        Price of half the squared difference to the source's score on a common row.
    C_group : float, default=1.0
        Price of half the square by which a group's mean score leaves its tube.
    transfer : float, default=1.0
        Price of half the squared distance to the source's weights. 0 is none: the common rows still
        act. For large values the weights are the source's, and the offset alone is learnt.
    epsilon : float, default=0.01
        Tolerated error of a share; a tube of ``epsilon / (p (1 - p))`` around the wanted score.
    clip : float or "auto", default="auto"
        Distance that shares keep from 0 and 1, in the interval (0, 1/2). "auto" is half a row of
        the group, but at least 1/1000 and at most 1/4.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; that of the source must be the same.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    source_kernel : {"same", "any"}, default="same"
        "same" refuses a source with another kernel. "any" takes ``f_s(x) - b_s`` as a given
        function, whatever it is; the distance of the weights then has no meaning of its own, and
        `objective_` leaves it out.
    classes : array-like, default=None
        Names of the classes when `y` holds shares: two for one column, else one for each column.
        0, 1, ... by default.
    tol : float, default=1e-3
        Largest violation of the optimality conditions for a fit to count as converged. The solver
        goes on to the exact solution where rounding errors allow.
    max_iter : int, default=-1
        Limit on the number of linear systems solved for a problem; -1 for none.
    verbose : bool, default=False
        Print one line per linear system.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows, for very
        many rows. A linear kernel is linear in the number of rows as it is.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; decision values are positive for the second of two.
    support_ : ndarray of shape (n_SV,)
        Indices of the rows of the expansion.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (n_problems, n_SV)
        Coefficients of the rows in the decision function, beside which stands
        ``transfer / (1 + transfer)`` times the source's. One line for two classes, else one each.
    common_dual_coef_ : ndarray of shape (n_problems, n_common)
        Multipliers of the common rows, in their order.
    group_dual_coef_ : ndarray of shape (n_problems, n_groups)
        Multipliers of the groups, in the order of their ids.
    coef_ : ndarray of shape (n_problems, n_features)
        Weights of the features, the source's part included, for a linear kernel.
    intercept_ : ndarray of shape (n_problems,)
        Constant of the decision function: what the common rows give, or without them the groups
        outside their tubes, on average.
    intercept_spread_ : ndarray of shape (n_problems,)
        Difference between the largest and the smallest of the values averaged: near 0 for an
        exact solution.
    n_iter_ : int
        Linear systems solved.
    objective_ : float
        Primal objective, summed over the problems.
    dual_gap_ : float
        Relative duality gap of the solution, the largest of the problems.
    kkt_violation_ : float
        Violation of the optimality conditions in the scale of the scores.
    fit_status_ : int
        0 when the tolerance was met.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    GroupProbabilitySVM : Absolute slacks, no source.
    scarce.proportions.export_source : Write a source model without its rows.

    Notes
    -----
    Without `groups` every row is a group of its own and `y` holds labels. Memory is that of a
    matrix of all pairs of units, common rows and groups; with a linear kernel or
    ``approximation="nystroem"`` of one line of features for each unit, if that is less.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferGroupProbabilitySVM
    >>> X = np.array([[-3.0], [-2.0], [-2.0], [1.0], [2.0], [3.0], [0.5]])
    >>> groups = ["north", "north", "east", "east", "west", "west", -1]
    >>> share = [0.0, 0.0, 0.5, 0.5, 1.0, 1.0, np.nan]
    >>> model = TransferGroupProbabilitySVM(source=([1.5], 0.1), kernel="linear")
    >>> model.fit(X, share, groups).predict([[-1.0], [1.0]])
    array([0, 1])
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([[0.49]]), array([0.24]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ShareMachine._parameter_constraints,
        "source": [HasMethods(["decision_function"]), HasMethods(["fit"]), tuple, list, None],
        "C_common": [Interval(Real, 0.0, None, closed="neither")],
        "C_group": [Interval(Real, 0.0, None, closed="neither")],
        "transfer": [Interval(Real, 0.0, None, closed="left")],
        "source_kernel": [StrOptions({"same", "any"})],
    }

    def __init__(
        self,
        *,
        source: Any = None,
        C_common: float = 1.0,
        C_group: float = 1.0,
        transfer: float = 1.0,
        epsilon: float = 0.01,
        clip: Any = "auto",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        source_kernel: str = "same",
        classes: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        verbose: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
    ) -> None:
        self.source = source
        self.C_common = C_common
        self.C_group = C_group
        self.transfer = transfer
        self.epsilon = epsilon
        self.clip = clip
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.source_kernel = source_kernel
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from shares, or from labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            With groups, the share of positives in each row's group, or the shares of all classes;
            ignored for common rows, which may have NaN. Without groups, two labels, or the shares
            of all classes for each row.
        groups : array-like of shape (n_samples,), default=None
            Group of each row: any hashable ids. -1 is a common row; to be in a group as well it is
            given twice. A row of no group has -2, None or NaN, and NaN for `y`; it takes no part.
            By default every row is a group of its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in its group's mean and size; for a common row, and without groups, a
            factor of the cost. A row of weight 2 is the same as the row given twice, and a row of
            weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, units = self._prepared(X, y, groups, sample_weight)
        if units.n_common and self.source is None:
            raise ValueError(
                f"groups marks {units.n_common} rows as common (-1), whose scores come from the "
                "source model, but source=None; give a source, or mark these rows as leftover "
                "(-2, None or NaN)"
            )
        wanted = self._wanted(units)
        weights = np.where(units.codes >= 0, units.weights, 0.0)
        kernel = self._make_kernel(X, weights)
        n_problems = max(1, units.shares.shape[1])
        sources = self._sources(X, kernel, n_problems)
        self._pull = self.transfer / (1.0 + self.transfer) if sources else 0.0
        space = self._unit_space(X, units, kernel)
        system = space.system(1.0 - self._pull)
        prices = np.repeat([self.C_common, self.C_group], [units.n_common, units.sizes.size])
        costs = prices * units.masses
        context = self._init_callback_context(max_subtasks=n_problems)
        context.call_on_fit_task_begin(estimator=self)
        solutions, models, places = [], [], []
        for problem in range(n_problems):
            source = sources[problem] if sources else None
            pair = wanted[problem] if wanted else (np.empty(0), np.empty(0))
            tube = self._tube(X, units, pair, source)
            solution = self._fit_tube(system, *tube, costs, context)
            solutions.append(solution)
            models.append(self._model(space, system, solution))
            places.append(self._offset(units.n_common, system, solution, *tube, costs))
        context.call_on_fit_task_end(estimator=self)
        self._keep_models(X, models)
        self._add_source(sources)
        offsets, spreads = np.array(places).T
        self.intercept_ = offsets - [model.shift for model in models]
        self.intercept_spread_ = spreads
        multipliers = np.array([solution.theta for solution in solutions])
        self.common_dual_coef_, self.group_dual_coef_ = np.split(
            multipliers, [units.n_common], axis=1
        )
        self.objective_ = sum(solution.objective for solution in solutions)
        if self._pull > 0 and self.source_kernel == "same":
            self.objective_ += 0.5 * self._pull * sum(source.squared_norm() for source in sources)
        self._keep_quality(solutions)
        return self

    def _sources(self, X: Any, kernel: Kernel, n_problems: int) -> list[Source]:
        """Return the source of every problem, none for ``source=None``; checks kernels."""
        if self.source is None:
            return []
        if self.kernel == "precomputed":
            raise ValueError(
                'a source is evaluated on the rows, which kernel="precomputed" does not show; use '
                "a kernel with a formula or a callable, or source=None"
            )
        sources = read_sources(self.source, X, kernel, n_problems)
        if self.source_kernel == "same":
            for source in sources:
                check_same_kernel(source, kernel, self.gamma)
        return sources

    def _tube(
        self, X: Any, units: Units, pair: tuple[Array, Array], source: Source | None
    ) -> tuple[Array, Array]:
        """Return what the learnt part must score on every unit, and the tubes around it.

        The source's part ``pull * (f_s - b_s)`` is taken off the wanted scores: those of the common
        rows are ``f_s``, those of the groups come from their shares.
        """
        scores, tubes = pair
        tubes = np.concatenate([np.zeros(units.n_common), tubes])
        if source is None:
            return scores, tubes
        rows = units.rows
        function = source.function(X[rows])
        if not np.isfinite(function).all():
            raise ValueError("source gives scores that are not finite on the rows of X")
        means = np.bincount(units.codes[rows], units.in_means()[rows] * function)
        wanted = np.concatenate([means[: units.n_common] + source.intercept, scores])
        return wanted - self._pull * means, tubes

    def _fit_tube(
        self, system: TubeSystem, targets: Array, tubes: Array, costs: Array, context: Any
    ) -> TubeSolution:
        task = context.subcontext(task_name="round", max_subtasks=None)
        task.call_on_fit_task_begin(estimator=self)
        with np.errstate(over="ignore", invalid="ignore"):  # found below, and reported once
            solution = solve_tube(
                system,
                targets,
                tubes,
                costs,
                tol=self.tol,
                max_iter=self.max_iter,
                callback=self._reporter(task),
            )
        task.call_on_fit_task_end(estimator=self)
        if not (np.isfinite(solution.theta).all() and np.isfinite(solution.intercept)):
            raise ValueError(NOT_FINITE)
        return solution

    def _model(self, space: UnitSpace, system: TubeSystem, solution: TubeSolution) -> Expansion:
        """Return the learnt part ``w - pull * w_s`` as a sum over rows."""
        scale = 1.0 - self._pull
        weights = None
        if isinstance(system, FeatureSystem):  # of features times the root of the scale
            weights = np.sqrt(scale) * system.in_given_units(solution.w)
        return space.expansion(scale * solution.theta, weights)

    def _offset(
        self,
        n_common: int,
        system: TubeSystem,
        solution: TubeSolution,
        targets: Array,
        tubes: Array,
        costs: Array,
    ) -> tuple[float, float]:
        """Return the offset and the spread of the values it is the mean of.

        Every unit with a multiplier, and every common row, is off its target by its tube and
        ``theta / C``; what is left is the offset.
        """
        theta = solution.theta
        wanted = targets - tubes * np.sign(theta) - theta / costs
        used = np.arange(n_common) if n_common else np.flatnonzero(theta)
        if used.size == 0 and solution.status != "optimal":
            return solution.intercept, 0.0
        if used.size == 0:
            low, high = (targets - tubes).max(), (targets + tubes).min()
            warnings.warn(
                "every group's share is met without any weights: every offset between "
                f"{low:.6g} and {high:.6g} is optimal, and the middle is taken",
                UserWarning,
                stacklevel=FIT_LEVEL - 1,
            )
            return 0.5 * (low + high), 0.0
        fresh = system.scores(system.combination(theta))
        return float((wanted - solution.scores)[used].mean()), float(np.ptp((wanted - fresh)[used]))

    def _add_source(self, sources: list[Source]) -> None:
        """Add the weights of linear sources to ours; other ones are asked at prediction."""
        self._asks_source = self._pull > 0
        if self.kernel == "linear" and all(isinstance(s, LinearSource) for s in sources):
            theirs = [self._pull * s.coef for s in sources if isinstance(s, LinearSource)]
            self._coef = self._coef + theirs if theirs else self._coef
            self._asks_source = False

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)
        if self._asks_source:
            sources = read_sources(self.source, X, self._fitted_kernel(), scores.shape[1])
            scores = scores + self._pull * np.column_stack([s.function(X) for s in sources])
        return scores

    @property
    def coef_(self) -> Array:
        """Weights of the features, for a linear kernel and source."""
        coef = super().coef_
        if self._asks_source:
            raise AttributeError("coef_ is not available: the source is a given function")
        return coef
