"""How well a labelled model does on rows that it has not seen."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

FOLDS = 5


def held_out(task: Any) -> dict[str, float]:
    """Return errors of held-out rows, and those of an answer that looks at no column.

    Returned: "ours" and "plain": proportions of right classes beside that of the largest class, or
    mean absolute errors beside that of the median.
    """
    classes = task.kind != "regress"
    splitter = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    if len(task.y) < 2 * FOLDS:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds, and the fit's own
        found = cross_val_predict(
            clone(task.pipeline), task.X, task.y, cv=splitter, params=task.fit_parameters
        )
    if classes:
        largest = max(task.facts["classes"].values()) / len(task.y)
        return {"ours": float(np.mean(found == task.y)), "plain": largest}
    middle = np.abs(task.y - np.median(task.y)).mean()
    return {"ours": float(np.abs(found - task.y).mean()), "plain": float(middle)}
