"""What a row is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.metrics import pairwise_distances_argmin

from scarce._arrays import Array


def support_vectors(model: Any) -> Any:
    """Return the support vectors of a model, None if it keeps none."""
    model = getattr(model, "svc_", None) or model  # beside trees
    vectors = getattr(model, "support_vectors_", None)
    return None if vectors is None or 0 in np.shape(vectors) else vectors


def nearest_points(
    model: Any, rows: Array, points: Array, scores: Array, of_points: Array
) -> Array:
    """Return for each row the point that it is compared with.

    ``model``: the model, which says what is decided by scores. Returned: positions: for a detector
    of the nearest accepted point, for a classifier of the nearest one that is decided otherwise.
    Where there is none, the point whose score comes next to that.
    """
    if is_regressor(model):
        middle = points.mean(axis=0, keepdims=True)
        return np.repeat(pairwise_distances_argmin(middle, points), rows.shape[0])
    # By what was decided of a row: how a point should be scored, positive for what is wanted.
    classes: Array = scores.argmax(axis=1)
    if is_outlier_detector(model):
        wanted = [np.where(of_points[:, 0] >= 0, 1.0, of_points[:, 0])]
    elif scores.shape[1] == 1:
        classes = (scores[:, 0] > 0).astype(np.intp)
        wanted = [of_points[:, 0], -of_points[:, 0]]
    else:
        others = [np.delete(of_points, c, axis=1).max(axis=1) for c in range(scores.shape[1])]
        wanted = [other - of_points[:, c] for c, other in enumerate(others)]
    chosen = np.zeros(rows.shape[0], dtype=np.intp)
    for label, heights in enumerate(wanted):
        own = np.flatnonzero(classes == label)
        if own.size:
            places = np.flatnonzero(heights > 0)
            if not places.size:
                places = np.array([heights.argmax()])
            chosen[own] = places[pairwise_distances_argmin(rows[own], points[places])]
    return chosen
