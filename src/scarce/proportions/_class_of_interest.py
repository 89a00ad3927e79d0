"""Which class a picture of shares is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array


def class_position(estimator: Any, class_of_interest: Any) -> int:
    """Return the position of a class among those of the fit."""
    classes = list(estimator.classes_)
    if class_of_interest is None:
        if len(classes) > 2:
            raise ValueError(f"class_of_interest must be one of the {len(classes)} {classes}")
        return 1
    if class_of_interest not in classes:
        raise ValueError(f"class_of_interest must be one of {classes}, got {class_of_interest!r}")
    return classes.index(class_of_interest)


def shares_of_class(shares: Array, position: int, n_classes: int) -> Array:
    """Return the shares of one class; one column is that of the second of two."""
    if shares.shape[1] == 1 and n_classes == 2:
        return np.asarray(shares[:, 0] if position == 1 else 1.0 - shares[:, 0])
    if shares.shape[1] != n_classes:
        raise ValueError(f"y has shares of {shares.shape[1]} classes, the fit had {n_classes}")
    return np.asarray(shares[:, position])
