"""Where the loop begins: a feasible point, from nothing or from a solved subsample."""

from __future__ import annotations

import numpy as np

from scarce import _core
from scarce._arrays import Array
from scarce.solvers._signed import SignedForm, fill_groups
from scarce.solvers._steps import boxes_of

SHRINK = 8  # a subsample has this fraction of each group's variables
GUESSED_BY = 32  # one of so many columns is looked at for a guess
SMALLEST_GROUP = 32  # of a group no fewer variables are drawn


def first_point(form: SignedForm) -> Array:
    """Return the feasible point nearest to zero's clip, each group filled in index order."""
    if form.bounded:
        order = None if form.n_groups == 1 else form.groups.argsort(kind="stable")
        x = np.empty(form.n)
        _core.first_point(*boxes_of(form, order), form.totals, x)
        if order is not None:
            x[order] = x.copy()
        return x
    return fill_groups(form, np.maximum(np.minimum(form.upper, 0.0), form.lower))


def guessed_vertex(form: SignedForm) -> Array:
    """Return the vertex for the gradient of the middle of the feasible set, seen by some columns.

    Rows where others are dense have a high gradient there, and are no support vectors. So the rows
    of the matrix that the start takes are mostly those that the solution takes.
    """
    kept = form.kept
    assert kept is not None
    some = kept.order[GUESSED_BY // 2 :: GUESSED_BY]
    room, lacking = form.problem.sums(form.widths), form.missing(form.lower)
    share = np.divide(lacking, room, out=np.zeros(form.n_groups), where=room > 0.0)
    middle = form.lower + share[form.groups] * form.widths
    field = np.zeros(form.n)
    weights = form.weights(some, GUESSED_BY * middle[some])
    kept.accumulate(some, weights, form.groups, field, np.float64)
    return vertex(form, form.gradient(middle, field))


def vertex(form: SignedForm, gradient: Array) -> Array:
    """Return the vertex of the feasible set that is best for a gradient: lowest filled first.

    For boxes that are full for most support vectors it is next to the solution once the gradient
    is about right, which a solved subsample gives.
    """
    order = np.argsort(gradient)
    ranked = gradient[order]
    if (ranked[1:] == ranked[:-1]).any():  # the first of equal ones; a stable sort takes far longer
        order = np.argsort(gradient, kind="stable")
    return fill_groups(form, form.lower.copy(), order)


def subsample(form: SignedForm) -> Array | None:
    """Return the variables of a subsample, even over the groups; None if it is hardly smaller."""
    random = np.random.default_rng(0)
    parts = []
    for g in range(form.n_groups):
        members = np.flatnonzero(form.groups == g)
        size = min(members.size, max(SMALLEST_GROUP, members.size // SHRINK))
        parts.append(random.permutation(members)[:size])
    chosen = np.sort(np.concatenate(parts))
    return chosen if chosen.size <= form.n // 2 else None


def widening(form: SignedForm, chosen: Array) -> Array:
    """Return how much wider the boxes of a subsample must be to stand for those left out."""
    width = form.upper - form.lower
    every = np.bincount(form.groups, width, minlength=form.n_groups)
    drawn = np.bincount(form.groups[chosen], width[chosen], minlength=form.n_groups)
    ratio = np.divide(every, drawn, out=np.ones_like(drawn), where=drawn > 0)
    return np.asarray(ratio[form.groups[chosen]])
