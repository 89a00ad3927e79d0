"""Estimators whose fit is brought up to date when rows come and go."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from scarce._arrays import Array, unpacked_rows
from scarce._data import comes_in_chunks
from scarce._frame import FitTask, Interval, fit_task, note
from scarce._kernel_machine import KernelMachine
from scarce.kernels import DirectOperator, is_narrow
from scarce.solvers import MovingOptimum, QuadraticProgram, Solution
from scarce.updates._strip import Strip

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


@dataclass(frozen=True)
class Update:
    """What an update does: how many rows have gone and come, and the optimum before."""

    gone: int
    came: int
    optimum: MovingOptimum | None


NO_ROWS = Update(0, 0, None)


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
        optimum = None
        if begun and self._followed is not None:
            optimum = self._followed.take(self._settings)
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
        self._update = Update(min(gone, before), rows.shape[0] - late, optimum)

    def _drop_rows(self) -> None:
        """Drop what `partial_fit` has kept."""
        for name in (*KEPT, "_strips", "_followed", "_update"):
            self.__dict__.pop(name, None)

    @property
    def _settings(self) -> tuple[Any, ...]:
        """What an optimum is for, beside its program."""
        return self.kernel, self._gamma, self.degree, self.coef0, self.tol, self.cache_size

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

    def _solve(
        self,
        program: QuadraticProgram,
        start: Array | None = None,
        within: FitTask | None = None,
        **options: Any,
    ) -> Solution:
        update = self._update
        if update is None or within is not None:
            return super()._solve(program, start, within, **options)
        follows = self.max_iter == -1 and not fit_task(self).heard
        follows = follows and MovingOptimum.can_follow(program)
        optimum, solution = update.optimum, None
        if follows and optimum is not None:
            solution = optimum.advance(program, update.gone, update.came)
        if solution is None:
            if optimum is not None and optimum.x.size == program.kernel.n:
                start = optimum.program.signs * optimum.x  # on the way
            solution = super()._solve(program, start, **options)
            optimum = None
            if follows and solution.status == "optimal":
                optimum = MovingOptimum(program, solution.alpha, self.tol, self.cache_size)
        self._followed = None if optimum is None else Followed(optimum, self._settings)
        return solution

    # Saved models hold the rows, and no kernel values.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_strips", "_followed", "_update"):
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
