"""Values of nu that make no difference: with few samples, most of a grid."""

from __future__ import annotations

import threading
import warnings
import zlib
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.tensor._contractions import Tensors

Array = NDArray[Any]

REMEMBERED = 256  # samples, those of a search with many folds

_lock = threading.Lock()
_seen: OrderedDict[tuple[Any, ...], float | None] = OrderedDict()  # nu; None after a warning


def is_hard_margin(nu: float, weights: Array) -> bool:
    """Return whether every smaller nu gives the same model.

    Multipliers sum to one, so that boxes ``w_i / (nu sum w)`` of one or more cannot bind.
    """
    return bool(weights.min() >= nu * weights.sum() * (1 - 1e-12))


def _digest(values: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(values).data)


def warn_if_compared(nu: float, tensors: Tensors, weights: Array, rank: int) -> None:
    """Warn, once a sample, when it met another hard margin before: the two models are the same.

    Models of another rank, or of the same rows in another shape, are other models.
    """
    key = (rank, tensors.shape, _digest(tensors.rows), _digest(weights))
    with _lock:
        earlier = _seen.get(key, nu)
        compared = earlier is not None and earlier != nu
        _seen[key] = None if compared else earlier
        _seen.move_to_end(key)
        if len(_seen) > REMEMBERED:
            _seen.popitem(last=False)
    if compared:
        bound = weights.min() / weights.sum()
        warnings.warn(
            f"nu={earlier:g} and nu={nu:g} give the same model: with {len(weights)} samples every "
            f"nu up to {bound:.3g} is a hard margin. One such value is enough in a grid.",
            UserWarning,
            stacklevel=6,  # past the decorators of fit
        )
