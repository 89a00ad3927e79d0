"""Bags of any classifier of scikit-learn's kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from scarce._arrays import Array
from scarce._frame import FitTask
from scarce.positive_unlabeled.bags._design import Design, Part
from scarce.positive_unlabeled.bags._out_of_bag import HeldOutSums, OutOfBag
from scarce.positive_unlabeled.rows._row_source import RowSource

SCORES = ("decision_function", "predict_proba")


def score_method(estimator: Any) -> str:
    """Return which method of a classifier gives scores; refuse one that has none."""
    for name in SCORES:
        if hasattr(estimator, name):
            return name
    raise ValueError(
        "estimator must be a classifier with decision_function or predict_proba, got "
        f"{type(estimator).__name__}, which has neither"
    )


def scores_of(estimator: Any, X: Any) -> Array:
    """Return a fitted binary classifier's scores, higher for its second class."""
    method = score_method(estimator)
    values = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] > 2):
        raise ValueError(
            "estimator must give one score or the probabilities of two classes for every row, got "
            f"{method} of shape {values.shape} from {type(estimator).__name__}"
        )
    scores = np.ravel(values if values.ndim == 1 else values[:, -1])
    unusable = int((~np.isfinite(scores)).sum())
    if unusable:
        raise ValueError(
            f"estimator must give finite scores, got {method} with {unusable} of {scores.size} "
            f"NaN or infinite from {type(estimator).__name__}"
        )
    return scores


def weight_argument(estimator: Any) -> str | None:
    """Return the argument of `fit` that takes weights, of a pipeline its last step's, or None."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        inner = weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


@dataclass(frozen=True)
class EstimatorBags:
    """Bags of clones of one classifier."""

    source: RowSource  # all rows
    estimator: Any  # the classifier, not fitted
    seed: int  # from which every clone gets its own `random_state`, where it has one
    n_jobs: int | None = None  # as in joblib

    def fitted(self, design: Design, parts: Sequence[Part], task: FitTask) -> EstimatorOutOfBag:
        """Fit the bags. Those of the same seed and parts are the same, whatever `n_jobs`."""
        seeds = np.random.default_rng(self.seed).integers(2**31 - 1, size=len(parts))
        run = Parallel(n_jobs=self.n_jobs)
        found = run(
            delayed(_fit_and_score)(self.estimator, self.source, design, part, int(seed))
            for part, seed in zip(parts, seeds, strict=True)
        )
        sums = HeldOutSums(self.source.shape[0])
        for _, held, scores in found:
            sums.add(held, scores)
        means, estimators = sums.means(), [each for each, _, _ in found]
        never = np.flatnonzero(sums.times == 0)
        if never.size:  # in every bag: what the mean of all says is all there is
            means[never] = mean_scores(estimators, self.source, never)
        return EstimatorOutOfBag(
            design,
            means[design.positives.rows],
            means[design.negatives.rows],
            means=means,
            estimators=estimators,
        )


def mean_scores(estimators: Sequence[Any], source: RowSource, rows: Array) -> Array:
    """Return the mean score over the classifiers, block by block."""

    def score(block: Any) -> Array:
        return np.asarray(np.mean([scores_of(each, block) for each in estimators], axis=0))

    return source.scores(rows, score)


def _fit_and_score(
    estimator: Any, source: RowSource, design: Design, part: Part, seed: int
) -> tuple[Any, Array, Array]:
    """Return a clone fitted to a part, and rows that it was not trained on with their scores."""
    rows, labels, weights = part.trained()
    fitted = _seeded(clone(estimator), seed)
    argument = weight_argument(fitted)
    if argument is not None:
        fitted.fit(source.gather(rows), labels, **{argument: weights})
    else:  # rows given as often as they weigh
        times = np.maximum(1, np.round(weights / weights.min())).astype(np.intp)
        fitted.fit(source.gather(np.repeat(rows, times)), np.repeat(labels, times))
    outside = np.zeros(source.shape[0], bool)
    for pool in design.pools:
        outside[pool.rows] = True
    outside[rows] = False
    held = np.flatnonzero(outside)
    if held.size == 0:
        return fitted, held, np.zeros(0)
    return fitted, held, source.scores(held, lambda block: scores_of(fitted, block))


def _seeded(estimator: Any, seed: int) -> Any:
    """Return the estimator with numbers for every `random_state` that it and its parts have."""
    names = [
        name
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    random = np.random.default_rng(seed)
    return estimator.set_params(**{name: int(random.integers(2**31 - 1)) for name in names})


@dataclass(frozen=True)
class EstimatorOutOfBag(OutOfBag):
    """Fitted classifiers, and the scores of all rows by those that were not trained on them."""

    means: Array
    estimators: Sequence[Any]

    def unlabelled(self, some: Array) -> Array:
        """Return the scores of unlabelled rows, by number in their pool."""
        return np.asarray(self.means[self.design.unlabelled.rows[some]])
