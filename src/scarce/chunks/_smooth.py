"""Newton's method on a smoothed problem, which narrows the band before anything is settled.

With the hinge rounded off over ``|s| < window`` every program of one plane is smooth and strictly
convex in the plane: a pass returns value, gradient and the second derivatives as sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce.chunks._chunks import Chunks, Part
from scarce.chunks._features import Features
from scarce.chunks._passes import Planes, group_sums
from scarce.chunks._problems import Problem

NARROWING = 4.0  # of the window at a time
HALVINGS = 12  # of the window, down to which rows are counted
WINDOW_ROWS = 20  # for each feature, that a window keeps
FEWEST_WINDOW = 2000  # rows that it keeps anyway
SETTLED = 1e-3  # Newton decrement, as a share of the value, below which the window may narrow
MOST_PASSES = 25
MOST_CUTS = 6  # of a step that does not lower the value


@dataclass(frozen=True)
class Smoothed:
    """Sums over the rows of a part at a model, for a window.

    Attributes
    ----------
    value : float
        Of the smoothed slacks.
    plane, multipliers : ndarray
        Minus their derivatives in the plane (in raw numbers) and in the multipliers.
    curvature, mixed, own : ndarray
        Second derivatives: plane, plane and multipliers, multipliers.
    inside : ndarray of int
        Rows in the window and in halves, quarters, ... of it.
    """

    value: float
    plane: Array
    multipliers: Array
    curvature: Array
    mixed: Array
    own: Array
    inside: Array

    def __add__(self, other: Smoothed) -> Smoothed:
        mine, theirs = vars(self).values(), vars(other).values()
        return Smoothed(*(a + b for a, b in zip(mine, theirs, strict=True)))


def smooth(
    part: Part, problem: Problem, features: Features, planes: Planes, window: float
) -> Smoothed:
    """Add up value and derivatives of the smoothed slacks of a part."""
    n_groups, width = problem.totals.size, features.width
    total = Smoothed(
        0.0,
        np.zeros(width),
        np.zeros(n_groups),
        np.zeros((width, width)),
        np.zeros((width, n_groups)),
        np.zeros(n_groups),
        np.zeros(HALVINGS, np.int64),
    )
    steps = window * 0.5 ** np.arange(HALVINGS)
    for block in part.blocks(features.width):
        terms, raw = problem.terms(block), features.raw(block.X)
        t = -planes.reduced(raw, terms)
        inner = np.clip((t + window) / (2.0 * window), 0.0, 1.0)  # slope of the rounded hinge
        value = np.where(t >= window, t, window * inner**2)
        bend = np.where(np.abs(t) < window, terms.upper / (2.0 * window), 0.0)
        near = np.flatnonzero(bend)
        some, weight = raw[near], bend[near]
        slope = terms.upper * inner
        scaled = some * np.sqrt(weight)[:, None]
        members = terms.groups[near] == np.arange(n_groups)[:, None]
        crossed = np.where(members, weight * (terms.kernel_signs * terms.signs)[near], 0.0)
        sizes = np.abs(t[near])
        total += Smoothed(
            float(terms.upper @ value),
            (terms.kernel_signs * slope) @ raw,
            group_sums(terms, terms.signs * slope, n_groups),
            scaled.T @ scaled,
            (crossed @ some).T,
            group_sums(terms, bend, n_groups),
            (sizes[:, None] < steps).sum(axis=0),
        )
    return total


@dataclass(frozen=True)
class Narrowed:
    """Where Newton's method ended.

    Attributes
    ----------
    plane : ndarray of shape (rank,)
        In features.
    multipliers : ndarray of shape (n_groups,)
        Of the equalities.
    window : float
        The last window.
    value : float
        Of the smoothed problem.
    reads : int
        Passes over the rows.
    """

    plane: Array
    multipliers: Array
    window: float
    value: float
    reads: int


def narrow(
    chunks: Chunks,
    problem: Problem,
    features: Features,
    start: tuple[Array, Array],
    window: float,
    enough: int,
) -> Narrowed:
    """Minimise the smoothed problem, its window narrowing while it holds more rows than enough.

    Parameters
    ----------
    chunks : Chunks
        The rows.
    problem : Problem
        One plane for all groups.
    features : Features
        Of the rows.
    start : tuple of ndarray
        Plane in features, and multipliers.
    window : float
        The first window.
    enough : int
        Rows in a window that need not be fewer.

    Returns
    -------
    Narrowed
        Plane, multipliers and window.
    """
    plane, multipliers = start
    totals = problem.totals
    last, step, cuts, reads = np.inf, np.zeros(plane.size + totals.size), 0, 0
    least = max(enough, FEWEST_WINDOW, WINDOW_ROWS * features.rank)
    best = plane, multipliers, window, np.inf
    while reads < MOST_PASSES:
        planes = Planes(features.to_raw(plane[None, :]), multipliers)
        parts = chunks.map(smooth, problem, features, planes, window)
        reads += 1
        sums = parts[0]
        for part in parts[1:]:
            sums = sums + part
        value = 0.5 * float(plane @ plane) + float(multipliers @ totals) + sums.value
        if value > last + 1e-12 * abs(last) and cuts < MOST_CUTS:
            cuts += 1
            step = step * 0.5
            plane, multipliers = plane - step[: plane.size], multipliers - step[plane.size :]
            continue
        best = plane, multipliers, window, value
        gradient, curvature = _system(plane, totals, sums, features)
        step = -_solved(curvature, gradient)
        decrement = -float(step @ gradient)
        settled = decrement <= SETTLED * abs(value)
        fits = np.flatnonzero(sums.inside >= least)
        # The narrowest window that keeps enough rows, not much narrower than this one.
        factor = 2.0 ** -float(fits[-1]) if fits.size else 1.0
        narrower = max(window / NARROWING, window * factor)
        if settled and narrower == window:
            break
        last, cuts = value, 0
        if settled:
            window, last = narrower, np.inf
        plane, multipliers = plane + step[: plane.size], multipliers + step[plane.size :]
    return Narrowed(*best, reads)


def _system(plane: Array, totals: Array, sums: Smoothed, features: Features) -> tuple[Array, Array]:
    """Return gradient and matrix of second derivatives in plane and multipliers."""
    rank = plane.size
    gradient = np.concatenate([plane - features.from_raw(sums.plane), totals - sums.multipliers])
    curvature = np.zeros((gradient.size, gradient.size))
    inner = features.from_raw(features.from_raw(sums.curvature).T)
    curvature[:rank, :rank] = np.eye(rank) + inner
    mixed = features.from_raw(sums.mixed.T)
    curvature[rank:, :rank], curvature[:rank, rank:] = mixed, mixed.T
    curvature[rank:, rank:] = np.diag(sums.own)
    return gradient, curvature


def _solved(curvature: Array, gradient: Array) -> Array:
    """Return the solution of a Newton system that may be singular in the multipliers."""
    small = 1e-12 * float(np.diagonal(curvature).max())
    curvature = curvature + small * np.eye(gradient.size)
    return np.asarray(linalg.solve(curvature, gradient, assume_a="sym"))
