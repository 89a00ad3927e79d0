"""One-class learning from several tasks and uncertain rows (docs/theory/uoct_svm.md)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from scarce._arrays import Array
from scarce._data import TARGET, check_no_domains, split_domains
from scarce._frame import Interval, StrOptions, checked_weights, fit_frame, fit_task, keep_quality
from scarce._predictions import warn_if_zero
from scarce.kernels import make_operator
from scarce.one_class._task_machine import TaskAnswer, TaskMachine
from scarce.one_class._task_sample import TaskSample, per_task, task_masses
from scarce.reductions import TaskParameters

UNUSED = ("shrinking", "warm_start")  # parameters of other kernel machines


class TransferOneClassSVM(TaskMachine):
    """Find the region where a task's sample lies, with the help of related tasks and of radii.

    Each task has a hyperplane ``(w_0 + v_t)'x >= rho_t``: ``w_0`` is shared, ``v_t`` is its own.
    Each recorded row may be off its true position by up to its radius, and is taken to lie where it
    fits best. Without sources and radii this is a one-class SVM; with radii only UOC-SVM, with
    sources only TLOC-SVM, with both UOCT-SVM.

    The method is optimistic: it takes the most favourable position of every row. It does not guard
    against the worst one.

    Parameters
    ----------
    nu : float, default=0.1
        Proportion of the target's training weight that may be rejected. In the interval (0, 1].
    source_nu : float or None, default=None
        The same for the sources; None means `nu`.
    coupling : float, default=1.0
        Cost ``m_t`` of the target's own part: large, and the target uses the shared hyperplane,
        small, and it is on its own.
    source_coupling : float or None, default=None
        The same for the sources; None means `coupling`.
    source_weight : float or dict, default=1.0
        Mass of each source in the shared hyperplane against the target's 1, one number or
        ``{domain: number}``.
    radius : float or "knn", default=0.0
        Radius of every row, or the rule: the mean distance to the nearest rows of the same task. 0
        turns uncertainty off.
    radius_scale : float, default=1.0
        Factor of the radii of ``radius="knn"``.
    radius_neighbors : int or None, default=None
        How many nearest rows ``radius="knn"`` counts; None is a tenth of the target's rows.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel. Radii need one with a gradient: not precomputed, not a callable.
    gamma : {"scale", "auto", "neighbors"} or float, default="neighbors"
        Coefficient of the rbf, poly and sigmoid kernels; see `OneClassSVM`. The rows of all tasks
        count.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    offset : {"left_out", "original", "shifted"}, default="left_out"
        Whose scores set the target's offset: those of its rows left out, each by a model that has
        not seen it, so that about the proportion `false_alarms` of new rows is rejected; those of
        the recorded rows; or as in the paper the moved rows', which makes the region too small for
        rows that are not moved; with either of these take ``gamma="scale"``, since a narrow width
        rejects far too many. The sources' offsets are those of their recorded rows for "left_out".
    false_alarms : float or None, default=None
        Proportion of new rows of the target that may be rejected, for ``offset="left_out"``; None
        is 0.1. From n target rows no less than ``1 / (n + 1)`` is attainable.
    contamination : float or "auto", default=0.0
        Proportion of the target's rows that may not belong to it; see `OneClassSVM`.
    relation : {"auto", "keep"}, default="auto"
        Whether sources are taken for related. "auto" moves every source to the target's mean, as
        far as that is known, and uses it where `source_p_value_` is then above 0.3; others are left
        out, and a warning names them. Sparse rows and kernel matrices are not moved, rows in chunks
        are used as they are. "keep" is the published method: all sources, where they are.
    safeguard : bool, default=True
        Take a step only if it does not lower the row's score, so that the objective does not rise,
        up to `tol` and up to the moves of an approximation's landmarks.
    round_tol : float, default=1e-3
        Stop when the objective changes by no more than this proportion from round to round.
    max_rounds : int, default=50
        Largest number of rounds, each one solution of the convex problem.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in the scale of `OneClassSVM`.
    cache_size : float, default=200
        Memory for kernel values in MB.
    max_iter : int, default=-1
        Limit on the pairwise steps of a round; -1 for none.
    verbose : bool, default=False
        Print one line per block of variables solved.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows, for very
        many rows. A linear kernel is linear in the number of rows as it is.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation, and of the parts left out of many rows.
    max_memory : float or None, default=None
        MB that a fit by chunks may take beside the rows; None is a quarter of what is free.

    Attributes
    ----------
    domains_ : ndarray of shape (n_tasks,)
        The tasks: -1 for the target, then the sources that are used.
    source_p_value_ : dict of int to float
        For every source the mean p-value of the target's rows under a one-class model of the
        source: near 0.5 if they are alike, below 0.1 if they are not related.
    task_shift_ : ndarray of shape (n_tasks, n_features) or None
        How far ``relation="auto"`` has moved each task, the target by nothing.
    dropped_ : ndarray of shape (n_dropped,)
        Rows of the target that took no part in the fit because of `contamination`.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors of all tasks.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors at their moved positions; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Coefficients of the target's score.
    task_dual_coef_ : ndarray of shape (n_tasks, n_SV)
        Coefficients of every task's score.
    offset_ : ndarray of shape (1,)
        The target's offset: ``decision_function = score_samples - offset_``.
    left_out_scores_ : ndarray of shape (n_samples,)
        For ``offset="left_out"``: score of every row of the target by a model without it and its
        equals; below `offset_` it is odd among the others. NaN for other rows.
    false_alarms_ : float
        For ``offset="left_out"``: the proportion that was asked for.
    false_alarm_range_ : tuple of float
        For ``offset="left_out"``: 90 % range, approximate, of the proportion of new rows rejected.
    task_offset_ : ndarray of shape (n_tasks,)
        Every task's offset.
    intercept_ : ndarray of shape (1,)
        Minus the target's offset.
    coef_ : ndarray or CSR of shape (1, n_features)
        The target's weights of the features, for a linear kernel.
    task_coef_ : ndarray of shape (n_tasks, n_features)
        Every task's weights of the features, for a linear kernel.
    shifts_ : ndarray of shape (n_samples, n_features)
        How far each row was moved. None without radii, and for sparse rows, which all move along
        their task's line of `task_coef_` by their radius.
    radii_ : ndarray of shape (n_samples,)
        The radii used; None for rows in chunks, which have none.
    history_ : dict of list
        Per round: "objective", "moved" (proportion of rows), "halvings", "n_iter". For rows in
        chunks, per round of the band fit, what `OneClassSVM.history_` holds.
    n_reads_ : int
        How often all rows were read, for rows in chunks.
    converged_ : bool
        Whether `round_tol` was met.
    n_rounds_ : int
        Number of rounds.
    n_iter_ : int
        Pairwise steps of all rounds.
    objective_ : float
        Primal objective after the last round.
    dual_gap_ : float
        Relative duality gap of the last round.
    kkt_violation_ : float
        Violation of the optimality conditions in the last round, in the scale of `tol`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    UOCTSVM : The same in the parameters of the paper.
    OneClassSVM : One task, exact rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransferOneClassSVM
    >>> random = np.random.default_rng(0)
    >>> source, target = random.normal(size=(100, 2)), random.normal(0.3, size=(10, 2))
    >>> X, domain = np.r_[source, target], np.r_[np.zeros(100, int), np.full(10, -1)]
    >>> model = TransferOneClassSVM(radius="knn").fit(X, sample_domain=domain)
    >>> model.predict([[0.3, 0.3], [9.0, 9.0]])
    array([ 1, -1])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in TaskMachine._allowed_values.items() if name not in UNUSED},
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "source_nu": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "coupling": [Interval(Real, 0.0, None, closed="neither")],
        "source_coupling": [Interval(Real, 0.0, None, closed="neither"), None],
        "source_weight": [Interval(Real, 0.0, None, closed="neither"), dict],
        "radius": [StrOptions({"knn"}), Interval(Real, 0.0, None, closed="left")],
        "offset": [StrOptions({"left_out", "original", "shifted"})],
        "relation": [StrOptions({"auto", "keep"})],
        "radius_scale": [Interval(Real, 0.0, None, closed="left")],
        "radius_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "safeguard": ["boolean"],
        "round_tol": [Interval(Real, 0.0, None, closed="left")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sample_weight": True,
        "sample_domain": True,
        "sample_radius": True,
    }

    def __init__(
        self,
        *,
        nu: float = 0.1,
        source_nu: float | None = None,
        coupling: float = 1.0,
        source_coupling: float | None = None,
        source_weight: Any = 1.0,
        radius: Any = 0.0,
        radius_scale: float = 1.0,
        radius_neighbors: int | None = None,
        kernel: Any = "rbf",
        gamma: Any = "neighbors",
        degree: int = 3,
        coef0: float = 0.0,
        offset: str = "left_out",
        false_alarms: float | None = None,
        contamination: float | str = 0.0,
        relation: str = "auto",
        safeguard: bool = True,
        round_tol: float = 1e-3,
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
        self.nu = nu
        self.source_nu = source_nu
        self.coupling = coupling
        self.source_coupling = source_coupling
        self.source_weight = source_weight
        self.radius = radius
        self.radius_scale = radius_scale
        self.radius_neighbors = radius_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.offset = offset
        self.false_alarms = false_alarms
        self.contamination = contamination
        self.relation = relation
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Rows that move become dense, but for a linear kernel, which needs no moved copy.
        exact = self.radius != "knn" and self.radius == 0
        tags.input_tags.sparse &= exact or self._kernel_type.explicit
        return tags

    @fit_frame
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        sample_domain: Any = None,
        sample_radius: Any = None,
    ) -> Self:
        """Find the regions of all tasks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows of all tasks; for a precomputed kernel, the kernel matrix. Without radii, with
            a linear kernel or landmarks, also rows in chunks: see ``scarce.chunks``.
        y : Ignored
            Not used, present for API consistency by convention. What looks like domains is refused:
            they are `sample_domain`.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the cost of a row's slack; a row of weight 2 is the same as the row given
            twice, and a row of weight 0 or less takes no part.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Task of each row: at least 0 for a source, each value one task; one negative value for
            the target. By default every row is of the target.
        sample_radius : array-like of shape (n_samples,), default=None
            Radius of each row, in place of `radius`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_no_domains(y, sample_domain)
        rule = self._offset_rule
        self._forget_reads()
        self._forget_left_out()
        values = {"sample_weight": sample_weight, "sample_domain": sample_domain}
        if self._reads_chunks(X):
            answer = self._answer_of_chunks(X, values, sample_radius)
        else:
            answer = self._answer_in_memory(X, **values, sample_radius=sample_radius)
        self.converged_, self.n_rounds_ = answer.converged, answer.n_rounds
        self.n_iter_ = max(1, answer.n_iter)
        self.objective_ = answer.objective
        keep_quality(self, [answer.solution])
        self.task_offset_ = answer.offsets
        if rule == "left_out":
            self.task_offset_[0] = answer.held_out_offset()
        self.offset_ = self.task_offset_[:1]
        self.intercept_ = -self.offset_
        self._rounding = answer.rounding()
        if self._kernel_type.vanishes:
            self._note_if_all_inside(self._rounding)
        return self

    def _answer_in_memory(
        self, X: Any, sample_weight: Any, sample_domain: Any, sample_radius: Any
    ) -> TaskAnswer:
        """Return what the last of the rounds says; store its weight vectors."""
        X = self._validated(X, reset=True)
        given = checked_weights(sample_weight, X)
        self.domains_, all_tasks = split_domains(sample_domain, X.shape[0])
        empty = self.domains_[np.bincount(all_tasks, given, minlength=self.domains_.size) == 0]
        if empty.size:
            raise ValueError(f"every row of the tasks {empty.tolist()} has sample_weight 0")
        weights, still_counted = self._without_dropped(X, given, all_tasks == 0)
        X, weights, all_tasks, moves = self._related(X, weights, all_tasks)
        rows = np.flatnonzero(weights)
        tasks, weights_in = all_tasks[rows], weights[rows]
        parameters = self._task_parameters(
            np.bincount(tasks, weights_in, minlength=self.domains_.size)
        )
        self.radii_ = self._radii(X, rows, tasks, weights_in, sample_radius)
        kernel = self._settled_kernel(X, weights)
        part = self._part(X, rows)
        plain = make_operator(part, kernel)
        self._check_diagonal(plain)
        largest = float(np.abs(plain.diagonal()).max())
        with fit_task(self, self.max_rounds) as task:
            rounds = self._rounds(
                rows=part,
                tasks=tasks,
                weights=weights_in,
                radii=self.radii_[rows],
                parameters=parameters,
                kernel=kernel,
                solve=lambda program, start: self._solve(program, start, task),
                largest=largest,
            )
            converged = rounds.run(self.round_tol, self.max_rounds)
        self.history_ = rounds.history
        warn_if_zero(-rounds.solution.objective, rounds.zero_scale, kernel)
        self._note_if_unsettled(rounds, converged)
        self._keep(X, rows[rounds.support], rounds.coefficients[0])
        self.task_dual_coef_ = rounds.coefficients
        self._keep_shifts(X, rows, all_tasks, rounds)

        def held_out_offset() -> float:
            if self.dropped_.size:
                target = np.zeros(self.dropped_.size, np.int64)
                dropped = self._task_scores(X[self.dropped_], target)
                self._keep_dropped(dropped, still_counted)
            sample = TaskSample.of(rounds, sample_radius is not None)
            members = np.full(X.shape[0], -1)
            members[rows] = np.where(tasks == 0, sample.members, -1)
            return self._left_out_offset(rounds, sample, members, moves)

        return TaskAnswer(
            solution=rounds.solution,
            objective=rounds.objective,
            n_iter=sum(rounds.history["n_iter"]),
            n_rounds=len(rounds.history["objective"]),
            converged=converged,
            offsets=self._offsets(rounds),
            held_out_offset=held_out_offset,
            rounding=lambda: self._boundary_rounding(
                rounds.coefficients, largest, self.task_offset_, self._boundary_share
            ),
        )

    def _task_parameters(self, sizes: Array) -> TaskParameters:
        """Return the costs and masses for tasks of the given weights."""
        sources = self.domains_[1:].tolist()
        shares = per_task(self.nu, self.source_nu, len(sources))
        all_sources = list(self.source_p_value_) or sources  # those that are not used too
        used = np.isin([TARGET, *all_sources], self.domains_)
        return TaskParameters(
            own=per_task(self.coupling, self.source_coupling, len(sources)),
            costs=1.0 / (shares * sizes),
            masses=task_masses(self.source_weight, all_sources)[used],
        )
