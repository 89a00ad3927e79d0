"""A first model from a subsample, and how far from the last one it may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.chunks._array import ArrayChunks
from scarce.chunks._chunks import Part
from scarce.chunks._features import Features, LinearFeatures
from scarce.chunks._passes import Hyperplanes
from scarce.chunks._smooth import Narrowed, first_window, narrow
from scarce.kernels import make_kernel, make_operator
from scarce.reductions import Problem, Terms, program_of
from scarce.solvers import QuadraticProgram, Solution

Solver = Callable[[QuadraticProgram, "Array | None", float], Solution]

NEAR = 0.1  # share of a group's rows whose scores tell how far a boundary may move
MARGIN = 1.5  # times the largest difference seen
FIRST_WINDOW = 3.0  # times the reduced gradient of no model at all
SUBSAMPLE = 20_000
SAMPLE_CHUNK = 50_000  # rows of a sample that a thread looks at
SMALL_GROUP = 1000  # rows of one group of several, which are solved for anyway


@dataclass(frozen=True)
class Start:
    """A model to begin with."""

    vectors: Array  # (1 or n_groups, rank): the weight vectors in features
    multipliers: Array  # (n_groups,): of the equalities
    widths: Array  # (n_groups,): how far reduced gradients may be off
    objective: float  # about that of the whole problem


def mixed_vectors(problem: Problem, vectors: Array) -> Array:
    """Return the groups' weight vectors from sums of their features; one if all are the same."""
    coupling = problem.coupling
    if (coupling == coupling[0]).all() and (coupling[0] == coupling[0, 0]).all():
        return np.asarray(coupling[0, 0] * vectors.sum(axis=0, keepdims=True))
    return np.asarray(coupling @ vectors)


def group_vectors(rows: Array, terms: Terms, alpha: Array, n_groups: int) -> Array:
    """Return the sums of features that dual variables give, by group."""
    members = terms.groups == np.arange(n_groups)[:, None]
    return np.asarray(np.where(members, terms.kernel_signs * alpha, 0.0) @ rows)


def widened(terms: Terms, masses: Array) -> Terms:
    """Return the terms of a subsample with the bounds of all rows of its groups together."""
    own = np.bincount(terms.groups, terms.upper, minlength=masses.size)
    factors = np.divide(masses, own, out=np.zeros_like(own), where=own > 0)
    return terms.bounded(terms.upper * factors[terms.groups])


def band_program(
    problem: Problem, rows: Array, terms: Terms, settled: tuple[Array, Array] | None = None
) -> QuadraticProgram:
    """Return the program of some rows, given by their features.

    ``settled`` are vectors by group and counts of other rows, whose variables are held.
    """
    totals, linear = problem.totals, terms.linear
    if settled is not None:
        hyperplanes = Hyperplanes(mixed_vectors(problem, settled[0]), np.zeros(totals.size))
        totals, linear = totals - settled[1], hyperplanes.reduced(rows, terms)
    operator = make_operator(rows, make_kernel("linear"))
    return program_of(problem, operator, terms, totals, linear)


def solved_start(
    problem: Problem, rows: Array, terms: Terms, masses: Array, solver: Solver, tol: float
) -> Start:
    """Solve a subsample and half of it; the difference says how far the model may be off.

    ``rows``: features of the subsample, in random order. ``masses``: sum of the bounds of all rows
    of each group. ``solver``: solves a program to a tolerance from a start, if any. Returned: the
    model of the subsample.
    """
    models = []
    for stop in (rows.shape[0] // 2, rows.shape[0]):
        some = terms.rows(np.arange(stop))
        missing = np.setdiff1d(np.unique(terms.groups), np.unique(some.groups[some.upper > 0]))
        if missing.size:
            continue  # a small group that half of the rows know nothing of
        some = widened(some, masses)
        solution = solver(band_program(problem, rows[:stop], some), None, tol)
        vectors = group_vectors(rows[:stop], some, solution.alpha, masses.size)
        models.append((mixed_vectors(problem, vectors), solution))
    plain = LinearFeatures(rows.shape[1])
    reduced = [
        Hyperplanes(vectors, solution.multipliers).reduced(plain.raw(rows), terms)
        for vectors, solution in models
    ]
    vectors, solution = models[-1]
    widths = np.zeros(masses.size)
    for group in range(masses.size):
        own = np.flatnonzero((terms.groups == group) & (terms.upper > 0))
        if own.size == 0:
            continue
        sizes = np.abs(reduced[-1][own])
        if len(reduced) > 1:
            widths[group] = _width(reduced[0][own], reduced[-1][own])
        else:
            widths[group] = MARGIN * float(_nearest(sizes, sizes).max())
        whole = float(terms.upper[own].sum()) >= (1.0 - 1e-9) * masses[group]
        if masses.size > 1 and whole and own.size <= SMALL_GROUP:
            widths[group] = MARGIN * float(sizes.max())
    return Start(vectors, solution.multipliers, widths, abs(solution.objective))


def _nearest(values: Array, sizes: Array) -> Array:
    """Return the values of the rows that are nearest to the boundary."""
    order = np.argsort(sizes, kind="stable")[: max(2, int(NEAR * sizes.size))]
    return values[order]


def _width(first: Array, last: Array) -> float:
    """Return how far a boundary may be off, from reduced gradients by a half and by a whole."""
    return MARGIN * float(_nearest(np.abs(first - last), np.abs(last)).max())


def smoothed_start(problem: Problem, rows: Array, terms: Terms, masses: Array) -> Start:
    """Minimise the smoothed problem of a subsample from no model at all.

    For problems whose rows have a linear term.

    Returned: where a fit begins.
    """
    nothing = np.zeros((1, rows.shape[1])), np.zeros(masses.size)
    window = FIRST_WINDOW * float(np.abs(terms.linear).max())
    plain = LinearFeatures(rows.shape[1])
    found = _narrowed_by(rows, terms, problem, plain, masses, nothing, window)
    widths = np.full(masses.size, found.window)
    return Start(found.vectors, found.multipliers, widths, abs(found.value))


def refined_start(
    sample: Part,
    problem: Problem,
    features: Features,
    masses: Array,
    start: Start,
    *,
    widths: bool = True,
) -> tuple[Start, float]:
    """Minimise the smoothed problem of a larger sample, its rows in random order.

    ``widths``: half of the sample comes first, and the difference says how far the model may be
    off, beside the window. Returned: the model, and that window, with which to go on.
    """
    model, window = (start.vectors, start.multipliers), first_window(start.widths)
    n = sample.X.shape[0]
    models = []
    for stop in (n // 2, n) if widths else (n,):
        part = sample.rows(slice(0, stop))
        terms = problem.terms(part.weights, part.values)
        found = _narrowed_by(part.X, terms, problem, features, masses, model, window)
        model, window = (found.vectors, found.multipliers), found.window
        models.append(Hyperplanes(features.to_raw(found.vectors), found.multipliers))
    far = np.full(masses.size, window)
    if widths:
        seen = sample.rows(slice(0, SUBSAMPLE))
        terms, raw = problem.terms(seen.weights, seen.values), features.raw(seen.X)
        half, whole = (each.reduced(raw, terms) for each in models)
        for group in range(masses.size):
            own = np.flatnonzero((terms.groups == group) & (terms.upper > 0))
            if own.size:
                far[group] = max(window, _width(half[own], whole[own]))
    return Start(*model, far, abs(found.value)), window


def _narrowed_by(
    X: Array,
    terms: Terms,
    problem: Problem,
    features: Features,
    masses: Array,
    start: tuple[Array, Array],
    window: float,
) -> Narrowed:
    """Minimise the smoothed problem of a sample that stands for all rows."""
    some = widened(terms, masses)
    values = {name: getattr(some, name) for name in vars(some)}
    sample = ArrayChunks(X, rows=SAMPLE_CHUNK, **values)
    return narrow(sample, _Given(problem), features, start, window)


@dataclass(frozen=True)
class _Given:
    """A problem whose terms are the values of the rows."""

    problem: Problem

    @property
    def totals(self) -> Array:
        return self.problem.totals

    @property
    def coupling(self) -> Array:
        return self.problem.coupling

    def terms(self, weights: Array, values: Mapping[str, Array]) -> Terms:
        return Terms(**values)
