"""Random rows, kernels and programs, from ordinary to degenerate."""

import numpy as np

from .program import program


def rows(rng, n, kind):
    """`n` rows of one kind: gaussian, duplicated, zeros (some rows vanish) or flat (rank one)."""
    points = rng.normal(size=(n, 3)) + 0.7
    if kind == "duplicated":
        points = points[rng.integers(max(1, n // 3), size=n)]
    elif kind == "zeros":
        points[rng.random(n) < 0.3] = 0.0
    elif kind == "flat":
        points = points[:, :1] * np.array([1.0, -2.0, 0.5])
    elif kind != "gaussian":
        raise ValueError(kind)
    return points


def gram(points, name):
    """Kernel matrix of the rows."""
    if name == "linear":
        return points @ points.T
    if name == "rbf":
        differences = points[:, None, :] - points[None, :, :]
        return np.exp(-0.4 * (differences**2).sum(axis=2))
    raise ValueError(name)


def labels(rng, n):
    """Random labels, both classes present."""
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = [-1.0, 1.0][:n]
    return y


def random_program(rng, n=20, n_groups=3, rank=None, unbounded=0.3, curved=0.5):
    """A feasible, bounded program of the family with nothing left simple.

    Mixed signs in equalities and kernel, infinite bounds on both sides, free and fixed variables,
    some diagonal curvature, a kernel of any rank. Feasible because the totals come from a point in
    the box; bounded because the linear term is a gradient plus a push against the finite bounds.
    """
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=n - n_groups)])
    signs, kernel_signs = labels(rng, n), labels(rng, n)
    lower = rng.uniform(-1.0, 0.5, size=n)
    upper = lower + rng.uniform(0.2, 2.0, size=n) * (rng.random(n) > 0.1)
    inside = lower + rng.random(n) * (upper - lower)
    lower = np.where(rng.random(n) < unbounded, -np.inf, lower)
    upper = np.where(rng.random(n) < unbounded, np.inf, upper)

    factor = rng.normal(size=(n, rank or n))
    mixing = rng.normal(size=(n_groups, n_groups))
    coupling = mixing @ mixing.T / n_groups + np.eye(n_groups)
    diagonal = rng.uniform(0.1, 1.0, size=n) * (rng.random(n) < curved)
    totals = np.bincount(groups, signs * inside, minlength=n_groups)
    shape = {"groups": groups, "signs": signs, "kernel_signs": kernel_signs, "lower": lower}
    shape |= {"upper": upper, "coupling": coupling, "diagonal": diagonal}
    kernel = factor @ factor.T / (rank or n)
    flat = program(kernel, totals, **shape)

    push = rng.exponential(size=n) * np.where(rng.random(n) < 0.5, -1.0, 1.0)
    push = np.where(np.isinf(lower), np.minimum(push, 0.0), push)
    push = np.where(np.isinf(upper), np.maximum(push, 0.0), push)
    cost = rng.normal(size=n_groups)[groups] * signs
    linear = push + cost + flat.matrix() @ rng.normal(size=n)
    return program(kernel, totals, linear=linear, **shape)
