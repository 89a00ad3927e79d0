"""TGPLM-CD: proportions, a source model and common rows (docs/theory/group_probability.md)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from scarce._arrays import Array
from scarce._frame import (
    FitTask,
    HasMethods,
    Interval,
    StrOptions,
    checked_costs,
    fit_frame,
    fit_task,
    keep_quality,
    run_solver,
)
from scarce._kernel_machine import KernelMachine
from scarce.proportions._calibrated import note_source
from scarce.proportions._calibration import warn_of_free_offset
from scarce.proportions._fitting import Wanted
from scarce.proportions._groups import Bags
from scarce.proportions._source import Source
from scarce.proportions._space import BagSpace, Expansion
from scarce.proportions._with_source import SourceMachine
from scarce.reductions import (
    TubeProblem,
    read_source_tube,
    source_tube,
)
from scarce.solvers import FeatureSystem, TubeSolution, TubeSystem, solve_tube, with_intercept


class TransferGroupProbabilitySVM(SourceMachine):
    """Learn from the proportions of positives in groups, near a source model (TGPLM-CD).

    Beside the groups of `GroupProbabilitySVM`, with squared slacks, a model of a related domain may
    be given: the weights are drawn to its weights, and on common rows, which belong to both
    domains, the scores to its scores. No label of a row and no row of the source is needed.

    Parameters
    ----------
    source : object, default=None
        The source model: a fitted classifier of two classes with a decision function, wrapped in
        `sklearn.frozen.FrozenEstimator` so that clone keeps it; a pair ``(coef, intercept)``; or
        what `scarce.proportions.load_source` returns. For several classes a pair with one row for
        each class, or a list of sources. None drops the transfer whatever `transfer` is.
    C_common : float, default=1.0
        Cost of half the squared difference to the source's score on a common row.
    C_group : float, default=4.0
        Cost of half the square by which a group's mean score leaves its tube, for each row of the
        group.
    transfer : float, default=10.0
        Cost of half the squared distance to the source's weights. 0 is none: the common rows still
        act. For large values the weights are the source's, and the offset alone is learnt; with
        ``calibrate="em"`` the slope too.
    cost_per : {"row", "group"}, default="row"
        "row" multiplies `C_group` by the number of rows of the group, so that the proportion of
        many rows counts for more; "group" is the published method. A value of `C_group` tuned for
        "group" is to be divided by the group size for "row".
    calibrate : {"em", "shares"} or None, default="em"
        "em" learns probabilities that are right also where groups differ for a reason that is not
        in the columns (prior shift). The scores of the SVM begin; then, in rounds, the
        probabilities of each group are shifted until its proportion is met, and a logistic
        regression on features of the kernel (of 200 landmarks, unless `approximation` has its own)
        learns these soft labels. The last one is the model. "shares" keeps the SVM and fits two
        numbers after it, ``sigmoid(a f + b)`` (for several classes ``softmax(a f_c + b_c)``), by
        the cross-entropy between each proportion and the mean probability of its group, unless one
        more fit without a fifth of the groups says that this harms. None is the published SVM.
        Nothing is calibrated without `groups`, or when no group holds two rows that differ.
    threshold : {"half", "proportion"}, default="half"
        What `predict` asks of a row: a probability of one half, which errs least often, or one
        among the highest, as many as the overall proportion of the class, which finds more of a
        rare class at about the same accuracy. Probabilities stay the same.
    epsilon : float, default=0.01
        Tolerated error of a proportion; a tube of ``epsilon / (p (1 - p))`` around the wanted
        score.
    clip : float or "auto", default="auto"
        Distance that proportions keep from 0 and 1, in the interval (0, 1/2). "auto" is half a row
        of the group, but at least 1/1000 and at most 1/4.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; that of the source must be the same.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" takes that of a kernel source.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    source_kernel : {"same", "any"}, default="same"
        "same" refuses a source with another kernel. "any" takes ``f_s(x) - b_s`` as a given
        function, whatever it is; the distance of the weights then has no meaning of its own, and
        `objective_` leaves it out.
    classes : array-like, default=None
        Names of the classes when `y` holds proportions: two for one column, else one for each
        column. 0, 1, ... by default.
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
    max_memory : float or None, default=None
        MB that a fit by chunks may take beside the rows; None is a quarter of what is free.
    price : {"row", "group"}, default="deprecated"
        Former name of `cost_per`.

        .. deprecated:: 0.1
           It will be removed in version 0.2.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; decision values are positive for the second of two.
    support_ : ndarray of shape (n_SV,)
        Indices of the rows of the expansion; with "em" the landmarks, and none for a linear kernel,
        whose weights then stand among the support vectors.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (n_problems, n_SV)
        Coefficients of the rows in the decision function, beside which stands
        ``transfer / (1 + transfer)`` times the source's. One row for two classes, else one each.
    common_dual_coef_ : ndarray of shape (n_problems, n_common)
        Multipliers of the common rows, in their order; for rows in chunks, of the few rows that
        stand for them.
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
    calibration_ : tuple or None
        Slope `a` and shift `b`, for several classes one shift each; None when there is none.
        `intercept_` holds the shift, in units of the scores. ``(1.0, 0.0)`` with "em": decision
        values are the log-odds.
    effective_labels_ : float
        About how many labelled rows the proportions are worth; see
        :func:`scarce.proportions.effective_labels`. With "em" a group counts for fewer rows where
        held-out groups differ in more than their proportions.
    left_out_loss_ : dict of float
        Cross-entropy of proportions of held-out groups. With "em" of the "model", of a "constant",
        the mean proportion of the other groups, and of the "source" with its own slope and
        constant; with "shares" "uncalibrated", "calibrated" and "source". Empty when that was not
        tried.
    share_slope_ : float
        Slope of the mean probabilities of held-out groups in their proportions, with "em": how
        much of the differences between groups the columns explain, 0 for nothing and 1 for all.
    shrinkage_ : float
        Factor of the log-odds, with "em": below 1 where ten or more held-out groups say that the
        probabilities of rows spread too far.
    left_out_shares_ : ndarray of shape (2, n_groups, n_problems)
        Given proportions, and mean probabilities by models without these groups, with "em".
    left_out_sizes_ : ndarray of shape (n_groups,)
        Weights of these groups.
    soft_label_gap_ : float
        Bound of how far the last logistic regression is above its minimum, relative to it, with
        "em". It certifies that model for its soft labels, not the soft labels.
    source_calibration_ : tuple
        Slope and shift of the source's scores, fitted in the same way: ``sigmoid(a f_s + b)`` is
        what the model must beat. Only with a source and groups of several rows.
    n_iter_ : int
        Linear systems solved.
    objective_ : float
        Primal objective, summed over the problems; with "em" that of the SVM, as what follows.
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
    matrix of all pairs of bags, common rows and groups; with a linear kernel or
    ``approximation="nystroem"`` of one row of features for each bag, if that is less.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferGroupProbabilitySVM
    >>> from scarce.proportions import expand_proportions, group_proportions
    >>> random = np.random.default_rng(0)
    >>> X, groups = random.normal(size=(800, 2)), np.arange(800) // 8
    >>> labels = X[:, 0] + X[:, 1] > 0.5  # known to their owner only
    >>> share = expand_proportions(group_proportions(labels, groups), groups)
    >>> model = TransferGroupProbabilitySVM(source=([1.0, 0.2], 0.0), kernel="linear")
    >>> model.fit(X, share, groups).predict([[-1.0, 0.0], [1.0, 1.0]])
    array([0, 1])
    >>> loss = model.left_out_loss_  # on groups that a fit has not seen
    >>> loss["model"] < loss["source"] < loss["constant"]
    True
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **SourceMachine._allowed_values,
        "source": [HasMethods(["decision_function"]), HasMethods(["fit"]), tuple, list, None],
        "C_common": [Interval(Real, 0.0, None, closed="neither")],
        "C_group": [Interval(Real, 0.0, None, closed="neither")],
        "transfer": [Interval(Real, 0.0, None, closed="left")],
        "source_kernel": [StrOptions({"same", "any"})],
        "max_memory": KernelMachine._allowed_values["max_memory"],
    }

    def __init__(
        self,
        *,
        source: Any = None,
        C_common: float = 1.0,
        C_group: float = 4.0,
        transfer: float = 10.0,
        cost_per: str = "row",
        calibrate: str | None = "em",
        threshold: str = "half",
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
        max_memory: float | None = None,
        price: str = "deprecated",
    ) -> None:
        self.source = source
        self.C_common = C_common
        self.C_group = C_group
        self.transfer = transfer
        self.cost_per = cost_per
        self.calibrate = calibrate
        self.threshold = threshold
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
        self.max_memory = max_memory
        self.price = price

    @fit_frame
    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from proportions, or from labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; for a precomputed kernel, the kernel matrix. With groups, and a linear kernel
            or landmarks, also rows in chunks: see ``scarce.chunks``.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            With groups, the proportion of positives in each row's group, or the proportions of all
            classes; ignored for common rows, which may have NaN. Without groups, two labels, or
            the proportions of all classes for each row.
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
        self._fit_shares(X, y, groups, sample_weight)
        return self

    def _refuse_common(self, n_common: int) -> None:
        if n_common and self.source is None:
            raise ValueError(
                f"groups marks {n_common} rows as common (-1), whose scores come from the "
                "source model, but source=None; give a source, or mark these rows as leftover "
                "(-2, None or NaN)"
            )

    def _learnt(
        self,
        space: BagSpace,
        bags: Bags,
        wanted: Wanted,
        sources: list[Source],
        functions: Array,
    ) -> tuple[list[Expansion], list[TubeSolution]]:
        """Solve every problem of the bags; store offsets, multipliers and objective.

        ``functions`` are the sources' mean scores of every bag, without constants.
        """
        system = space.system(1.0 - self._source_share)
        common, grouped = np.split(self._factors(bags), [bags.n_common])
        costs = np.concatenate(
            [
                checked_costs("C_common", self.C_common, common),
                checked_costs("C_group", self.C_group, grouped),
            ]
        )
        n_problems = max(1, bags.shares.shape[1])
        solutions, models, offsets, spreads = [], [], [], []
        with fit_task(self, n_problems) as task:
            for problem in range(n_problems):
                pair = wanted[problem] if wanted else (np.empty(0), np.empty(0))
                tube = source_tube(
                    pair[0],
                    pair[1],
                    costs,
                    source_means=functions[:, problem] if sources else None,
                    source_intercept=sources[problem].intercept if sources else 0.0,
                    share=self._source_share,
                )
                solution = self._solve_tube(system, tube, task)
                found = read_source_tube(tube, system, solution)
                warn_of_free_offset(found.interval)
                given = (system, tube.targets, tube.tubes, tube.costs, self.tol)
                solutions.append(with_intercept(solution, found.offset, *given, space.definite))
                models.append(self._model(space, system, solution))
                offsets.append(found.offset)
                spreads.append(found.spread)
        self.intercept_ = np.array(offsets) - [model.shift for model in models]
        self.intercept_spread_ = np.array(spreads)
        variables = np.array([solution.theta for solution in solutions])
        self.common_dual_coef_, self.group_dual_coef_ = np.split(variables, [bags.n_common], axis=1)
        self.n_iter_ = max(1, sum(solution.n_iter for solution in solutions))
        self.objective_ = sum(solution.objective for solution in solutions)
        if self._source_share > 0 and self.source_kernel == "same":
            norms = sum(source.squared_norm() for source in sources)
            self.objective_ += 0.5 * self._source_share * norms
        return models, solutions

    def _judge(self, bags: Bags, solutions: list[TubeSolution], grouped: bool) -> None:
        """Store what the solutions are worth; warn of a source that does as well alone."""
        if grouped and self.source is not None and self.calibrate is not None:
            note_source(self.left_out_loss_, self.calibration_ is not None, bags.sizes.size)
        keep_quality(self, solutions)

    def _solve_tube(self, system: TubeSystem, tube: TubeProblem, task: FitTask) -> TubeSolution:
        return run_solver(
            task.part("round", None),
            lambda report: solve_tube(
                system,
                tube.targets,
                tube.tubes,
                tube.costs,
                tol=self.tol,
                max_iter=self.max_iter,
                callback=report,
            ),
        )

    def _model(self, space: BagSpace, system: TubeSystem, solution: TubeSolution) -> Expansion:
        """Return the learnt part, ours less the source's proportion, as a sum over rows."""
        scale = 1.0 - self._source_share
        weights = None
        if isinstance(system, FeatureSystem):  # of features times the root of the scale
            weights = np.sqrt(scale) * system.in_given_scale(solution.w)
        return space.expansion(scale * solution.theta, weights)
