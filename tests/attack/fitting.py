"""One fit: its warnings, its claims, and what a kernel machine was fitted to."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from tests.attack.kernels import dense, is_definite, scale_gamma, values
from tests.attack.recipes import Recipe, indefinite_rbf
from tests.attack.truth import Truth, judge, judge_gradient
from tests.attack.verdict import Claims, Facts

# What a fit may be refused for.
REFUSALS = (
    "leaves no margin",
    "infeasible",
    "not finite",
    "overflows",
    "sample_weight",
    "zero for every start tried",
    "same class",
    "no few rows can represent",
    "distances are lost in rounding",
)
EXACT_UP_TO = 512  # rows up to which all sums are in double precision
STEPS = 300_000  # enough for all but hopeless cases; what it ends must be warned of


class RefusedError(Exception):
    """The data were refused, in words that say why."""


def fit(model, *arguments, **keywords):
    """Fit; return whether it warned: of an early end, or that there is nothing to be found."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(*arguments, **keywords)
        except ValueError as error:
            if any(words in str(error) for words in REFUSALS):
                raise RefusedError(str(error)) from error
            raise
    leaked = [each for each in caught if issubclass(each.category, RuntimeWarning)]
    if leaked:
        raise AssertionError(f"a warning leaked: {leaked[0].message}")
    return any(
        issubclass(each.category, ConvergenceWarning) or "solution is trivial" in str(each.message)
        for each in caught
    )


def with_known(model, **parameters):
    """Set those parameters that the model has: later versions have more of them."""
    return model.set_params(**{k: v for k, v in parameters.items() if k in model.get_params()})


def claims_of(model, warned):
    return Claims(
        violation=float(model.kkt_violation_),
        gap=float(model.dual_gap_),
        objective=float(model.objective_),
        status=int(model.fit_status_),
        warned=warned,
        tol=float(model.tol),
        single=getattr(model, "shape_fit_", (0,))[0] > EXACT_UP_TO,
    )


@dataclass(frozen=True)
class Sample:
    """The rows that take part in a fit, and their kernel matrix."""

    given: object  # what `fit` gets as X
    kernel: object  # what the model gets as `kernel`
    parameters: dict
    rows: np.ndarray
    weights: np.ndarray
    definite: bool

    def values(self, X, Z):
        return values(self.kernel, X, Z, **self.parameters)

    def gram(self, rows=None):
        """Return kernel values among the rows (or moved ones), and the size of their terms."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return np.array(self.given, dtype=np.float64), np.abs(self.given)
        rows = self.rows if rows is None else rows
        return self.values(rows, rows)

    def sums(self, coefficients, rows=None):
        """Return ``sum_j c_j k(x_i, x_j)`` and the size of its terms, a block of rows at a time.

        Sums are taken in extended precision, so that they may have any number of terms.
        """
        rows = self.rows if rows is None else rows
        chosen = np.flatnonzero(coefficients)
        weights, sizes = coefficients[chosen].astype(np.longdouble), np.abs(coefficients[chosen])
        found = []
        for block in np.array_split(rows, 1 + rows.shape[0] * chosen.size // 10**6):
            K, terms = self.values(block, self.rows[chosen])
            found.append([(K @ weights).astype(np.float64), terms @ sizes])
        return np.concatenate(found, axis=1)

    def norms(self):
        """Return the size of the terms of ``k(x_i, x_i)``."""
        return np.array([self.values(x, x)[1].item() for x in self.rows[:, None, :]])


def sample_of(recipe: Recipe) -> Sample:
    rows = dense(recipe.rows)
    weights = np.ones(recipe.n) if recipe.weights is None else recipe.weights
    parameters = dict(recipe.parameters)
    if parameters["gamma"] == "scale":
        parameters["gamma"] = scale_gamma(recipe.kernel, rows, weights)
    given, kernel = recipe.rows, recipe.kernel
    if "matrix" in kernel:
        given, kernel = recipe.matrix(), "precomputed"
    elif kernel == "callable":
        kernel = indefinite_rbf
    return Sample(given, kernel, parameters, rows, weights, is_definite(kernel, recipe.coef0))


def spread(model, sample, row=0, attribute="dual_coef_"):
    """Return a line of coefficients with one entry for every row."""
    line = getattr(model, attribute)
    line = np.asarray(line.toarray() if sparse.issparse(line) else line)[row]
    coefficients = np.zeros(len(sample.rows))
    np.add.at(coefficients, model.support_, line)
    return coefficients


def judged(program, alpha, magnitudes, sample, *, unit=1.0, factor=1.0, offsets=None, room=0.0):
    """Return the facts about multipliers: violations times `unit`, objectives times `factor`."""
    truth = judge(program, alpha, magnitudes, offsets)
    return as_facts(truth, sample.definite, unit, factor, offset_notes(truth, offsets, room))


def judged_by_blocks(program, alpha, sample, *, factor=1.0, offsets=None, room=0.0):
    """Return the same for rows of any number, whose matrix is never there as a whole."""
    field, sizes = sample.sums(program.kernel_signs * alpha)
    terms = float(alpha**2 @ sample.norms())
    own = program.kernel_signs * field
    truth = judge_gradient(program, alpha, own, sizes, terms, offsets)
    return as_facts(truth, sample.definite, 1.0, factor, offset_notes(truth, offsets, room))


def no_matrix(n):
    """Return a kernel matrix for programs whose kernel sums are known otherwise."""
    return np.broadcast_to(0.0, (n, n))


def as_facts(truth, definite, unit=1.0, factor=1.0, notes=()):
    """Return the truth in the units of the claims."""
    return Facts(
        violation=unit * truth.violation,
        relative_gap=truth.relative_gap,
        objectives=(-factor * truth.objective, factor * (truth.largest_gap - truth.objective)),
        objective_noise=factor * truth.noise,
        infeasibility=truth.infeasibility,
        definite=definite,
        notes=list(notes),
    )


def halves_room(half_sum, half_difference):
    """Return by how much two multipliers may be off of which sum and difference are stored."""
    return 4.0 * np.finfo(float).eps * (abs(half_sum) + abs(half_difference))


def offset_notes(truth: Truth, multipliers, room):
    """Return a note when a stored offset lies outside the interval of the optimal ones."""
    if multipliers is None:
        return []
    low, high = truth.least_multipliers, truth.largest_multipliers
    room = room + truth.reach + 1e-6 * np.abs(multipliers)
    outside = np.flatnonzero((multipliers < low - room) | (multipliers > high + room))
    return [f"offset: {multipliers[g]:.9g}, not in [{low[g]:.9g}, {high[g]:.9g}]" for g in outside]
