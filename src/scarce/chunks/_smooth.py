"""Newton's method on a smoothed problem, which narrows the band before anything is settled.

With the hinge rounded off over ``|s| < window`` every program is smooth and strictly convex in its
weights, one for all groups or one a group: a pass returns value, gradient and second derivatives as
sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import add

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce.chunks._chunks import Chunks, Part
from scarce.chunks._features import Features
from scarce.chunks._passes import Hyperplanes, group_sums
from scarce.reductions import Problem

NARROWING = 4.0  # of the window at a time
HALVINGS = 12  # of the window, down to which rows are counted
WINDOW_ROWS = 20  # for each feature, that a window keeps
FEWEST_WINDOW = 2000  # rows that it keeps anyway
SETTLED = 1e-3  # Newton decrement, as a share of the value, below which the window may narrow
MOST_PASSES = 25
MOST_CUTS = 6  # of a step that does not lower the value
CUT_LENGTHS = 0.5 ** np.arange(1.0, MOST_CUTS + 1)


@dataclass(frozen=True)
class Smoothed:
    """Sums over the rows of a part at a model, for a window."""

    value: float  # of the smoothed slacks
    # vectors, multipliers: minus their derivatives in the vectors (in raw numbers) and in the
    # multipliers
    vectors: Array
    multipliers: Array
    # curvature, mixed, own: second derivatives: each vector, vectors and multipliers, multipliers
    curvature: Array
    mixed: Array
    own: Array
    inside: Array  # rows in the window and in halves, quarters, ... of it.
    # values at the models that a half, a quarter, ... of the last step would have led to.
    shorter: Array

    def __add__(self, other: Smoothed) -> Smoothed:
        mine, theirs = vars(self).values(), vars(other).values()
        return Smoothed(*(a + b for a, b in zip(mine, theirs, strict=True)))


def smooth(
    part: Part,
    problem: Problem,
    features: Features,
    hyperplanes: Hyperplanes,
    window: float,
    step: Hyperplanes | None = None,
) -> Smoothed:
    """Add up value and derivatives of the smoothed slacks of a part.

    ``step`` is what led to this model; values along it save reads when it was too long.
    """
    n_groups, width, n_vectors = problem.totals.size, features.width, hyperplanes.raw.shape[0]
    total = Smoothed(
        0.0,
        np.zeros((n_vectors, width)),
        np.zeros(n_groups),
        np.zeros((n_vectors, width, width)),
        np.zeros((n_groups, width)),
        np.zeros(n_groups),
        np.zeros(HALVINGS, np.int64),
        np.zeros(MOST_CUTS),
    )
    steps = window * 0.5 ** np.arange(HALVINGS)
    for block in part.blocks(features.width):
        terms, raw = problem.terms(block.weights, block.values), features.raw(block.X)
        t = -hyperplanes.reduced(raw, terms)
        value, inner = _rounded(t, window)
        bend = np.where(np.abs(t) < window, terms.upper / (2.0 * window), 0.0)
        near = np.flatnonzero(bend)
        some, weight = raw[near], bend[near]
        slope = terms.upper * inner
        scaled = some * np.sqrt(weight)[:, None]
        own = hyperplanes.of_groups(terms.groups)
        members = own == np.arange(n_vectors)[:, None]
        crossed = terms.groups[near] == np.arange(n_groups)[:, None]
        crossed = np.where(crossed, weight * (terms.kernel_signs * terms.signs)[near], 0.0)
        sizes = np.abs(t[near])
        shorter = np.zeros(MOST_CUTS)
        if step is not None:
            moved = -(step.reduced(raw, terms) - terms.linear)
            shorter = np.array(
                [
                    terms.upper @ _rounded(t - (1.0 - length) * moved, window)[0]
                    for length in CUT_LENGTHS
                ]
            )
        total += Smoothed(
            float(terms.upper @ value),
            np.where(members, terms.kernel_signs * slope, 0.0) @ raw,
            group_sums(terms, terms.signs * slope, n_groups),
            np.array([scaled[each].T @ scaled[each] for each in members[:, near]]),
            crossed @ some,
            group_sums(terms, bend, n_groups),
            (sizes[:, None] < steps).sum(axis=0),
            shorter,
        )
    return total


def _rounded(t: Array, window: float) -> tuple[Array, Array]:
    """Return the rounded hinge and its slope."""
    slope = np.clip((t + window) / (2.0 * window), 0.0, 1.0)
    return np.where(t >= window, t, window * slope**2), slope


@dataclass(frozen=True)
class Narrowed:
    """Where Newton's method ended."""

    vectors: Array  # (1 or n_groups, rank): in features
    multipliers: Array  # (n_groups,): of the equalities
    window: float  # the last window
    value: float  # of the smoothed problem
    reads: int  # passes over the rows


def first_window(widths: Array) -> float:
    """Return where to begin from the widths of the groups' bands: that of a small group is wide."""
    return float(widths[widths > 0].min(initial=widths.max()))


def narrow(
    chunks: Chunks,
    problem: Problem,
    features: Features,
    start: tuple[Array, Array],
    window: float,
    few: int = 0,
) -> Narrowed:
    """Minimise the smoothed problem, its window narrowing while it holds enough rows.

    ``start``: weight vectors in features, one for all groups or one a group, and multipliers.
    ``few``: so many rows need no narrower window.
    """
    vectors, multipliers = start
    totals, size = problem.totals, vectors.size
    inverse_coupling = _inverse_coupling(problem, vectors.shape[0])
    last, step, reads = np.inf, np.zeros(size + totals.size), 0
    least = max(FEWEST_WINDOW, WINDOW_ROWS * size)
    best = vectors, multipliers, window, np.inf

    def outside(vectors: Array, multipliers: Array) -> float:
        """Return what the value is beside the slacks."""
        return 0.5 * float(np.vdot(vectors, inverse_coupling @ vectors)) + float(
            multipliers @ totals
        )

    while reads < MOST_PASSES:
        model = Hyperplanes(features.to_raw(vectors), multipliers)
        led = None
        if np.isfinite(last):
            own, its = step[:size].reshape(vectors.shape), step[size:]
            led = Hyperplanes(features.to_raw(own), its)
        sums: Smoothed = chunks.reduce(smooth, add, problem, features, model, window, led)
        reads += 1
        value = outside(vectors, multipliers) + sums.value
        if value > last + 1e-12 * abs(last):
            # Too long: begin again at the best of shorter steps, whose values are known.
            tried = [_moved(vectors, multipliers, (cut - 1.0) * step) for cut in CUT_LENGTHS]
            values = [
                outside(*place) + slack for place, slack in zip(tried, sums.shorter, strict=True)
            ]
            vectors, multipliers = tried[int(np.argmin(values))]
            last = np.inf
            continue
        best = vectors, multipliers, window, value
        gradient, curvature = _system(vectors, inverse_coupling, totals, sums, features)
        step = -_solved(curvature, gradient)
        decrement = -float(step @ gradient)
        settled = decrement <= SETTLED * abs(value)
        fits = np.flatnonzero(sums.inside >= least)
        # The narrowest window that keeps enough rows, not much narrower than this one.
        factor = 2.0 ** -float(fits[-1]) if fits.size else 1.0
        narrower = max(window / NARROWING, window * factor)
        if settled and (narrower == window or sums.inside[0] <= few):
            break
        last = value
        if settled:
            window, last = narrower, np.inf
        vectors, multipliers = _moved(vectors, multipliers, step)
    return Narrowed(*best, reads)


def _inverse_coupling(problem: Problem, n_vectors: int) -> Array:
    """Return the matrix whose form of the vectors is twice the cost of their norms."""
    coupling = problem.coupling
    return np.asarray(np.linalg.inv(coupling if n_vectors > 1 else coupling[:1, :1]))


def _moved(vectors: Array, multipliers: Array, step: Array) -> tuple[Array, Array]:
    return vectors + step[: vectors.size].reshape(vectors.shape), multipliers + step[vectors.size :]


def _system(
    vectors: Array, inverse_coupling: Array, totals: Array, sums: Smoothed, features: Features
) -> tuple[Array, Array]:
    """Return gradient and matrix of second derivatives in vectors and multipliers."""
    (n_vectors, rank), size = vectors.shape, vectors.size
    inwards = inverse_coupling @ vectors - features.from_raw(sums.vectors)
    gradient = np.concatenate([inwards.ravel(), totals - sums.multipliers])
    curvature = np.zeros((gradient.size, gradient.size))
    curvature[:size, :size] = np.kron(inverse_coupling, np.eye(rank))
    for place, each in enumerate(sums.curvature):
        own = slice(place * rank, (place + 1) * rank)
        curvature[own, own] += features.from_raw(features.from_raw(each).T)
    for group, row in enumerate(features.from_raw(sums.mixed)):
        first = rank * (group if n_vectors > 1 else 0)
        curvature[size + group, first : first + rank] = row
        curvature[first : first + rank, size + group] = row
    curvature[size:, size:] = np.diag(sums.own)
    return gradient, curvature


def _solved(curvature: Array, gradient: Array) -> Array:
    """Return the solution of a Newton system that may be singular in the multipliers."""
    small = 1e-12 * float(np.diagonal(curvature).max())
    curvature = curvature + small * np.eye(gradient.size)
    return np.asarray(linalg.solve(curvature, gradient, assume_a="sym"))
