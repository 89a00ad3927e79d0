"""Choices of parameters that need no labelled negatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from scarce.cli._outputs import UsageError
from scarce.cli.tasks._labelled import can_hold_out
from scarce.model_selection import (
    ClearlyBetter,
    GroupShareKFold,
    LeaveOneOutSearch,
    ShareCrossEntropyScorer,
    shuffled_columns_scorer,
)
from scarce.positive_unlabeled import PositiveUnlabeledSVC

FEW_ROWS = 50  # with fewer a width cannot be chosen without negatives
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times what the default finds
COSTS = (0.1, 1.0, 10.0, 100.0)
RANKS = (1, 2, 3, 4)
FOLDS = 5
SHARED = ("n_bags", "class_prior", "labelling", "pos_label", "neg_label", "random_state")


def tune(task: Any) -> str:
    """Set parameters of a task's estimator, and say how they were chosen.

    Defaults are left only for something clearly better.
    """
    choices = {
        "one-class": _width,
        "pu": _kernel,
        "groups": _by_shares,
        "tensor": _rank,
        "classify": _by_labels,
        "regress": _by_labels,
    }
    if task.kind not in choices:
        raise UsageError(
            "--tune: no choice without negatives is known to help related tasks; --set parameters"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of candidates that are not taken
        return choices[task.kind](task)


def _gamma(task: Any) -> float:
    """Return the width that the default finds from all rows."""
    model = clone(task.pipeline).fit(task.X, task.y, **task.fit_parameters)
    return float(model[-1]._gamma)


def _width(task: Any) -> str:
    if len(task.X) < FEW_ROWS:
        return f"nothing; a choice of the width takes {FEW_ROWS} rows, here are {len(task.X)}"
    own = _gamma(task)
    grid = {"machine__gamma": [own * factor for factor in WIDTHS]}
    search = GridSearchCV(
        task.pipeline,
        grid,
        scoring=shuffled_columns_scorer(),
        cv=KFold(FOLDS, shuffle=True, random_state=0),
        refit=ClearlyBetter({"machine__gamma": own}),
    ).fit(task.X, **task.fit_parameters)
    return _settled(task, search, "held-out rows against rows with shuffled columns")


def _kernel(task: Any) -> str:
    """Compare the mean of a kernel model and trees with kernel models alone."""
    given = {name: value for name, value in task.estimator.get_params().items() if name in SHARED}
    tried = []
    for values in (None, {}, {"kernel": "linear"}, {"C": 10.0}):
        estimator = clone(task.estimator)
        if values is not None:
            estimator = PositiveUnlabeledSVC(**given, **values)
        pipeline = clone(task.pipeline).set_params(machine=estimator)
        fitted = pipeline.fit(task.X, task.y, **task.fit_parameters)[-1]
        tried.append((fitted.out_of_bag_auc_, fitted.out_of_bag_auc_se_, estimator))
    (area, error, _), best = tried[0], max(tried, key=lambda each: each[0])
    if best[0] <= area + error:
        return f"the defaults are kept; out-of-bag area under the curve {area:.3f}"
    task.estimator = best[2]
    return f"{task.estimator}, out-of-bag area under the curve {best[0]:.3f} instead of {area:.3f}"


def _by_labels(task: Any) -> str:
    own = float(task.estimator.get_params()["C"])
    classes = task.kind == "classify"
    if not can_hold_out(task):
        return "nothing; there are too few rows, or one row of a class, to hold some out"
    search = GridSearchCV(
        task.pipeline,
        {"machine__C": [own * factor for factor in COSTS]},
        scoring="balanced_accuracy" if classes else "neg_mean_absolute_error",
        cv=(StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0),
        refit=ClearlyBetter({"machine__C": own}),
    ).fit(task.X, task.y, **task.fit_parameters)
    judge = "balanced accuracy" if classes else "the mean absolute error"
    return _settled(task, search, f"{judge} of held-out rows")


def _by_shares(task: Any) -> str:
    groups = np.unique(task.metadata["groups"][task.metadata["groups"] >= 0]).size
    if groups < 2 * FOLDS:
        return f"nothing; it takes {2 * FOLDS} groups, here are {groups}"
    cost = "C" if "C" in task.estimator.get_params() else "C_group"
    own = float(task.estimator.get_params()[cost])
    grid = {f"machine__{cost}": [own * factor for factor in (0.1, 1.0, 10.0)]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            task.pipeline,
            grid,
            scoring=ShareCrossEntropyScorer(),
            cv=GroupShareKFold(FOLDS),
            refit=ClearlyBetter({f"machine__{cost}": own}),
        ).fit(task.X, task.y, **task.metadata)
    return _settled(task, search, "proportions of held-out groups")


def _rank(task: Any) -> str:
    ranks = [rank for rank in RANKS if rank <= min(task.X.shape[1:])]
    search = LeaveOneOutSearch(task.estimator, {"rank": ranks}).fit(task.X)
    task.estimator.set_params(**search.best_params_)
    return f"rank {search.best_params_['rank']}, by the margins of held-out samples"


def _settled(task: Any, search: Any, judge: str) -> str:
    chosen = search.cv_results_["params"][search.best_index_]
    values = {name.removeprefix("machine__"): value for name, value in chosen.items()}
    task.estimator.set_params(**values)
    words = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
    scores = search.cv_results_["mean_test_score"]
    return f"{words} of {len(scores)} values, by {judge} ({scores[search.best_index_]:.3f})"
