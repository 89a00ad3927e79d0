"""Methods for positive and unlabelled rows: ours, and what a user would pick instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pulearn import (
    BaggingPuClassifier,
    ElkanotoPuClassifier,
    NNPUClassifier,
    WeightedElkanotoPuClassifier,
)
from scipy import sparse
from sklearn import svm
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

from benchmarks.untuned.positive_unlabeled_tasks import Task
from scarce import (
    SVC,
    SVMC,
    MappingConvergence,
    PositiveUnlabeledClassifier,
    PositiveUnlabeledSVC,
    ScarceDataWarning,
    UnbiasedPUSVC,
    pu_threshold,
)
from scarce.model_selection import lee_liu_scorer

COMPONENTS = 30  # of many features, for gradient boosting, which takes minutes else
OURS = "PositiveUnlabeledSVC"
DEFAULT = "PositiveUnlabeledClassifier"


class Answer(NamedTuple):
    """Predictions and scores of new rows; the proportion of the class among unlabelled rows."""

    predicted: Any
    scores: Any
    share: float
    interval: tuple[float, float] | None = None
    probabilities: Any = None


def with_threshold(make: Callable[[], Any], method: str) -> Callable[[Task, int], Answer]:
    """Return a classifier with out-of-fold scores and `pu_threshold`."""

    def answer(task: Task, seed: int) -> Answer:
        folds = StratifiedKFold(min(5, int(task.y.sum())), shuffle=True, random_state=seed)
        X, new = task.X, task.fresh
        if method == "predict_proba" and X.shape[1] > COMPONENTS:
            projection = TruncatedSVD(COMPONENTS, random_state=seed).fit(X)
            X, new = projection.transform(X), projection.transform(new)
        scores = _column(cross_val_predict(make(), X, task.y, cv=folds, method=method))
        found = pu_threshold(scores[task.y == 1], scores[task.y == 0])
        fresh = _column(getattr(make().fit(X, task.y), method)(new))
        return Answer(fresh > found.threshold, fresh, found.share)

    return answer


def _column(values: Any) -> Any:
    return values[:, 1] if values.ndim == 2 else values


def ours(
    kind: Any = PositiveUnlabeledSVC, *, given: bool = False, **parameters: Any
) -> Callable[[Task, int], Answer]:
    """Return one of our classifiers, perhaps given the true proportion of the class."""

    def answer(task: Task, seed: int) -> Answer:
        prior = task.share if given else None
        model = kind(random_state=seed, class_prior=prior, **parameters).fit(task.X, task.y)
        scores = model.decision_function(task.fresh)
        with warnings.catch_warnings():  # of a wide interval, which the cells have
            warnings.simplefilter("ignore", ScarceDataWarning)
            probabilities = model.predict_proba(task.fresh)[:, 1]
        interval = None if given else model.class_prior_interval_
        return Answer(scores > 0, scores, model.class_prior_, interval, probabilities)

    return answer


def bagged_trees(task: Task, seed: int) -> Answer:
    """Vote of a hundred trees of all positives against as many unlabelled rows (Mordelet, Vert)."""
    random = np.random.default_rng(seed)
    own, others = np.flatnonzero(task.y == 1), np.flatnonzero(task.y == 0)
    scores, seen = np.zeros(task.fresh.shape[0]), np.zeros(others.size)
    for _ in range(100):
        drawn = random.choice(others, min(own.size, others.size), replace=False)
        tree = DecisionTreeClassifier(random_state=int(random.integers(2**31)))
        tree.fit(task.X[np.r_[own, drawn]], np.repeat([1, 0], [own.size, drawn.size]))
        scores += tree.predict_proba(task.fresh)[:, 1] / 100
        seen += tree.predict_proba(task.X[others])[:, 1] / 100
    return Answer(scores > 0.5, scores, float((seen > 0.5).mean()))


def two_step(first: str) -> Callable[[Task, int], Answer]:
    """Return a named two-step method: reliable negatives by spies or Rocchio, then an SVC."""

    def answer(task: Task, seed: int) -> Answer:
        random = np.random.default_rng(seed)
        own, others = np.flatnonzero(task.y == 1), np.flatnonzero(task.y == 0)
        if first == "spy":  # Liu et al. 2002: a part of the positives among the unlabelled rows
            spies = random.permutation(own)[: max(1, round(0.15 * own.size))]
            rest = np.setdiff1d(own, spies)
            rows = np.concatenate([rest, others, spies])
            labels = np.repeat([1, 0], [rest.size, others.size + spies.size])
            model = svm.SVC(class_weight="balanced").fit(task.X[rows], labels)
            cut = np.quantile(model.decision_function(task.X[spies]), 0.05)
            low = model.decision_function(task.X[others]) < cut
        else:  # Li and Liu 2003: nearer to the prototype of the unlabelled rows
            low = NearestCentroid().fit(task.X, task.y).predict(task.X[others]) == 0
        negatives = others[low] if low.sum() >= 5 else others
        rows = np.concatenate([own, negatives])
        labels = np.repeat([1, 0], [own.size, negatives.size])
        model = svm.SVC(class_weight="balanced").fit(task.X[rows], labels)
        scores = model.decision_function(task.fresh)
        accepted = float((model.decision_function(task.X[others]) > 0).mean())
        return Answer(scores > 0, scores, accepted)

    return answer


def bagging(task: Task, seed: int) -> Answer:
    model = BaggingPuClassifier(
        svm.SVC(), n_estimators=50, max_samples=int(task.y.sum()), random_state=seed
    ).fit(task.X, task.y)
    accepted = float((model.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(
        model.predict(task.fresh) == 1, np.ravel(model.decision_function(task.fresh)), accepted
    )


def elkan_noto(weighted: bool) -> Callable[[Task, int], Answer]:
    def answer(task: Task, seed: int) -> Answer:
        forest = RandomForestClassifier(100, random_state=seed)
        X, new = task.X, task.fresh
        if sparse.issparse(X):
            X, new = X.toarray(), new.toarray()
        given: dict[str, Any] = {"hold_out_ratio": 0.2, "random_state": seed}
        if weighted:
            n = int(task.y.sum())
            model = WeightedElkanotoPuClassifier(forest, n, task.y.size - n, **given)
        else:
            model = ElkanotoPuClassifier(forest, **given)
        model.fit(X, task.y)
        accepted = float((model.predict(X[task.y == 0]) == 1).mean())
        return Answer(model.predict(new) == 1, _column(model.predict_proba(new)), accepted)

    return answer


def nnpu(task: Task, seed: int) -> Answer:
    X, new = task.X, task.fresh
    if sparse.issparse(X):
        X, new = X.toarray(), new.toarray()
    model = NNPUClassifier(prior=task.share, random_state=seed).fit(X, np.where(task.y, 1, -1))
    scores = np.ravel(new @ model.coef_ + model.intercept_)
    accepted = float((model.predict(X[task.y == 0]) == 1).mean())
    return Answer(model.predict(new) == 1, scores, accepted)


def one_class(task: Task, seed: int) -> Answer:
    model = svm.OneClassSVM(nu=0.1).fit(task.X[task.y == 1])
    scores = model.decision_function(task.fresh)
    accepted = float((model.decision_function(task.X[task.y == 0]) > 0).mean())
    return Answer(scores > 0, scores, accepted)


def loop(make: Callable[[], Any]) -> Callable[[Task, int], Answer]:
    """Return a loop of mapping convergence."""

    def answer(task: Task, seed: int) -> Answer:
        model = make().fit(task.X, task.y)
        scores = model.decision_function(task.fresh)
        return Answer(scores > 0, scores, model.class_prior_)

    return answer


def unbiased(task: Task, seed: int) -> Answer:
    model = UnbiasedPUSVC(class_prior=task.share).fit(task.X, task.y)
    scores = model.decision_function(task.fresh)
    accepted = float((model.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(scores > 0, scores, accepted)


def biased_svm(task: Task, seed: int) -> Answer:
    """Choose the two costs of Liu et al. (2003) by the score of Lee and Liu, cross-validated."""
    few = int(task.y.sum()) / int((task.y == 0).sum())
    costs = [{1: 1.0, 0: few * factor} for factor in (0.3, 1.0, 3.0)]
    search = GridSearchCV(
        SVC(),
        {"class_weight": costs, "C": [0.3, 1.0, 10.0]},
        scoring=lee_liu_scorer,
        cv=StratifiedKFold(3, shuffle=True, random_state=seed),
    ).fit(task.X, task.y)
    scores = search.decision_function(task.fresh)
    accepted = float((search.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(scores > 0, scores, accepted)


def all_labels(task: Task, seed: int) -> Answer:
    model = svm.SVC().fit(task.X, task.truth)
    scores = model.decision_function(task.fresh)
    return Answer(scores > 0, scores, float(model.predict(task.X[task.y == 0]).mean()))


def boosting() -> Any:
    return GradientBoostingClassifier(n_estimators=40, max_features=10, random_state=0)


METHODS: dict[str, Callable[[Task, int], Answer]] = {
    OURS: ours(),
    DEFAULT: ours(PositiveUnlabeledClassifier),
    f"{OURS}, feature_weights=None": ours(feature_weights=None),
    f"{OURS}, given the prior": ours(given=True),
    f"{DEFAULT}, given the prior": ours(PositiveUnlabeledClassifier, given=True),
    f"{OURS}, biased": ours(labelling="biased"),
    f"{DEFAULT}, biased": ours(PositiveUnlabeledClassifier, labelling="biased"),
    f"{DEFAULT} of trees": ours(PositiveUnlabeledClassifier, estimator=DecisionTreeClassifier()),
    "bagged trees, vote": bagged_trees,
    "spies, then an SVC": two_step("spy"),
    "Rocchio, then an SVC": two_step("rocchio"),
    f"{OURS}, n_bags=0": ours(n_bags=0),
    "pulearn bagging of SVC": bagging,
    "Elkan-Noto, forest": elkan_noto(False),
    "weighted Elkan-Noto, forest": elkan_noto(True),
    "nnPU, given the prior": nnpu,
    "balanced SVC, threshold": with_threshold(
        lambda: svm.SVC(class_weight="balanced"), "decision_function"
    ),
    "gradient boosting, threshold": with_threshold(boosting, "predict_proba"),
    "one-class SVM": one_class,
    "unbiased risk, double hinge, given the prior": unbiased,
    "biased SVM, chosen by Lee-Liu": biased_svm,
    "SVMC": loop(SVMC),
    "MappingConvergence": loop(MappingConvergence),
    "all labels": all_labels,
}
