"""What each entry of a tensor adds to a score, which is linear in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.inspection._baseline import nearest_points
from scarce.inspection._layers import Layers
from scarce.tensor import TensorMachine, unit_rows


def shares_of_entries(layers: Layers, X: Any, reference: Any) -> dict[str, Any]:
    """Return the fields of an explanation of a tensor machine.

    ``layers``: the estimator, and what is around it. ``X``, ``reference``: samples, and those to
    compare with; None for a sample of zeros, to which the weights add nothing.
    """
    estimator = layers.last
    samples = layers.transformed(X)
    rows, weights = _entries(estimator, samples), estimator._entry_weights()
    scores = layers.scores(samples)
    if reference is None:
        own = float(np.ravel(estimator.intercept_)[0])
        if layers.offset is not None:
            own = -layers.offset
        baseline, of_baseline = np.zeros_like(rows), np.full(rows.shape[0], own)
    else:
        given = layers.transformed(reference)
        points, of_points = _entries(estimator, given), layers.scores(given)
        chosen = nearest_points(estimator, rows, points, scores, of_points)
        baseline, of_baseline = points[chosen], of_points[chosen, 0]
    shares = weights * (rows - baseline)
    shape = np.shape(samples)[1:]
    names = np.array([_name(index) for index in np.ndindex(shape)], dtype=object)
    return {
        "values": shares.reshape(-1, *shape),
        "scores": scores[:, 0],
        "baseline": baseline.reshape(-1, *shape),
        "baseline_scores": of_baseline,
        "residual": scores[:, 0] - of_baseline - shares.sum(axis=1),
        "feature_names": names.reshape(shape),
        "exact": True,
        "outputs": np.zeros(rows.shape[0], dtype=np.intp),
    }


def _entries(estimator: TensorMachine, samples: Any) -> Array:
    """Return samples as rows, as the weights meet them."""
    rows: Array = TensorMachine._validated(estimator, samples, reset=False)
    return unit_rows(rows) if estimator._by_norm else rows.astype(np.float64)


def _name(index: tuple[int, ...]) -> str:
    return f"x{index[0]}" if len(index) == 1 else str(list(index))
