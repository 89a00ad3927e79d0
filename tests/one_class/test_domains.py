"""Tasks: how they are marked in fit, and whose plane scores a row."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.one_class.samples import several_tasks
from tests.published import transfer, uoct

X, domain = several_tasks(0, (8, 12, 10))


def test_target_and_sources() -> None:
    labels = np.array([-7, 40, 3])[domain + 1]  # any negative value, any others
    model = transfer(radius="knn").fit(X, sample_domain=labels)
    np.testing.assert_array_equal(model.domains_, [-1, 3, 40])
    assert model.task_offset_.shape == (3,)
    assert model.task_dual_coef_.shape == (3, model.support_.size)
    np.testing.assert_array_equal(model.offset_, model.task_offset_[:1])
    np.testing.assert_array_equal(model.intercept_, -model.offset_)
    np.testing.assert_array_equal(model.dual_coef_, model.task_dual_coef_[:1])


def test_no_domains_are_all_target() -> None:
    for given in (None, np.full(len(X), -1), np.full(len(X), -3.0)):
        model = transfer().fit(X, sample_domain=given)
        np.testing.assert_array_equal(model.domains_, [-1])
        assert model.history_ == transfer().fit(X).history_


@pytest.mark.parametrize("estimator", [transfer(radius=0.2), uoct()], ids=str)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_row_is_scored_by_its_own_plane(estimator: Any, kernel: str) -> None:
    model = estimator.set_params(kernel=kernel).fit(X, sample_domain=domain)
    mixed = model.decision_function(X, sample_domain=domain)
    scores = model.score_samples(X, sample_domain=domain)
    np.testing.assert_allclose(mixed, scores - model.task_offset_[domain + 1])
    for task in (-1, 0, 1):
        own = domain == task
        alone = model.decision_function(X[own], sample_domain=np.full(own.sum(), task))
        np.testing.assert_allclose(mixed[own], alone, atol=1e-12)
    np.testing.assert_array_equal(
        model.predict(X, sample_domain=domain), np.where(mixed >= 0, 1, -1)
    )
    assert np.abs(mixed - model.decision_function(X))[domain >= 0].min() > 0


def test_the_target_scores_by_default() -> None:
    model = transfer().fit(X, sample_domain=domain)
    for negative in (-1, -9):  # whichever it was in fit
        given = np.full(len(X), negative)
        for method in (model.predict, model.decision_function, model.score_samples):
            np.testing.assert_array_equal(method(X), method(X, sample_domain=given))


def test_lists_and_floats_are_domains() -> None:
    expected = transfer().fit(X, sample_domain=domain).history_
    for given in (domain.tolist(), domain.astype(float), domain.astype(np.int8)):
        assert transfer().fit(X, sample_domain=given).history_ == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros(30, int), "mark the rows of one target.*no negative value"),
        (np.r_[np.full(15, -1), np.full(15, -2)], r"one target.*negative values \[-2, -1\]"),
        (np.full(29, -1), r"one value per row, 30, got shape \(29,\)"),
        (np.full((30, 1), -1), r"one value per row, 30, got shape \(30, 1\)"),
        (np.full(30, -0.5), r"whole numbers.*got float64 such as \[-0.5, -0.5, -0.5\]"),
        (np.full(30, np.nan), "whole numbers"),
        (np.full(30, -np.inf), "whole numbers"),
        (np.full(30, "target"), "whole numbers.*got <U6"),
        (np.ones(30, bool), "whole numbers.*got bool"),
    ],
)
def test_what_is_no_domain(given: NDArray[Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"sample_domain must .*{words}"):
        transfer().fit(X, sample_domain=given)


@pytest.mark.parametrize("dtype", [int, float])
def test_domains_given_as_y_are_refused(dtype: type) -> None:
    with pytest.raises(ValueError, match=r"y holds \[-1.*looks like domains.*sample_domain="):
        transfer().fit(X, domain.astype(dtype))


@pytest.mark.parametrize("given", [[-1] * 15 + [1] * 15, [-1.0, 0.5] * 15, ["a"] * 30])
def test_other_values_of_y_are_ignored(given: list[Any]) -> None:
    model, plain = transfer().fit(X, given), transfer().fit(X)
    assert model.history_ == plain.history_


def test_domains_not_seen_in_fit() -> None:
    model = transfer().fit(X, sample_domain=domain)
    given = np.r_[np.full(29, -1), 5]
    for method in (model.predict, model.decision_function, model.score_samples):
        with pytest.raises(ValueError, match=r"holds \[5\], which no row had in fit.*\[0, 1\]"):
            method(X, sample_domain=given)
        with pytest.raises(ValueError, match="one value per row, 30"):
            method(X, sample_domain=given[1:])
