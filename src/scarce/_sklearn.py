"""What differs between versions of scikit-learn, or is private there: in this module alone.

Names that every version from 1.6 on has and documents are imported from scikit-learn itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_consistent_length, compute_class_weight
from sklearn.utils.metadata_routing import MetadataRequest

from scarce._arrays import Array

try:  # 1.9 brought callbacks
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""

    HAS_CALLBACKS = False
else:
    HAS_CALLBACKS = True

# 1.8 routes metadata to `score_samples`; before, a request for it is an error.
ROUTES_SCORES = hasattr(MetadataRequest(owner=None), "score_samples")

PLAIN = {bool, int, float, str, type(None)}

__all__ = [
    "HAS_CALLBACKS",
    "ROUTES_SCORES",
    "CallbackSupportMixin",
    "check_sample_weight",
    "class_factors",
    "copied",
    "num_samples",
    "safe_indexing",
    "tear_callbacks_down",
]


def copied(model: Any) -> Any:
    """Return what `clone` returns for a model that `clone` has returned, or a value inside it.

    For many copies of one model: `clone` looks at the signatures of all classes each time, which
    takes as long as a small fit.
    """
    if type(model) in PLAIN:
        return model
    if type(model) in (list, tuple):
        return type(model)(map(copied, model))
    own = isinstance(model, BaseEstimator)
    if not own or type(model).__sklearn_clone__ is not BaseEstimator.__sklearn_clone__:
        return clone(model, safe=False)
    fresh = object.__new__(type(model))
    for name, value in vars(model).items():
        vars(fresh)[name] = value if name == "_skl_callbacks" else copied(value)
    return fresh


def tear_callbacks_down(estimator: Any) -> None:
    """End the callbacks that an estimator's fit has set up, if it has set up any."""
    if HAS_CALLBACKS and "_callback_fit_ctx" in vars(estimator):
        with_callbacks(lambda _: None)(estimator)


def num_samples(X: Any) -> int:
    """Return the number of rows of anything that scikit-learn takes for rows."""
    if X is None:
        raise TypeError(f"Expected sequence or array-like, got {type(X)}")
    check_consistent_length(X)  # which refuses whatever else has no rows
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def safe_indexing(X: Any, indices: Any) -> Any:
    """Return rows of an array, a matrix, a table or a list, by their numbers or by a mask."""
    places = np.asarray(indices)
    if places.dtype == bool:
        places = np.flatnonzero(places)
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if sparse.issparse(X):
        return X.tocsr()[places]
    return X[places] if hasattr(X, "shape") else [X[place] for place in places]


def check_sample_weight(sample_weight: Any, X: Any, *, all_zero: bool = False) -> Array:
    """Return the weights of rows in float64, ones for None; ``all_zero`` accepts zeros only."""
    n = num_samples(X)
    given = 1.0 if sample_weight is None else sample_weight
    try:
        if np.isscalar(given):
            weights: Array = np.full(n, given, dtype=float)
        else:
            weights = check_array(
                given, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
            )
    except (TypeError, ValueError) as error:
        if "float" not in str(error) or "finity" in str(error):
            raise
        raise ValueError(
            f"sample_weight must be a number for each of the {n} samples, or one number: {error}"
        ) from error
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Expected "
            f"either a scalar value or a 1D array of length {n}."
        )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not (all_zero or weights.any()):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def class_factors(class_weight: Any, classes: Array, totals: Array) -> Array:
    """Return the factors of classes whose rows have these weights in all; as of 1.7."""
    if isinstance(class_weight, str):  # "balanced", which looked at numbers of rows before
        balanced: Array = totals.sum() / (classes.size * totals)
        return balanced
    factors = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes))
    if not (factors > 0).all():
        place = np.flatnonzero(~(factors > 0))[0]
        raise ValueError(
            f"class_weight must be above 0 for every class, got {factors[place]:g} for "
            f"{classes.tolist()[place]!r}: to do without a class, leave its samples out"
        )
    return factors
