"""Programs without a minimum: an error only with a direction that proves it."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce.solvers._signed import SignedForm

FLAT = 1e-11  # share of the terms of ``Q d`` up to which it is zero
CLEAR = 1e-8  # share of the terms of ``p'd`` from which its sign is certain
MOST = 256  # variables for which a direction is sharpened


def refuse_unbounded(form: SignedForm, indices: Array, direction: Array) -> None:
    """Raise an error if the objective falls without end along a direction of some variables.

    It does when no bound ends it, every group's sum stays, ``Q d = 0`` and ``p'd < 0``, or the
    curvature is negative. All of it is checked with plain float64 kernel values.
    """
    if _has_no_end(form, indices, direction) and _falls(form, indices, direction):
        _raise(form, indices, direction)
    if indices.size > MOST:
        largest = np.argsort(-np.abs(direction), kind="stable")[:MOST]
        indices, direction = indices[largest], direction[largest]
    sharp = _sharpened(form, indices, direction)
    if _has_no_end(form, indices, sharp) and _falls(form, indices, sharp):
        _raise(form, indices, sharp)


def _raise(form: SignedForm, indices: Array, direction: Array) -> None:
    sizes = np.bincount(form.groups[indices], np.abs(direction), minlength=form.n_groups)
    raise ValueError(
        f"unbounded: in group {int(sizes.argmax())} the objective falls without end along "
        "variables whose bounds are infinite (upper = inf or lower = -inf) and whose curvature is "
        "not positive; give them finite bounds or a positive diagonal"
    )


def _has_no_end(form: SignedForm, indices: Array, d: Array) -> bool:
    """Say whether no bound and no equality stops a direction."""
    bound = np.where(d > 0, form.upper[indices], form.lower[indices])
    sums = np.bincount(form.groups[indices], d, minlength=form.n_groups)
    sizes = np.bincount(form.groups[indices], np.abs(d), minlength=form.n_groups)
    return bool(np.isinf(bound[d != 0]).all() and (np.abs(sums) <= FLAT * sizes).all())


def _falls(form: SignedForm, indices: Array, d: Array) -> bool:
    """Say whether the objective falls along all of a direction."""
    x = np.zeros(form.n)
    x[indices] = d
    bend = form.kernel_signs * form.exact_field(x, np.arange(form.n)) + form.diagonal * x
    # By Cauchy and Schwarz, as large as the terms of that sum may be.
    root = np.sqrt(np.abs(form.coupling).max() * np.abs(form.kernel.diagonal()))
    terms = root * float(root @ np.abs(x)) + form.diagonal * np.abs(x)
    slope, steepness = float(form.linear @ x), float(np.abs(form.linear) @ np.abs(x))
    if (np.abs(bend) <= FLAT * terms).all():
        return slope < -CLEAR * steepness
    return float(x @ bend) < -1e-6 * float(np.abs(x) @ np.abs(bend))


def _sharpened(form: SignedForm, indices: Array, direction: Array) -> Array:
    """Return the part of a direction that has no curvature at all and keeps every sum."""
    Q = form.block(indices, np.float64)
    scale = float(np.abs(np.diagonal(Q)).max()) or 1.0
    owner = form.groups[indices]
    members = (owner == np.unique(owner)[:, None]).astype(float)
    size = float(np.abs(direction).max()) or 1.0
    d = direction / size
    rows = np.vstack([Q / scale, members])
    for _ in range(2):  # once more takes the rounding errors of the first
        d = d - linalg.lstsq(rows, rows @ d, cond=1e-13, lapack_driver="gelsy")[0]
    # What is left of a variable that does not take part is rounding.
    return np.where(np.abs(d) > 1e-12, d, 0.0)
