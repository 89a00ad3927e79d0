"""One-class training sets of two to eight rows, after Chen and Zhong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.data._dataset import Array
from papers.data._encode import encode_table
from papers.data._load import load_dataset


@dataclass(frozen=True, eq=False)
class FewSamplesSplit:
    """Which rows train and which are tested."""

    train: Array
    test: Array
    is_target: Array
    """The truth about each test row."""


def few_samples_split(is_target: Any, n_train: int, *, random_state: Any) -> FewSamplesSplit:
    """Draw a few rows of the target class to train on; all others are tested.

    Parameters
    ----------
    is_target : array-like of bool, shape (n,)
        Which rows are of the target class.
    n_train : int
        Rows to train on; 2, 4, 6 and 8 in the paper.
    random_state : int or Generator
        The seed.

    Returns
    -------
    FewSamplesSplit
        Numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import few_samples_split
    >>> split = few_samples_split(np.arange(20) < 12, 4, random_state=0)
    >>> split.train.size, split.test.size, int(split.is_target.sum())
    (4, 16, 8)
    """
    is_target = np.asarray(is_target, dtype=bool)
    pool = np.flatnonzero(is_target)
    if not 1 <= n_train <= pool.size:
        raise ValueError(
            f"n_train must be between 1 and the {pool.size} rows of the target class, got {n_train}"
        )
    train = np.random.default_rng(random_state).choice(pool, n_train, replace=False)
    test = np.setdiff1d(np.arange(is_target.size), train)
    return FewSamplesSplit(train, test, is_target[test])


@dataclass(frozen=True)
class FewSamplesTask:
    """One line of the paper's Table 2."""

    dataset: str
    target: tuple[str, ...]
    """Labels of the target class."""
    tensor_shape: tuple[int, int]
    missing: str = "drop"
    without: tuple[str, ...] = ()
    numbered: str = "sorted"
    """Order that categories are numbered in: "sorted", or "appearance" in the rows used."""


FEW_SAMPLES_TASKS = {
    "Iris": FewSamplesTask("iris", ("Iris-virginica",), (2, 2)),
    "Breast-Cancer": FewSamplesTask("breast_cancer_wisconsin_original", ("benign",), (3, 3)),
    "Heart": FewSamplesTask("heart_cleveland", ("0",), (4, 4)),
    "Imports": FewSamplesTask("imports_85", ("1", "2", "3"), (5, 5)),
    "Imports, by appearance": FewSamplesTask(
        "imports_85", ("1", "2", "3"), (5, 5), numbered="appearance"
    ),
    "Cancer-Wpbc": FewSamplesTask("wpbc", ("N",), (6, 6), missing="impute"),
    "Ionospheres": FewSamplesTask("ionosphere", ("g",), (6, 6)),
    "Sonar": FewSamplesTask("sonar", ("R",), (8, 8)),
    "Arrhythmia": FewSamplesTask("arrhythmia", ("1",), (17, 17), without=("angle_J",)),
}


def load_few_samples_task(task: str, **where: Any) -> tuple[Array, Array]:
    """Load one of the paper's eight data sets, ready for `few_samples_split`.

    Every feature is scaled to [-1, 1] by its range over all rows, tested ones included (constant
    features become 0): the paper scales before it splits. Rows and features are the paper's, with
    these exceptions: Sonar is the UCI file's 208 x 60 (paper: 203 x 61), and the complete rows of
    Breast-Cancer and Heart hold 444 and 160 targets (paper: 458 and 164, those of all rows).
    Arrhythmia is without `angle_J`, which is missing in most rows. Four missing values of
    Cancer-Wpbc become the median. Categories of Imports are numbered
    alphabetically or, in the task named so, as they first appear; its target, "Large", is
    symboling above 0.

    Parameters
    ----------
    task : str
        A key of `FEW_SAMPLES_TASKS`, which tells the tensor shape too.
    **where : optional
        `data_home` and `download_if_missing` of `load_dataset`.

    Returns
    -------
    X : ndarray of shape (n, d)
    is_target : ndarray of bool

    Examples
    --------
    >>> from papers.data import load_few_samples_task
    >>> X, is_target = load_few_samples_task("Iris")
    >>> X.shape, int(is_target.sum())
    ((150, 4), 50)
    """
    if task not in FEW_SAMPLES_TASKS:
        raise ValueError(f"task must be one of {', '.join(FEW_SAMPLES_TASKS)}; got {task!r}")
    line = FEW_SAMPLES_TASKS[task]
    table = encode_table(
        load_dataset(line.dataset, **where),
        missing=line.missing,
        one_hot=False,
        without=line.without,
        numbered=line.numbered,
    )
    low, high = table.data.min(axis=0), table.data.max(axis=0)
    varies = high > low
    unit = (table.data - low) / np.where(varies, high - low, 1.0)
    return np.where(varies, 2.0 * unit - 1.0, 0.0), np.isin(table.target, line.target)
