"""Inside scikit-learn's tools: routing, searches, precomputed kernels; and the approximate path."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from scarce._sklearn import ROUTES_SCORES
from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import assert_same_decisions, check


def share_inside(model: object, X: object, y: object = None) -> float:
    return float(np.mean(model.predict(X) > 0))  # type: ignore[attr-defined]


@check("weights")
def metadata_routing_needs_no_set_up(subject: Subject) -> None:
    X, y = subject.make(60)
    weights = np.linspace(0.0, 3.0, 60)
    scoring = share_inside if "one-class" in subject.traits else None
    settings = {"tol": 1e-4, "false_alarms": 0.2, "n_bags": 5, "min_rows": 5}
    setting, value = next(each for each in settings.items() if each[0] in subject.traits)
    alone = subject.new(**{setting: value})
    alone.fit(MinMaxScaler().fit_transform(X), y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        chain = make_pipeline(MinMaxScaler(), subject.new())
        if scoring is None and not ROUTES_SCORES:  # before 1.8 a pipeline's own `score` must ask
            chain.set_score_request(sample_weight=True)
        name = subject.name.lower()
        folds = KFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(chain, {f"{name}__{setting}": [value]}, cv=folds, scoring=scoring)
        search.fit(X, y, sample_weight=weights)
        cross_validate(
            subject.new(),
            X,
            y,
            cv=folds,
            scoring=scoring,
            params={"sample_weight": weights},
            error_score="raise",
        )
    # The weights have arrived.
    assert_same_decisions(alone, search.best_estimator_[-1], MinMaxScaler().fit_transform(X), 1e-9)


@check("kernel", "gamma")
def nested_cross_validation_with_a_precomputed_kernel(subject: Subject) -> None:
    X, y = subject.make(60)
    grids = {"C": [0.1, 10.0], "nu": [0.1, 0.3], "C_target": [0.1, 1.0], "C_group": [10.0, 99.0]}
    name = next(name for name in grids if name in subject.traits)
    grid = {name: grids[name]}
    scoring = share_inside if "one-class" in subject.traits else None
    folds = KFold(3, shuffle=True, random_state=0)
    scores = []
    for kernel, rows in (("rbf", X), ("precomputed", rbf_kernel(X, gamma=0.2))):
        search = GridSearchCV(
            subject.new(kernel=kernel, gamma=0.2, **subject.cut_at_training_rows),
            grid,
            cv=folds,
            scoring=scoring,
        )
        scores.append(cross_val_score(search, rows, y, cv=folds, scoring=scoring))
    if "n_bags" not in subject.traits:  # drawn by the values of rows, which a matrix has not
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)
    assert np.ptp(scores[0]) > 0 or 0 < scores[0][0] < 1


@check("approximation", "n_components", "gamma", "weights")
def full_approximation_is_exact(subject: Subject) -> None:
    X, y = subject.make(60)
    weights = np.linspace(0.5, 2.0, 60)
    for kernel in ("rbf", "poly", "linear"):
        exact = subject.new(kernel=kernel, tol=1e-6).fit(X, y, sample_weight=weights)
        full = subject.new(kernel=kernel, tol=1e-6, approximation="nystroem", n_components=60)
        full.fit(X, y, sample_weight=weights)
        assert_same_decisions(exact, full, X, 1e-3)
        np.testing.assert_allclose(full.objective_, exact.objective_, rtol=1e-3)


@check("approximation", "n_components")
def approximations_are_of_the_size_asked_for(subject: Subject) -> None:
    X, y = subject.make(300)
    # Few rows support a dear one, few landmarks are near those, or within a narrow width of any.
    smooth: dict[str, Any] = {"C_target": 0.01} if "C_target" in subject.traits else {}
    smooth |= {"gamma": "scale"} if "gamma" in subject.traits else {}
    smooth |= {"nu": 0.2} if {"nu", "one-class"} <= subject.traits else {}
    exact = subject.new(**smooth).fit(X, y)
    parameters = {"approximation": "nystroem", "n_components": 40, "random_state": 0, **smooth}
    model = subject.new(**parameters).fit(X, y)
    assert model.support_vectors_.shape == (40, 3)
    assert model.dual_coef_.shape == (1, 40)
    assert model.support_.shape == (40,)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    assert np.corrcoef(scores_of(model, X), scores_of(exact, X))[0, 1] > 0.95
    again = subject.new(**parameters).fit(X, y)
    np.testing.assert_array_equal(scores_of(model, X), scores_of(again, X))
    other = subject.new(**{**parameters, "random_state": 1}).fit(X, y)
    assert set(model.support_) != set(other.support_)
    narrow = subject.new(**parameters).fit(X.astype(np.float32), y)
    single = X.astype(np.float32)
    assert_same_decisions(model, narrow, X, 1e-3, new=single)


@check("approximation", "n_components", "nu", "gamma", "one-class")
def approximations_reject_the_share_nu(subject: Subject) -> None:
    for n in (100, 301):
        X, _ = subject.make(n)
        for nu in (0.05, 0.2, 0.5):
            for size in (5, 30):
                model = subject.new(
                    nu=nu,
                    gamma="scale",  # five landmarks are near nothing with a narrow width
                    approximation="nystroem",
                    n_components=size,
                    random_state=0,
                    **subject.cut_at_training_rows,
                ).fit(X)
                decisions = scores_of(model, X)
                nothing = 1e-9 * np.abs(decisions).max()
                # Rows on the boundary may be counted as either.
                assert np.mean(model.predict(X) < 0) <= nu + 1.0 / n
                assert np.mean(decisions <= nothing) >= nu - 1.0 / n
