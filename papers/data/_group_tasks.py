"""The data sets of the paper on group probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.data._dataset import Array
from papers.data._encode import encode_table
from papers.data._load import load_dataset


@dataclass(frozen=True)
class GroupTask:
    """One line of the paper's Table 3."""

    dataset: str
    positive: tuple[str, ...]
    """Labels that become 1; the others become 0."""
    missing: str = "drop"


GROUP_TASKS = {
    "Australia": GroupTask("australian_credit", ("1",)),
    "Breast-cancer": GroupTask("breast_cancer_wisconsin_original", ("malignant",)),
    "Vote": GroupTask("house_votes_84", ("republican",), missing="neutral"),
    "Ionosphere": GroupTask("ionosphere", ("g",)),
    "Heart-c": GroupTask("heart_cleveland", ("1", "2", "3", "4"), missing="impute"),
    "Sonar": GroupTask("sonar", ("M",)),
}


def load_group_task(task: str, **where: Any) -> tuple[Array, Array]:
    """Load one of the six UCI tasks of the paper, ready for `group_transfer_split`.

    The number of rows is that of the paper. Features are scaled to mean 0 and standard deviation 1
    over all rows (constant ones become 0); missing votes lie between yes and no; missing values of
    the heart data are imputed, its four nominal features are one-hot: 22 features (the paper says
    23, the file has 13).

    Parameters
    ----------
    task : {"Australia", "Breast-cancer", "Vote", "Ionosphere", "Heart-c", "Sonar"}
        The paper's name.
    **where : optional
        `data_home` and `download_if_missing` of `load_dataset`.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of int
        Labels 0 and 1.
    """
    if task not in GROUP_TASKS:
        raise ValueError(f"task must be one of {', '.join(GROUP_TASKS)}; got {task!r}")
    line = GROUP_TASKS[task]
    table = encode_table(load_dataset(line.dataset, **where), missing=line.missing)
    X = table.data - table.data.mean(axis=0)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0), np.isin(table.target, line.positive).astype(int)


def load_faces_pair(
    first: int = 1, second: int = 35, *, dataset: str = "pie", **where: Any
) -> tuple[Array, Array]:
    """Load the images of two people, ready for `rotated_faces_split`.

    Parameters
    ----------
    first, second : int, default=1 and 35
        Numbers of the people, labels 1 and 0. The paper's are the default.
    dataset : str, default="pie"
        A set of face images.
    **where : optional
        `data_home` and `download_if_missing` of `load_dataset`.

    Returns
    -------
    images : ndarray of shape (n, 32, 32)
        Grey levels from 0 to 1.
    y : ndarray of int
    """
    faces = load_dataset(dataset, **where)
    rows = np.isin(faces.target, (first, second))
    return faces.data[rows] / 255.0, (faces.target[rows] == first).astype(int)
