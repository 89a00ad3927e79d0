"""The second learner, trained once per round: warm starts, and the guards of nu."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from scarce._arrays import Array
from scarce._frame import collected_notes, pass_on
from scarce._kernel_machine import KernelMachine
from scarce.classification._margin_machine import MarginMachine
from scarce.kernels import make_kernel, make_operator
from scarce.positive_unlabeled._rows import RowSource
from scarce.reductions import NoMarginError, is_flat

STEPS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # on which nu is raised


@dataclass
class Trained:
    """A classifier of positives against negatives, its rows, and how nu was changed for it."""

    model: Any
    rows: Array
    nu: float
    guard: str


@dataclass
class Training:
    """Train a classifier on positives and changing sets of negatives.

    Attributes
    ----------
    classifier : estimator
        What is trained, a new copy each time.
    rows : RowSource
        Where rows come from.
    weights : ndarray of shape (n,)
        Weights of all rows; handed on only if they were `weighted`.
    on_infeasible : {"lower", "error"}
        What to do when nu is too large for the class sizes.
    """

    classifier: Any
    rows: RowSource
    weights: Array
    weighted: bool
    on_infeasible: str
    # The last solution, a start for the next: its support vectors, their dual variables, total.
    _last: tuple[Array, Array, float] | None = field(default=None, init=False)
    # What nu was raised to. Negatives come nearer from round to round: a value that has left no
    # margin once is not tried again.
    _least_nu: float = field(default=0.0, init=False)

    def __call__(self, positives: Array, negatives: Array) -> Trained:
        """Return the classifier of these rows, decisions positive for positives."""
        indices = np.concatenate([positives, negatives])
        codes = np.repeat([1, 0], [positives.size, negatives.size])
        X = self.rows.against(indices).gather(indices)
        if "nu" not in self.classifier.get_params(deep=False):
            return Trained(self._fitted(X, codes, indices), indices, np.nan, "")
        return self._with_some_nu(X, codes, indices)

    def _with_some_nu(self, X: Any, codes: Array, indices: Array) -> Trained:
        """Lower nu to what the class sizes allow; raise it where the solution is trivial."""
        total = float(self.weights[indices].sum())
        smaller = min(float(self.weights[indices[codes == code]].sum()) for code in (0, 1))
        largest = 2.0 * smaller / total
        nu, guard = self.classifier.nu, ""
        if nu > largest * (1 + 1e-12):
            if self.on_infeasible == "error":
                raise ValueError(
                    f"nu={nu:g} is infeasible for positives and negatives of this round: the "
                    f'smaller class allows 0 < nu <= {largest:g}. Use on_infeasible="lower"'
                )
            nu, guard = 0.999 * largest, "nu lowered"
        first = max(nu, min(self._least_nu, 0.999 * largest))
        higher = [step for step in (*STEPS, 0.999 * largest) if first < step <= largest]
        for attempt in (first, *sorted(higher)):
            model = self._fitted(X, codes, indices, nu=attempt)
            if model is not None:
                if attempt > nu:
                    self._least_nu, guard = attempt, "nu raised"
                return Trained(model, indices, attempt, guard)
        raise NoMarginError(
            f"nu={nu:g} leaves no margin between positives and negatives, nor does any larger "
            f"value up to {largest:g}: the two overlap too much. Use a narrower kernel, or a "
            'classifier with a price of slack (SVC, or learner="csvc")'
        )

    def _fitted(self, X: Any, codes: Array, indices: Array, **parameters: Any) -> Any:
        """Return a fitted copy, or None where the margin vanishes."""
        model = clone(self.classifier).set_params(**parameters)
        weights = self.weights[indices]
        given = weights if self.weighted else None
        total = float(weights.sum()) * parameters.get("nu", 1.0)
        warm = isinstance(model, MarginMachine) and model.approximation is None
        try:
            with collected_notes() as notes:
                if warm:
                    start = self._start(indices, total if parameters else None)
                    model._fit_from(X, codes, given, start)
                elif given is None:
                    model.fit(X, codes)
                else:
                    model.fit(X, codes, sample_weight=given)
        except ValueError as error:
            # scikit-learn's NuSVC divides by the margin and finds coefficients that are not finite.
            if isinstance(error, NoMarginError) or (parameters and "not finite" in str(error)):
                return None
            raise
        if warm:
            self._last = indices[model.support_], np.abs(model._dual_variables()), total
        if parameters and _is_flat(model, X):
            return None
        # Of a machine of this library that was cut short the loop's estimator warns itself.
        pass_on(notes, *([ConvergenceWarning] if isinstance(model, KernelMachine) else []))
        return model

    def _start(self, indices: Array, total: float | None) -> Array | None:
        """Return the last dual variables: rows that left have none, new ones begin at zero.

        With nu the dual variables of a class sum to ``nu / 2`` times the total weight, so that they
        grow with it.
        """
        if self._last is None:
            return None
        support, variables, last_total = self._last
        everyone = np.zeros(self.rows.shape[0])
        everyone[support] = variables * (1.0 if total is None else total / last_total)
        return np.asarray(everyone[indices])


def _is_flat(model: Any, X: Any) -> bool:
    """Return whether a nu-classifier's plane and margin are next to nothing."""
    dual = np.ravel(_dense(model.dual_coef_))
    if not np.isfinite(dual).all():
        return True
    margin = model.nu / float(np.abs(dual).sum())
    if isinstance(model, KernelMachine):
        norm = np.sqrt(max(0.0, -2.0 * model.objective_))
    else:
        scores = np.ravel(model.decision_function(X[model.support_])) - model.intercept_[0]
        norm = margin * np.sqrt(max(0.0, float(dual @ scores)))
    return is_flat(norm, margin, model.nu, float(np.sqrt(_largest_diagonal(model, X))))


def _largest_diagonal(model: Any, X: Any) -> float:
    gamma = model._gamma if isinstance(model.gamma, str) else model.gamma
    kernel = make_kernel(model.kernel, gamma, model.degree, model.coef0)
    return float(make_operator(X, kernel).diagonal().max())


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
