"""The second learner, trained once per round: warm starts, and the guards of nu."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from scarce._arrays import Array
from scarce._frame import collected_notes, pass_on
from scarce._kernel_machine import KernelMachine
from scarce.classification import SVC, MarginMachine
from scarce.kernels import as_rows, make_kernel, make_operator
from scarce.positive_unlabeled.rows._row_source import RowSource
from scarce.reductions import NoMarginError, is_flat

FIRST_VIOLATORS = 5000  # negatives to begin with, and to add at a time, of more than fit
SMALL = 1600  # rows in memory to begin with: the solver keeps the kernel values of some more
STEPS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # on which nu is raised

Fitted = Callable[..., tuple[Any, Array, Array | None] | None]


def n_begun_with(rows: RowSource, n_positives: int) -> int:
    """Return the number of negatives to begin a training with; in memory it may be that of all."""
    if rows.most_trained < np.inf:
        return FIRST_VIOLATORS + 4 * n_positives
    return SMALL - n_positives if 2 * n_positives <= SMALL else rows.shape[0]


@dataclass
class Trained:
    """A classifier of positives against negatives, and how nu was changed for it."""

    model: Any  # the classifier
    rows: Array  # numbers of the rows it was trained on
    # (n,): negatives that it was not trained on because they were seen to lie beyond its margin
    beyond: Array | None
    nu: float  # what it was trained with
    guard: str  # how that was changed

    def inside(self, rows: RowSource, indices: Array) -> Array:
        """Return whether the classifier accepts each of some rows, numbers or one bool a row."""
        model = self.model
        return rows.against(self.rows).each(
            indices, lambda block: np.ravel(model.decision_function(block)) >= 0
        )

    def accepted(self, rows: RowSource, some: Array) -> Array:
        """Return which of some rows it accepts; both are one bool for each of all rows."""
        found = np.zeros_like(some)
        asked = some if self.beyond is None else some & ~self.beyond
        found[asked] = self.inside(rows, asked)
        return found


@dataclass
class Training:
    """Train a classifier on positives and changing sets of negatives."""

    classifier: Any  # what is trained, a new copy each time; not fitted itself
    rows: RowSource  # where rows come from
    weights: Array  # (n,): weights of all rows; handed on only if they were `weighted`
    weighted: bool
    on_infeasible: str  # what to do when nu is too large for the class sizes
    # numbers of the strong negatives that are most like the positives; the first training, if it is
    # of more than fit, or in memory of more than are solved fast, begins with them
    nearest: Array
    # The last solution, a start for the next: its support vectors, their dual variables, total.
    _last: tuple[Array, Array, float] | None = field(default=None, init=False)
    # What nu was raised to. Negatives come nearer from round to round: a value that has left no
    # margin once is not tried again.
    _least_nu: float = field(default=0.0, init=False)

    def __call__(self, positives: Array, negatives: Array) -> Trained:
        """Return the classifier of these rows, decisions positive for positives."""
        few = positives.size + negatives.size <= self.rows.most_trained
        if self.rows.most_trained == np.inf and self._last is None:
            # With a start, all of them are solved sooner than some of them twice.
            few = negatives.size <= n_begun_with(self.rows, positives.size)
        fitted: Fitted = self._on_all if few or not self._has_margin() else self._on_violators
        if self._has_nu:
            return self._with_some_nu(fitted, positives, negatives)
        found = fitted(positives, negatives)
        assert found is not None  # which only too small a nu leads to
        return Trained(*found, np.nan, "")

    def begin_at(self, nu: float) -> None:
        """Try no smaller nu than this one; NaN for classifiers without it."""
        if self._has_nu:
            self._least_nu = nu

    @cached_property
    def _has_nu(self) -> bool:
        return "nu" in self.classifier.get_params(deep=False)

    def _with_some_nu(self, fitted: Fitted, positives: Array, negatives: Array) -> Trained:
        """Lower nu to what the class sizes allow; raise it where the solution is trivial."""
        totals = [float(self.weights[some].sum()) for some in (positives, negatives)]
        largest = 2.0 * min(totals) / sum(totals)
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
            found = fitted(positives, negatives, nu=attempt)
            if found is not None:
                if attempt > nu:
                    self._least_nu, guard = attempt, "nu raised"
                return Trained(*found, attempt, guard)
        raise NoMarginError(
            f"nu={nu:g} leaves no margin between positives and negatives, nor does any larger "
            f"value up to {largest:g}: the two overlap too much. Use a narrower kernel, or a "
            'classifier with a cost of slack (SVC, or learner="csvc")'
        )

    def _on_all(
        self, positives: Array, negatives: Array, **parameters: Any
    ) -> tuple[Any, Array, None] | None:
        """Return the classifier of all these rows, and their numbers; None without a margin."""
        indices = np.concatenate([positives, negatives])
        codes = np.repeat([1, 0], [positives.size, negatives.size])
        weights = self.weights[indices] if self.weighted else None
        model = self._fitted(indices, codes, weights, parameters)
        return None if model is None else (model, indices, None)

    def _has_margin(self) -> bool:
        """Say whether rows beyond the margin of the classifier do not matter to it."""
        exact = isinstance(self.classifier, MarginMachine) and self.classifier.approximation is None
        return exact and (isinstance(self.classifier, SVC) or self.classifier.class_weight is None)

    def _on_violators(
        self, positives: Array, negatives: Array, **parameters: Any
    ) -> tuple[Any, Array, Array] | None:
        """Do what `_on_all` does without gathering all negatives; return those left out as well.

        A negative beyond the margin has no part in the classifier. Train with some of them, look
        at all others where they are, and let those within the margin join, and those beyond it by
        no more than the tolerance, until there is none: this is then the classifier of all.
        """
        totals = np.array([float(self.weights[some].sum()) for some in (negatives, positives)])
        factors = self._cost_factors(totals)
        mass = parameters.get("nu", 0.0) * totals.sum()
        left = np.zeros(self.rows.shape[0], bool)
        left[negatives] = True
        active = self.nearest
        if self._last is not None:
            active = np.union1d(active, self._last[0])
        active = active[left[active]]
        n_more = min(negatives.size, n_begun_with(self.rows, positives.size)) - active.size
        if n_more > 0:
            drawn = np.random.default_rng(0).choice(negatives.size, n_more, replace=False)
            active = np.union1d(active, negatives[drawn])
        if mass > 2.0 * self.weights[active].sum():  # which so few of them cannot carry
            active = negatives
        steps = 0
        while True:
            left[active] = False
            indices = np.concatenate([positives, active])
            codes = np.repeat([1, 0], [positives.size, active.size])
            weights = self.weights[indices] * factors[codes]
            settings: dict[str, Any] = {"class_weight": None}
            if mass:  # the variables of a class have the same sum as with all rows
                settings["nu"] = min(1.0, mass / float(weights.sum()))
            model = self._fitted(indices, codes, weights, settings)
            if model is None:
                return None
            steps += model.n_iter_
            scores = self.rows.against(indices).scores(left, model.decision_function)
            wrong = np.flatnonzero(scores > -1.0 - self.classifier.tol)
            if wrong.size == 0:
                break
            most = max(FIRST_VIOLATORS, active.size)
            if wrong.size > most:
                wrong = wrong[np.argpartition(-scores[wrong], most)[:most]]
            active = np.union1d(active, np.flatnonzero(left)[np.sort(wrong)])
        if mass:  # of the spec, whose variables are shares of all rows
            model.objective_ *= (float(weights.sum()) / totals.sum()) ** 2
        model.n_iter_ = steps
        for name, value in {"class_weight": self.classifier.class_weight, **parameters}.items():
            setattr(model, name, value)
        return model, indices, left

    def _cost_factors(self, totals: Array) -> Array:
        """Return what the class weights of all rows multiply the weights of either class by."""
        model = copy(self.classifier)
        model.classes_ = np.array([0, 1])
        model._set_class_weight(lambda: totals)
        return np.asarray(model.class_weight_)

    def _fitted(
        self, indices: Array, codes: Array, weights: Array | None, parameters: dict[str, Any]
    ) -> Any:
        """Return a fitted copy, or None where the margin vanishes."""
        X = self.rows.against(indices).gather(indices)
        model = self._copy(parameters)
        by_share = "nu" in parameters
        own = self.weights[indices] if weights is None else weights
        total = float(own.sum()) * parameters.get("nu", 1.0)
        warm = isinstance(model, MarginMachine) and model.approximation is None
        try:
            with collected_notes() as notes:
                if warm:
                    start = self._start(indices, total if by_share else None)
                    model._fit_from(X, codes, weights, start)
                elif weights is None:
                    model.fit(X, codes)
                else:
                    model.fit(X, codes, sample_weight=weights)
        except ValueError as error:
            # scikit-learn's NuSVC divides by the margin and finds coefficients that are not finite.
            if isinstance(error, NoMarginError) or (by_share and "not finite" in str(error)):
                return None
            raise
        if warm:
            self._last = indices[model.support_], np.abs(model._dual_variables()), total
        if by_share and _is_flat(model, X):
            return None
        # Of a model of this library that was cut short the loop's estimator warns itself.
        pass_on(notes, *([ConvergenceWarning] if isinstance(model, KernelMachine) else []))
        return model

    def _copy(self, parameters: dict[str, Any]) -> Any:
        """Return the classifier as it was given, with some other parameters."""
        if not isinstance(self.classifier, MarginMachine):
            return clone(self.classifier).set_params(**parameters)
        model = copy(self.classifier)  # whose parameters are numbers: cloning takes a millisecond
        for name, value in parameters.items():
            setattr(model, name, value)
        return model

    def _start(self, indices: Array, total: float | None) -> Array | None:
        """Return the last dual variables: rows that left have none, new ones begin at zero.

        With nu the dual variables of a class sum to ``nu / 2`` times the total weight, so that they
        grow with it.
        """
        if self._last is None:
            return None
        support, variables, last_total = self._last
        order = np.argsort(support)
        places = np.minimum(np.searchsorted(support, indices, sorter=order), support.size - 1)
        nearest = order[places]
        grown = variables * (1.0 if total is None else total / last_total)
        return np.where(support[nearest] == indices, grown[nearest], 0.0)


def _is_flat(model: Any, X: Any) -> bool:
    """Return whether a nu-classifier's weight vector and margin are next to nothing."""
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
    if kernel.has_formula:
        return float(kernel.diagonal(as_rows(X).squared_norms()).max())
    return float(make_operator(X, kernel).diagonal().max())


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
