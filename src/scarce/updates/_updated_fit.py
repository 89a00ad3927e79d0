"""Estimators whose fit is brought up to date when rows come and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from scarce._arrays import Array, unpacked_rows
from scarce._data import comes_in_chunks
from scarce._frame import (
    FitTask,
    Interval,
    checked_weights,
    fit_frame,
    fit_task,
    note,
    parameter_values,
)
from scarce._kernel_machine import KernelMachine, Sample
from scarce.kernels import DirectOperator, is_narrow
from scarce.reductions import OneClassProblem
from scarce.solvers import MovingOptimum, Problem, QuadraticProgram, Solution, Strip

KEPT = ("_kept_rows", "_kept_weights", "_kept_targets")


@dataclass
class Followed:
    """The optimum that the next update begins with, and what it is for."""

    optimum: MovingOptimum | None
    settings: tuple[Any, ...]

    def take(self, settings: tuple[Any, ...]) -> MovingOptimum | None:
        """Return it if it is for these settings; it is gone then, as an update changes it."""
        optimum, self.optimum = self.optimum, None
        return optimum if self.settings == settings else None


@dataclass
class Update:
    """What an update does: how many rows have gone and come, and the optimum before and after."""

    gone: int
    came: int
    followed: Followed | None
    optimum: MovingOptimum | None = None  # that has taken the rows


_places: Array = np.arange(0)


def places(n: int) -> Array:
    """Return ``0 .. n - 1``, a part of what is kept for the next update."""
    global _places
    kept = _places  # another thread may put a shorter one there
    if kept.size < n:
        kept = np.arange(2 * n)
        kept.flags.writeable = False
        _places = kept
    return kept[:n]


def keeps_rows(estimator: Any) -> bool:
    """Say whether an estimator has `partial_fit`; else an error says why not."""
    reason = ""
    if estimator._kernel_type.pairwise:
        reason = f"kernel={estimator.kernel!r} has no rows that could be kept"
    elif estimator.approximation is not None:
        reason = f"approximation={estimator.approximation!r} is for fit"
    if reason:
        raise AttributeError(f"{type(estimator).__name__} has no partial_fit: {reason}")
    return True


class UpdatedFit(KernelMachine):
    """Base of estimators with `partial_fit`: rows are kept, and the last optimum followed."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        **KernelMachine._allowed_values,
        "window": [Interval(Integral, 1, None, closed="left"), None],
    }
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sample_weight": True}
    window: int | None = None
    n_iter_: Any
    _unsaved: ClassVar[tuple[str, ...]] = ("_strips", "_followed", "_update")

    _update: Update | None = None  # while one is made
    _followed: Followed | None = None
    _strips: dict[str, Strip] | None = None

    # Rows.

    def _is_begun(self) -> bool:
        """Say whether rows are kept, and that those of a fit are not."""
        begun = "_kept_rows" in vars(self)
        if not begun and "dual_coef_" in vars(self):
            note("fit keeps no rows: partial_fit begins anew, with the rows of this call")
            self._begin_anew()
        return begun

    def _begin_anew(self) -> None:
        """Drop the model of a fit that nothing is left of but itself."""
        for name in ("dual_coef_", "_gamma"):
            self.__dict__.pop(name, None)

    def _checked_rows(self, X: Any, y: Any = "no_validation") -> Any:
        """Return new rows (and targets), checked against those that are kept."""
        if comes_in_chunks(X):
            raise TypeError(f"partial_fit takes rows in memory, got a {type(X).__name__}")
        begun = self._is_begun()
        found = self._validated(X, y, reset=not begun)
        rows = found if isinstance(y, str) else found[0]
        if begun and sparse.issparse(rows) != sparse.issparse(self._kept_rows):
            kinds = {True: "sparse", False: "dense"}
            raise ValueError(
                f"X is {kinds[sparse.issparse(rows)]}, and the rows kept so far are "
                f"{kinds[not sparse.issparse(rows)]}"
            )
        return found

    def _take_rows(self, rows: Any, weights: Array, targets: Array | None = None) -> None:
        """Keep new rows, as many as the window holds; those of weight 0 take no part."""
        if not weights.all():
            part = weights.nonzero()[0]
            rows, weights = rows[part], weights[part]
            targets = None if targets is None else targets[part]
        given = dict(zip(KEPT, (rows, weights, targets), strict=True))
        begun = "_kept_rows" in vars(self)
        before = self._kept_rows.shape[0] if begun else 0
        most = before + rows.shape[0] if self.window is None else self.window
        gone = max(0, before + rows.shape[0] - most)
        late = max(0, gone - before)  # of the new rows, those that leave at once
        strips = {}
        for name, values in given.items():
            if values is None:
                continue
            old = (self._strips or {}).get(name)
            if old is None:
                old = Strip(vars(self).get(name, values[:0].copy()))
            strips[name] = old.moved(min(gone, before), values[late:])
            setattr(self, name, strips[name].values)
        self._strips = strips
        followed = self._followed if begun else None
        self._update = Update(min(gone, before), rows.shape[0] - late, followed)

    def _drop_rows(self) -> None:
        """Drop what `partial_fit` has kept."""
        for name in (*KEPT, *self._unsaved):
            self.__dict__.pop(name, None)

    @property
    def _settings(self) -> tuple[Any, ...]:
        """What rows bring to a program depends on, and how it is solved."""
        return (*parameter_values(self), self._gamma)

    # The frame of a fit, for rows that are kept.

    def _settled_kernel(self, X: Any, weights: Array) -> Any:
        if self._update is None or not hasattr(self, "_gamma"):
            return super()._settled_kernel(X, weights)
        return self._fitted_kernel()

    def _operator_of(self, X: Any, kernel: Any, rows: Array) -> Any:
        if self._update is not None and is_narrow(X, kernel):
            return DirectOperator(X, kernel)
        return super()._operator_of(X, kernel, rows)

    def _last_dual_variables(self, n_rows: int) -> Array | None:
        update = self._update
        if update is None or not hasattr(self, "dual_coef_"):
            return super()._last_dual_variables(n_rows)
        own = self._dual_variables()
        variables = np.zeros((*own.shape[:-1], n_rows))
        stay = self.support_ >= update.gone
        variables[..., self.support_[stay] - update.gone] = own[..., stay]
        return variables

    def _sample(self, X: Any, weights: Array) -> Sample:
        if self._update is None:
            return super()._sample(X, weights)
        rows = places(weights.size)  # those of no weight are not kept
        return Sample(
            X, rows, weights, self._operator_of(X, self._settled_kernel(X, weights), rows)
        )

    def _is_still_optimal(
        self,
        sample: Sample,
        problem: Callable[[], Problem],
        values: dict[str, Array],
        linear: Array | None = None,
    ) -> bool:
        """Have the last optimum take the rows, if it is followed; say whether the model stays.

        ``values``: of all rows, as `Problem.terms` takes them. ``linear``: of all rows, if that of
        the old ones changes.
        """
        update, n = self._update, sample.weights.size
        if update is None or update.followed is None or not self._can_follow:
            return False
        optimum = update.followed.take(self._settings)
        if optimum is None or not optimum.takes(update.gone, update.came, n):
            return False
        came = slice(n - update.came, None)
        stated, new = problem(), {name: each[came] for name, each in values.items()}
        terms = stated.terms(sample.weights[came], new)
        update.optimum = optimum
        return optimum.take(sample.operator, update.gone, terms, stated.totals, linear)

    def _keep_model(self) -> None:
        """Store that the model stays, and its support vectors have other places."""
        update = self._update
        assert update is not None
        assert update.followed is not None
        self._followed = Followed(update.optimum, update.followed.settings)
        self.support_ = self.support_ - update.gone
        self.shape_fit_ = self._kept_rows.shape
        self.n_iter_ = np.ones_like(self.n_iter_) if np.ndim(self.n_iter_) else 1

    def _follow(self) -> tuple[QuadraticProgram, Solution] | None:
        """Return program and solution by the optimum that has taken the rows; None without one."""
        update = self._update
        if update is None or update.optimum is None or update.followed is None:
            return None
        optimum = update.optimum
        solution = optimum.solve()
        if solution is None:
            program = optimum.program
            return program, self._solve(program, program.signs * optimum.x)  # on the way
        self._followed = Followed(optimum, update.followed.settings)
        return optimum.program, solution

    @property
    def _can_follow(self) -> bool:
        """Whether steps are neither counted nor listened to."""
        return self.max_iter == -1 and not fit_task(self).heard

    def _solve(
        self,
        program: QuadraticProgram,
        start: Array | None = None,
        within: FitTask | None = None,
        **options: Any,
    ) -> Solution:
        solution = super()._solve(program, start, within, **options)
        if self._update is None or within is not None:
            return solution
        self._followed = None
        follows = self._can_follow and solution.status == "optimal"
        if follows and MovingOptimum.can_follow(program):
            optimum = MovingOptimum(program, solution.alpha, self.tol, self.cache_size)
            self._followed = Followed(optimum, self._settings)
        return solution

    # Saved models hold the rows, and no kernel values.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in self._unsaved:
            state.pop(name, None)
        rows: Any = state.get("_kept_rows")
        if sparse.issparse(rows):
            state["_kept_rows"] = (rows.data, rows.indices, rows.indptr, rows.shape)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_kept_rows"), tuple):
            own = f"{type(self).__name__}._kept_rows"
            state["_kept_rows"] = unpacked_rows(state["_kept_rows"], own, sparse.csr_matrix)
        super().__setstate__(state)


# Set with the threshold; while that waits, whoever asks for one of them has it found.
WITH_OFFSET = ("offset_", "intercept_", "_rounding")
OF_LEFT_OUT = ("_left_out_scores", "false_alarms_", "false_alarm_range_")


class UpdatedOneClass(UpdatedFit):
    """Part of one-class models: `partial_fit`."""

    contamination: Any
    _offset_rule: Any
    nu: float
    _answer_of_sample: Any
    _linear_term: Any
    _stored: Any
    _program: Any
    _coefficient_scale: Any
    _left_out_threshold: Any
    _score_rounding: Any
    _store_offset: Any

    @available_if(keeps_rows)
    @fit_frame
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring the region up to date for new rows: the optimum of all rows that are kept.

        The first call is a fit; `fit` itself keeps no rows. A `gamma` that is found from the rows
        is found by the first call, and stays. With ``offset="left_out"`` the threshold is found
        anew when it is next asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows. They are kept, of all calls no more than `window`, the newest.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight 0 or less takes no part, and is not kept.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.contamination:
            raise ValueError(
                f"contamination={self.contamination!r} compares all rows, which is for fit; "
                "partial_fit takes contamination=0.0"
            )
        rows = self._checked_rows(X)
        self._take_rows(rows, checked_weights(sample_weight, rows))
        late = self._offset_rule == "left_out"
        sample = self._sample(self._kept_rows, self._kept_weights)
        mass = self.nu * float(sample.weights.sum())
        linear = self._linear_term(sample, mass)
        if self._is_still_optimal(sample, lambda: OneClassProblem(mass), {}, linear) and not late:
            self._keep_model()
        else:
            self.dropped_ = np.empty(0, np.intp)
            self._stored(self._answer_of_sample(sample), late=late)
        del self._update
        return self

    def _expect_offset(self, far: float, training: float) -> None:
        """Leave the threshold to whoever asks for it first."""
        self._expect_nothing()
        for name in WITH_OFFSET:
            self.__dict__.pop(name, None)
        self._expected = far, training

    def _expect_nothing(self) -> None:
        if "_expected" in vars(self):
            del self._expected

    def __getattr__(self, name: str) -> Any:
        if name in (*WITH_OFFSET, *OF_LEFT_OUT) and "_expected" in vars(self):
            self._find_offset()
            return getattr(self, name)
        return super().__getattribute__(name)  # says what is wrong

    def _find_offset(self) -> None:
        """Find the threshold of the rows that are kept."""
        (far, training), self._update = self._expected, Update(0, 0, None)
        self._expect_nothing()
        try:
            sample = self._sample(self._kept_rows, self._kept_weights)
            program = self._program(sample)
            alpha = np.zeros(program.kernel.n)
            terms: Array = self._dense_dual()[0]
            alpha[self.support_] = terms / self._coefficient_scale(program)
            offset = self._left_out_threshold(sample, program, alpha, training)
            largest = float(np.abs(sample.operator.diagonal()).max())
            self._store_offset(offset, lambda: self._score_rounding(terms, largest), far)
        except BaseException:
            self._expect_offset(far, training)
            raise
        finally:
            del self._update

    def __getstate__(self) -> dict[str, Any]:
        if "_expected" in vars(self):
            self._find_offset()
        return super().__getstate__()
