"""IC-SVM: learning from proportions by inverse calibration (docs/theory/group_probability.md)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from scarce._arrays import Array
from scarce._frame import FitTask, Interval, checked_costs, fit_frame, fit_task, keep_quality
from scarce._kernel_machine import KernelMachine
from scarce.proportions._calibrated import note_all_at_bound
from scarce.proportions._fitting import Wanted
from scarce.proportions._groups import Bags
from scarce.proportions._share_machine import ShareMachine
from scarce.proportions._space import BagSpace, Expansion
from scarce.reductions import SharesModel, read_shares, rounded_shares, shares_program
from scarce.solvers import FeatureSystem, Solution, SymmetricOperator, solve

SHARPER = 0.1  # the offset is read off the scores, which should be better than `tol` for that
# As in LIBSVM, a last limit: on rows of a scale that leaves the kernel no digits the pairwise steps
# would follow rounding errors for ever.
FEWEST_STEPS = 2_000_000


class GroupProbabilitySVM(ShareMachine):
    """Learn a classifier of rows from the proportion of positives in groups of rows (IC-SVM).

    The proportion ``p`` of a group wants the mean score ``log(p / (1 - p))`` of its rows, up to a
    tolerance. The model is a support vector regression of these wanted scores on the groups' means
    in feature space, with absolute slacks.

    Parameters
    ----------
    C : float, default=1.0
        Cost of one unit by which a group's mean score leaves its tube, for each row of the group.
    cost_per : {"row", "group"}, default="row"
        "row" multiplies `C` by the number of rows of the group, so that the proportion of many rows
        counts for more; "group" is the published method. A value of `C` tuned for "group" is to
        be divided by the group size for "row".
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
        The kernel. A callable takes two arrays of rows and returns the matrix of values; it is
        called on blocks of rows.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    classes : array-like, default=None
        Names of the classes when `y` holds proportions: two for one column, else one for each
        column. 0, 1, ... by default.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for two million, or a hundred for each group if
        that is more.
    verbose : bool, default=False
        Print one line per block of variables solved.
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
        Coefficients of the rows: a group's multiplier, shared out among its rows. One row for two
        classes, else one for each.
    group_dual_coef_ : ndarray of shape (n_problems, n_groups)
        Multipliers of the groups, in the order of their ids.
    coef_ : ndarray of shape (n_problems, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (n_problems,)
        Constant of the decision function, the middle of the optimal interval.
    calibration_ : tuple or None
        Slope `a` and shift `b`, for several classes one shift each; None when there is none.
        `intercept_` holds the shift, in units of the scores. ``(1.0, 0.0)`` with "em": decision
        values are the log-odds.
    effective_labels_ : float
        About how many labelled rows the proportions are worth; see
        :func:`scarce.proportions.effective_labels`. With "em" a group counts for fewer rows where
        held-out groups differ in more than their proportions.
    left_out_loss_ : dict of float
        Cross-entropy of proportions of held-out groups. With "em" of the "model" and of a
        "constant", the mean proportion of the other groups; with "shares" "uncalibrated" and
        "calibrated". Empty when that was not tried.
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
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 + C sum of slacks``, summed over the problems; with "em" that of the
        SVM whose scores begin, as what follows.
    dual_gap_ : float
        Relative duality gap of the solution, the largest of the problems.
    kkt_violation_ : float
        Violation of the optimality conditions, to be compared with `tol`.
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
    TransferGroupProbabilitySVM : Squared slacks, with a source model and common rows.
    scarce.proportions.expand_proportions : From a table of proportions to `y`.

    Notes
    -----
    Without `groups` every row is a group of its own and `y` holds labels. The memory for `groups`
    is that of a matrix of all pairs of groups, and of none for rows on their own.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import GroupProbabilitySVM
    >>> from scarce.proportions import expand_proportions, group_proportions
    >>> random = np.random.default_rng(0)
    >>> X, groups = random.normal(size=(800, 2)), np.arange(800) // 8
    >>> labels = X[:, 0] + X[:, 1] > 0.5  # known to their owner only
    >>> share = expand_proportions(group_proportions(labels, groups), groups)
    >>> model = GroupProbabilitySVM(kernel="linear").fit(X, share, groups)
    >>> model.predict([[-1.0, 0.0], [1.0, 1.0]])
    array([0, 1])
    >>> bool(np.mean(model.predict(X) == labels) > 0.97), model.effective_labels_ > 90
    (True, True)
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **ShareMachine._allowed_values,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "cache_size": KernelMachine._allowed_values["cache_size"],
        "max_memory": KernelMachine._allowed_values["max_memory"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        cost_per: str = "row",
        calibrate: str | None = "em",
        threshold: str = "half",
        epsilon: float = 0.01,
        clip: Any = "auto",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        classes: Any = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        verbose: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
        max_memory: float | None = None,
        price: str = "deprecated",
    ) -> None:
        self.C = C
        self.cost_per = cost_per
        self.calibrate = calibrate
        self.threshold = threshold
        self.epsilon = epsilon
        self.clip = clip
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.classes = classes
        self.tol = tol
        self.cache_size = cache_size
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
            classes. Without groups, two labels, or the proportions of all classes for each row.
        groups : array-like of shape (n_samples,), default=None
            Group of each row: any hashable ids. A row of no group has -2, None or NaN, and NaN for
            `y`; it takes no part. By default every row is a group of its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in its group's mean and size; without groups a factor of `C`. A row
            of weight 2 is the same as the row given twice, and a row of weight 0 or less takes no
            part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit_shares(X, y, groups, sample_weight)
        return self

    def _refuse_common(self, n_common: int) -> None:
        if n_common:
            raise ValueError(
                f"groups marks {n_common} rows as common (-1), which this model cannot use; "
                "mark them as leftover (-2, None or NaN), or use TransferGroupProbabilitySVM with "
                "a source"
            )

    def _learnt(
        self, space: BagSpace, bags: Bags, wanted: Wanted, sources: Any, functions: Any
    ) -> tuple[list[Expansion], list[Solution]]:
        """Solve every problem of the bags; store offsets and objective. There are no sources."""
        operator, features = space.operator(), space.few_features()
        system = None if features is None else FeatureSystem(features)
        costs = checked_costs("C", self.C, self._factors(bags))
        with fit_task(self, len(wanted)) as task:
            solved = [self._regress(operator, system, costs, *pair, task) for pair in wanted]
        solutions, problems = [each[0] for each in solved], [each[1] for each in solved]
        self.group_dual_coef_ = np.array([problem.coefficients for problem in problems])
        models = [space.expansion(row, None) for row in self.group_dual_coef_]
        offsets = np.array([problem.offset for problem in problems])
        self.intercept_ = offsets - [model.shift for model in models]
        self.n_iter_ = max(1, sum(solution.n_iter for solution in solutions))
        self.objective_ = sum(problem.objective for problem in problems)
        return models, solutions

    def _judge(self, bags: Bags, solutions: list[Solution], grouped: bool) -> None:
        """Store what the solutions are worth; warn of costs too low for any group."""
        if grouped:
            note_all_at_bound(self.group_dual_coef_, self.C * self._factors(bags), "C")
        keep_quality(self, solutions)

    def _regress(
        self,
        operator: SymmetricOperator,
        system: FeatureSystem | None,
        costs: Array,
        scores: Array,
        tubes: Array,
        task: FitTask,
    ) -> tuple[Solution, SharesModel]:
        """Return the solution of one problem and what it says."""
        program = shares_program(operator, scores, tubes, costs)
        tol = SHARPER * self.tol
        limit = max(FEWEST_STEPS, 100 * scores.size) if self.max_iter == -1 else self.max_iter
        start = None if system is None else rounded_shares(system, scores, tubes, costs, tol)
        solution = self._solve(program, start, task, tol=tol, max_iter=limit)
        both = np.minimum(*np.split(solution.alpha, 2))
        if solution.status != "optimal" and both.any():
            # A model keeps the difference of a bag's dual variables, and claims are of the model.
            start = solution.alpha - np.tile(both, 2)
            kept = solve(program, start=start, tol=tol, max_iter=0)
            status = kept.status if kept.status == "optimal" else solution.status
            solution = replace(kept, status=status, n_iter=solution.n_iter)
        return solution, read_shares(program, solution)
