"""Several one-class tasks by chunks: weights, offsets and left-out scores of a fit in memory."""

import numpy as np
import pandas as pd
import pytest

from scarce import UOCTSVM, TransferOneClassSVM
from scarce.chunks import ArrayChunks, landmark_features
from scarce.kernels import make_kernel
from tests.chunks.sources import NAMES, chunks_of

LOW_RANK = {"approximation": "nystroem", "n_components": 20, "random_state": 0, "gamma": "scale"}
SETTINGS = [
    {**LOW_RANK, "coupling": 0.5, "nu": 0.2},
    {"kernel": "linear", "gamma": "scale", "source_weight": {0: 2.0, 4: 0.5}, "source_nu": 0.3},
]


def tasks(n=1500, seed=0):
    """Rows of a target of 40 rows and of two sources, in random order; some of weight zero."""
    random = np.random.default_rng(seed)
    domain = random.permutation(np.r_[np.full(40, -7), np.zeros(n // 3, int), np.full(n, 4)])
    X = random.normal(size=(domain.size, 3)) + 2.5
    X[domain == 4] *= [0.8, 1.2, 1.0]
    X[domain == -7] += 0.3
    weights = random.uniform(0.5, 2.0, size=domain.size)
    weights[::9] = 0.0
    return X, domain, weights


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", NAMES)
def test_the_weight_vectors_are_those_of_a_fit_in_memory(name, settings, tmp_path):
    X, domain, weights = tasks()
    weighted = NAMES.index(name) % 2 == 0
    given = {"sample_domain": domain} | ({"sample_weight": weights} if weighted else {})
    settings = {**settings, "offset": "original", "tol": 1e-7}
    expected = TransferOneClassSVM(relation="keep", **settings).fit(X, **given)
    model = TransferOneClassSVM(relation="keep", **settings).fit(
        chunks_of(name, tmp_path, X, step=400, **given)
    )
    rows = X
    if name in ("parquet", "dask frame"):
        rows = pd.DataFrame(X, columns=model.feature_names_in_)
    assert model.domains_.tolist() == [-1, 0, 4]
    for task in (-1, 0, 4):
        which = np.full(X.shape[0], task)
        scores = expected.decision_function(X, sample_domain=which)
        own = model.decision_function(rows, sample_domain=which)
        np.testing.assert_allclose(own, scores, atol=3e-5 * np.ptp(scores))
        clear = np.abs(scores) > 3e-5 * np.ptp(scores)
        same = model.predict(rows, sample_domain=which) == expected.predict(X, sample_domain=which)
        assert same[clear].all()
        assert clear.mean() > 0.97
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert model.dual_gap_ <= 1e-7
    assert model.kkt_violation_ <= 1e-7
    assert model.n_reads_ >= 4
    assert model.converged_
    if settings.get("kernel") == "linear":
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


def test_newtons_method_narrows_the_band_of_several_weight_vectors(monkeypatch):
    X, domain, _ = tasks(n=9000)
    settings = {**LOW_RANK, "n_components": 5, "offset": "original", "tol": 1e-6}
    expected = TransferOneClassSVM(relation="keep", **settings).fit(X, sample_domain=domain)
    monkeypatch.setattr("scarce.chunks._memory.SUBSAMPLE", 600)
    wide = TransferOneClassSVM(relation="keep", **settings).fit(
        ArrayChunks(X, rows=4000, sample_domain=domain)
    )
    monkeypatch.setattr("scarce._by_chunks.MANY_BAND", 10)
    monkeypatch.setattr("scarce.chunks._smooth.FEWEST_WINDOW", 100)
    model = TransferOneClassSVM(relation="keep", **settings).fit(
        ArrayChunks(X, rows=4000, sample_domain=domain)
    )
    assert model.n_reads_ > wide.n_reads_
    assert model.history_["band_rows"][0] < wide.history_["band_rows"][0]
    assert model.dual_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), atol=1e-4 * np.ptp(X)
    )


def test_left_out_scores_of_a_linear_kernel_are_those_in_memory():
    X, domain, weights = tasks(n=600)
    settings = {"kernel": "linear", "gamma": "scale", "nu": 0.2, "tol": 1e-7}
    given = {"sample_domain": domain, "sample_weight": weights}
    expected = TransferOneClassSVM(relation="keep", **settings).fit(X, **given)
    model = TransferOneClassSVM(relation="keep", **settings).fit(ArrayChunks(X, rows=300, **given))
    target = (domain < 0) & (weights > 0)
    room = 1e-4 * np.ptp(expected.left_out_scores_[target])
    np.testing.assert_allclose(model.left_out_scores_, expected.left_out_scores_[target], atol=room)
    np.testing.assert_allclose(model.offset_, expected.offset_, atol=room)
    assert model.false_alarm_range_ == expected.false_alarm_range_
    # They jump where two scores are equal up to the tolerance, by a row of weight 2 at the most.
    jump = 2.0 / (1.0 + weights[target].sum())
    np.testing.assert_allclose(model.p_values(X), expected.p_values(X), atol=jump)


def test_left_out_scores_of_landmarks_are_those_of_their_features_in_memory():
    X, domain, _ = tasks(n=600)
    settings = {"nu": 0.2, "tol": 1e-7, "gamma": 0.3}
    low = {"approximation": "nystroem", "n_components": 12, "random_state": 0}
    model = TransferOneClassSVM(relation="keep", **settings, **low)
    model.fit(ArrayChunks(X, rows=300, sample_domain=domain))
    outside = model.support_[domain[model.support_] >= 0]
    assert outside.size == 11  # one landmark of the target: it is none of a fit without it
    features = landmark_features(make_kernel("rbf", gamma=0.3), X[model.support_]).rows(X)
    fewer = landmark_features(make_kernel("rbf", gamma=0.3), X[outside]).rows(X)
    order = np.flatnonzero(domain < 0)
    for rows, wanted in ((features, True), (fewer, False)):
        plain = TransferOneClassSVM(relation="keep", kernel="linear", **settings).fit(
            rows, sample_domain=domain
        )
        scores = plain.left_out_scores_[order]
        some = np.isin(order, model.support_) != wanted
        room = 1e-4 * np.ptp(scores)
        np.testing.assert_allclose(model.left_out_scores_[some], scores[some], atol=room)
    # The read over all rows found every one of these fits within tol: no warning was given.


def test_a_target_alone_and_the_machine_of_the_paper():
    X, domain, _ = tasks(n=300)
    chunks = ArrayChunks(X, rows=100)
    settings = {**LOW_RANK, "offset": "original", "tol": 1e-6}
    alone, plain = (
        TransferOneClassSVM(relation="keep", **settings).fit(rows) for rows in (chunks, X)
    )
    np.testing.assert_allclose(alone.dual_coef_, plain.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(alone.offset_, plain.offset_, rtol=1e-5)
    settings |= {"C_source": 0.05, "C_target": 0.5, "radius": 0.0}
    model = UOCTSVM(**settings).fit(ArrayChunks(X, rows=100, sample_domain=domain))
    plain = UOCTSVM(**settings).fit(X, sample_domain=domain)
    np.testing.assert_allclose(model.task_offset_, plain.task_offset_, rtol=1e-4)


def test_what_tasks_by_chunks_cannot_do():
    X, domain, _ = tasks(n=300)
    chunks = ArrayChunks(X, rows=100, sample_domain=domain)
    with pytest.raises(ValueError, match="radius='knn' moves every row"):
        TransferOneClassSVM(radius="knn", **LOW_RANK).fit(chunks)
    with pytest.raises(ValueError, match="sample_radius moves every row"):
        TransferOneClassSVM(**LOW_RANK).fit(chunks, sample_radius=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"kernel='rbf' without approximation .*nystroem"):
        TransferOneClassSVM().fit(chunks)
    with pytest.raises(ValueError, match="no negative value"):
        TransferOneClassSVM(**LOW_RANK).fit(ArrayChunks(X, sample_domain=np.zeros(len(X), int)))
    weights = np.where(domain < 0, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"every row of the tasks \[-1\] has sample_weight 0"):
        TransferOneClassSVM(**LOW_RANK).fit(chunks, sample_weight=weights)
