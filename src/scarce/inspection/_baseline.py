"""What a row is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors

from scarce._arrays import Array

NEAR = 16  # points nearest to a row that are scored first
AT_ONCE = 1 << 22  # numbers in memory


def support_vectors(model: Any) -> Any:
    """Return the support vectors of a model, None if it keeps none."""
    model = getattr(model, "svc_", None) or model  # beside trees
    vectors = getattr(model, "support_vectors_", None)
    return None if vectors is None or 0 in np.shape(vectors) else vectors


def nearest_points(
    model: Any, rows: Array, points: Array, scores: Array, score_of: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return for each row the point that it is compared with, and these points' scores.

    ``model``: the model, which says what is decided by scores. ``score_of``: from positions of
    points to their scores, which are asked for from near points to far ones. Returned: positions:
    for a detector of the nearest accepted point, for a classifier of the nearest one that is
    decided otherwise. Where there is none, the point whose score comes next to that.
    """
    if is_regressor(model):
        middle = points.mean(axis=0, keepdims=True)
        position = pairwise_distances_argmin(middle, points)
        return np.repeat(position, rows.shape[0]), np.repeat(
            score_of(position), rows.shape[0], axis=0
        )
    one_side, (n, width) = is_outlier_detector(model), (points.shape[0], scores.shape[1])
    if one_side:
        classes = np.zeros(rows.shape[0], dtype=np.intp)
    else:
        classes = (scores[:, 0] > 0).astype(np.intp) if width == 1 else scores.argmax(axis=1)
    of_points, known = np.zeros((n, width)), np.zeros(n, dtype=bool)
    heights = np.full((n, 1 if one_side else max(2, width)), -np.inf)
    search, left, k = NearestNeighbors(algorithm="brute").fit(points), np.arange(classes.size), NEAR
    while left.size:
        everything = k >= n or left.size * k > AT_ONCE
        near = None if everything else search.kneighbors(rows[left], k, return_distance=False)
        new = np.flatnonzero(~known) if near is None else np.setdiff1d(near, np.flatnonzero(known))
        if new.size:
            of_points[new] = score_of(new)
            heights[new] = _heights(of_points[new], one_side)
            known[new] = True
        if near is None:
            break
        left = left[~(heights[near, classes[left, None]] > 0).any(axis=1)]
        k *= 4
    chosen = np.zeros(rows.shape[0], dtype=np.intp)
    for label in np.unique(classes):
        own = np.flatnonzero(classes == label)
        places = np.flatnonzero(heights[:, label] > 0)
        if not places.size:
            places = np.array([heights[:, label].argmax()])
        chosen[own] = places[pairwise_distances_argmin(rows[own], points[places])]
    return chosen, of_points[chosen]


def _heights(scores: Array, one_side: bool) -> Array:
    """Return how points should be scored by what was decided of a row, positive if wanted."""
    if one_side:
        return np.where(scores >= 0, 1.0, scores)
    if scores.shape[1] == 1:
        return np.column_stack([scores, -scores])
    others = [np.delete(scores, c, axis=1).max(axis=1) for c in range(scores.shape[1])]
    return np.column_stack(others) - scores
