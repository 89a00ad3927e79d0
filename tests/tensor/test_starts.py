"""Starts that lead to zero, and what is tried then."""

import contextlib

import numpy as np
import pytest

from scarce import STM
from tests.published import one_class_stm
from tests.tensor.internals import _starts
from tests.tensor.samples import one_class_tensors, spec_matrices


def cancelling_rows(n=6):
    """Matrices ``(a, -a)'`` whose rows cancel, the nearest of the hull of a at distance 3."""
    random = np.random.default_rng(0)
    a = np.c_[np.full(n, 3.0), random.uniform(-1.0, 1.0, size=n)]
    a[0, 1], a[1, 1] = -1.0, 1.0
    return np.stack([a, -a], axis=1)


def test_rows_that_cancel():
    """Ones see nothing. One row alone has -1/2 3^2; both together twice that."""
    matrices = cancelling_rows()
    model = one_class_stm(nu=0.01, tol=1e-9).fit(matrices)
    assert model.objective_ == pytest.approx(-9.0, rel=1e-9)
    row = one_class_stm(nu=0.01).fit(matrices[:, :1])
    assert row.objective_ == pytest.approx(-4.5, rel=1e-9)
    assert (np.diff(model.history_["objective"]) <= 0).all()


def test_the_order_of_the_rescue(monkeypatch):
    """Sum of the samples, then their unfoldings, then random: each only when needed."""
    tried = []
    for name in ("leading_of_sum", "leading_of_sample", "random_factors"):
        whole = getattr(_starts, name)

        def spy(*arguments, name=name, whole=whole):
            tried.append(name)
            return whole(*arguments)

        monkeypatch.setattr(_starts, name, spy)
    one_class_stm(nu=0.4).fit(spec_matrices())
    assert tried == []
    one_class_stm(nu=0.01).fit(cancelling_rows())
    assert tried == ["leading_of_sum"]
    tried.clear()
    with pytest.raises(ValueError, match="every start"):
        one_class_stm(nu=0.4).fit(np.concatenate([spec_matrices(), -spec_matrices()]))
    assert tried == ["leading_of_sum", "leading_of_sample", *["random_factors"] * 300]
    tried.clear()
    one_class_stm(nu=0.4, rank=2, n_init=3, tol=1e-3).fit(spec_matrices())
    assert tried == ["random_factors", "random_factors"]  # the first grew from rank one


def test_samples_around_the_origin():
    matrices = spec_matrices()
    centred = matrices - matrices.mean(axis=0)
    for rank in (1, 2, 3):
        with pytest.raises(ValueError, match="Do not centre the data"):
            one_class_stm(nu=0.9, rank=rank).fit(centred)
    with pytest.warns(UserWarning, match=r"The solution is trivial.*Do not centre"):
        model = one_class_stm(nu=0.9).fit(centred.reshape(8, -1))
    assert model.objective_ == pytest.approx(0.0, abs=1e-9)
    assert (model.predict(centred.reshape(8, -1)) == 1).all()


def test_classes_that_nothing_tells_apart():
    twice = np.repeat(one_class_tensors((4, 3), n=5), 2, axis=0)
    labels = np.arange(10) % 2
    with pytest.raises(ValueError, match="nothing separates the classes of X"):
        STM().fit(twice, labels)
    with pytest.warns(UserWarning, match="The solution is trivial"):
        STM().fit(twice.reshape(10, -1), labels)


def test_classes_that_ones_do_not_tell_apart():
    matrices = cancelling_rows(20)
    labels = np.arange(20) % 2
    matrices[labels == 1] *= -1.0
    model = STM().fit(matrices, labels)
    assert model.score(matrices, labels) == 1.0


def test_more_starts_are_never_worse():
    for seed in range(2):
        matrices = one_class_tensors((4, 3), n=8, seed=seed, mean=0.2)
        values = [one_class_stm(nu=0.4, n_init=k).fit(matrices).objective_ for k in (1, 2, 8)]
        assert values == sorted(values, reverse=True)


def test_random_starts_are_repeatable():
    matrices = spec_matrices(mean=0.15)
    one, other = (one_class_stm(nu=0.4, n_init=5).fit(matrices) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_the_rank_is_at_most_what_the_modes_allow():
    model = one_class_stm(nu=0.4, rank=6, tol=1e-3).fit(spec_matrices())
    assert [factor.shape for factor in model.factors_] == [(4, 3), (3, 3)]
    assert model.objective_ == pytest.approx(-2.225477, rel=1e-3)


def test_a_higher_rank_is_never_worse():
    objectives = [
        one_class_stm(nu=0.4, rank=rank, tol=1e-8, max_iter=2000).fit(spec_matrices()).objective_
        for rank in (1, 2, 3)
    ]
    assert np.all(np.diff(objectives) < 0)


def test_starts_that_lead_to_zero_are_not_the_end():
    # Rank one, a small nu and a mean near zero: a path of smaller and smaller nu, or a few hundred
    # random starts, find weights in many samples where a few starts do not.
    found = 0
    for seed in range(10):
        X = np.random.default_rng(seed).normal(0.25, 1.0, size=(8, 5, 4))
        with contextlib.suppress(ValueError):
            found += one_class_stm(nu=0.1).fit(X).objective_ < 0
    assert found >= 8
