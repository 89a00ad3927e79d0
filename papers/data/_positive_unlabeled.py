"""Draws of positive and unlabelled rows with the sizes of Yu (2003)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.data._dataset import Array
from papers.data._load import load_dataset
from papers.data._texts import binary_words, plain_texts, tfidf

TEST_SETS = ("rest", "unlabeled", "unseen", "not_given")


@dataclass(frozen=True, eq=False)
class PositiveUnlabeledSplit:
    """Which rows are given as positive, which unlabelled, which are tested."""

    positive: Array
    unlabeled: Array
    test: Array
    is_positive: Array
    """The truth about each test row."""

    @property
    def train(self) -> Array:
        """Rows to learn from, positive ones first. A row may occur as both."""
        return np.concatenate([self.positive, self.unlabeled])

    @property
    def y_train(self) -> Array:
        """1 for positive, 0 for unlabelled, in the order of `train`."""
        return np.repeat([1, 0], [self.positive.size, self.unlabeled.size])


def positive_unlabeled_split(
    is_positive: Any,
    *,
    n_positive: int,
    n_unlabeled: int,
    n_unlabeled_positive: int,
    random_state: Any,
    overlap: bool = False,
    test: str = "rest",
) -> PositiveUnlabeledSplit:
    """Draw positive and unlabelled rows of given numbers.

    Parameters
    ----------
    is_positive : array-like of bool, shape (n,)
        The truth about each row.
    n_positive : int
        Size of P.
    n_unlabeled : int
        Size of U.
    n_unlabeled_positive : int
        How many rows of U are positive.
    random_state : int or Generator
        The seed.
    overlap : bool, default=False
        Whether P and the positives of U are independent draws, so that a row may be in both. The
        printed sizes of the letters can be had in no other way.
    test : {"rest", "unlabeled", "unseen", "not_given"}, default="rest"
        Tested are the rows in neither P nor U; U itself; the positives outside P with the
        negatives outside U (a positive of U may be among them); or all rows outside P.

    Returns
    -------
    PositiveUnlabeledSplit
        Numbers of rows, those of U in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import positive_unlabeled_split
    >>> split = positive_unlabeled_split(
    ...     np.arange(100) < 30,
    ...     n_positive=10,
    ...     n_unlabeled=40,
    ...     n_unlabeled_positive=12,
    ...     random_state=0,
    ... )
    >>> split.train.size, split.test.size, int(split.is_positive.sum())
    (50, 50, 8)
    """
    if test not in TEST_SETS:
        raise ValueError(f"test must be one of {TEST_SETS}, got {test!r}")
    is_positive = np.asarray(is_positive, dtype=bool)
    rng = np.random.default_rng(random_state)
    pool, others = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    n_others = n_unlabeled - n_unlabeled_positive
    needed = max(n_positive, n_unlabeled_positive) if overlap else n_positive + n_unlabeled_positive
    if needed > pool.size or not 0 <= n_others <= others.size:
        raise ValueError(
            f"n_positive={n_positive}, n_unlabeled={n_unlabeled} and n_unlabeled_positive="
            f"{n_unlabeled_positive} with overlap={overlap} cannot be drawn from {pool.size} "
            f"positive and {others.size} other rows"
        )
    order = rng.permutation(pool)
    positive = order[:n_positive]
    hidden = rng.permutation(pool) if overlap else order[n_positive:]
    unlabeled = np.concatenate(
        [hidden[:n_unlabeled_positive], rng.choice(others, n_others, replace=False)]
    )
    unlabeled = rng.permutation(unlabeled)
    tested = _tested(test, is_positive, positive, unlabeled)
    return PositiveUnlabeledSplit(positive, unlabeled, tested, is_positive[tested])


def _tested(test: str, is_positive: Array, positive: Array, unlabeled: Array) -> Array:
    if test == "unlabeled":
        return unlabeled
    rows = np.arange(is_positive.size)
    in_p, in_u = np.isin(rows, positive), np.isin(rows, unlabeled)
    if test == "unseen":
        return np.flatnonzero(np.where(is_positive, ~in_p, ~in_u))
    return np.flatnonzero(~in_p if test == "not_given" else ~in_p & ~in_u)


@dataclass(frozen=True)
class PositiveUnlabeledTask:
    """One line of the paper's Table 1."""

    dataset: str
    positive: str
    n_positive: int
    n_unlabeled: int
    n_unlabeled_positive: int
    overlap: bool = False
    test: str = "rest"

    second_test: str = ""
    """Another reading of what was tested; empty where there is none."""
    features: str = ""
    """Another reading of the features, which the paper does not give: "binary" for words of the raw
    page, present or not, at unit length; "raw" for columns that are not standardised."""

    def split(
        self, is_positive: Any, *, random_state: Any, second: bool = False
    ) -> PositiveUnlabeledSplit:
        """Draw rows of the printed numbers; see `positive_unlabeled_split`.

        Parameters
        ----------
        is_positive : array-like of bool, shape (n,)
            The truth about each row.
        random_state : int or Generator
            The seed.
        second : bool, default=False
            Test the rows of the other reading.

        Returns
        -------
        PositiveUnlabeledSplit
        """
        return positive_unlabeled_split(
            is_positive,
            n_positive=self.n_positive,
            n_unlabeled=self.n_unlabeled,
            n_unlabeled_positive=self.n_unlabeled_positive,
            random_state=random_state,
            overlap=self.overlap,
            test=self.second_test if second else self.test,
        )


def _letter(letter: str, p: int, u: int, p_u: int) -> PositiveUnlabeledTask:
    return PositiveUnlabeledTask("letter", letter, p, u, p_u, overlap=True, second_test="unseen")


def _pages(kind: str, p: int, u: int, p_u: int) -> dict[str, PositiveUnlabeledTask]:
    """Return both readings of the features, which the paper does not give."""
    visible = PositiveUnlabeledTask("webkb", kind, p, u, p_u, test="unlabeled")
    return {kind: visible, f"{kind}, binary": replace(visible, features="binary")}


_CANCER = PositiveUnlabeledTask(
    "wdbc", "malignant", 135, 259, 77, test="not_given", second_test="unlabeled"
)

PU_TASKS = {
    "letter A": _letter("A", 521, 10007, 384),
    "letter B": _letter("B", 571, 10004, 377),
    "letter C": _letter("C", 485, 9996, 371),
    "letter D": _letter("D", 525, 10050, 402),
    "letter E": _letter("E", 518, 10026, 392),
    "b-cancer": _CANCER,
    "b-cancer, raw": replace(_CANCER, features="raw"),
    **_pages("course", 482, 4179, 448),
    **_pages("faculty", 532, 4209, 592),
    **_pages("student", 816, 4154, 825),
}


def load_pu_task(task: str, **where: Any) -> tuple[Any, Array]:
    """Load the rows of a line of the paper's Table 1, ready for ``PU_TASKS[task].split``.

    Letters have their features divided by the largest possible value, 15; those of breast cancer
    have mean 0 and standard deviation 1, or, by the task named so, are only divided by the largest
    value of all, so that their own scales stay. Pages are tf-idf rows of their visible words, or,
    by the tasks named so, all words of the raw page (tags, addresses and numbers too), present or
    not, at unit length. The paper gives neither features nor preprocessing.

    What the sizes and results tell of the protocol: for the letters P and U must overlap, and U was
    not the test set. The printed figures imply 2.4 to 2.9 % positives among the tested rows; rows
    in neither P nor U have about 1.2 %, positives outside P with negatives outside U 2.5 %. For the
    pages P and the positives of U are all pages of their kind, and U was the test set. Breast
    cancer is the diagnostic set: its 212 malignant rows are the 135 of P and the 77 of U.

    Parameters
    ----------
    task : str
        A key of `PU_TASKS`.
    **where : optional
        `data_home` and `download_if_missing` of `load_dataset`.

    Returns
    -------
    X : ndarray or CSR matrix
    is_positive : ndarray of bool
    """
    if task not in PU_TASKS:
        raise ValueError(f"task must be one of {', '.join(PU_TASKS)}; got {task!r}")
    line = PU_TASKS[task]
    dataset = load_dataset(line.dataset, **where)
    is_positive = dataset.target == line.positive
    if line.features == "binary":
        return binary_words(dataset.data), is_positive
    if line.dataset == "webkb":
        return tfidf(plain_texts(dataset)), is_positive
    if line.features == "raw":
        return dataset.data / dataset.data.max(), is_positive
    if line.dataset == "wdbc":
        return (dataset.data - dataset.data.mean(axis=0)) / dataset.data.std(axis=0), is_positive
    return dataset.data / 15.0, is_positive
