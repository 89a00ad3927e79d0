"""Many rows: memory below that of their kernel matrix, and paths linear in their number."""

import tracemalloc

import numpy as np
import pytest

from tests.proportions.internals import _space
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM

BOTH = [GroupProbabilitySVM, TransferGroupProbabilitySVM]


def sample(n, d=10, size=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    labels = X[:, 0] + X[:, 1] > 0
    groups = np.arange(n) // size
    share = np.bincount(groups, labels) / np.bincount(groups)
    return X, share[groups], groups, labels


def peak_of(model, n):
    X, y, groups, _ = sample(n)
    model.fit(X[:160], y[:160], groups[:160])  # compiles
    tracemalloc.start()
    try:
        model.fit(X, y, groups)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", BOTH)
def test_the_matrix_of_all_rows_never_exists(kind):
    assert peak_of(kind(), 4000) < 4000**2 * 8 / 8


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "settings", [{"kernel": "linear"}, {"approximation": "nystroem", "n_components": 40}]
)
def test_the_matrix_of_all_groups_need_not_exist(kind, settings):
    n = 40_000
    assert peak_of(kind(**settings, random_state=0), n) < (n / 8) ** 2 * 8 / 4


@pytest.mark.parametrize("kind", BOTH)
def test_many_rows_are_classified(kind):
    X, y, groups, labels = sample(40_000)
    for settings in ({"kernel": "linear"}, {"approximation": "nystroem", "n_components": 100}):
        model = kind(random_state=0, **settings).fit(X, y, groups)
        assert model.fit_status_ == 0
        assert model.dual_gap_ < 1e-4
        assert np.mean(model.predict(X) == labels) > 0.9


def test_too_many_groups_for_the_memory(monkeypatch):
    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr(_space, "group_mean_kernel", refuse)
    X, y, groups, _ = sample(400)
    with pytest.raises(MemoryError, match=r"50 common rows and groups takes 0.0 GB; use approx"):
        TransferGroupProbabilitySVM().fit(X, y, groups)
