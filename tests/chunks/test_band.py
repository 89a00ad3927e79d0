"""The band fit: the model of a fit in memory, and a certificate that holds over all rows."""

import numpy as np
import pytest
from sklearn.base import clone

from scarce import SVC, SVDD, NuSVC, OneClassSVM
from scarce.chunks import (
    ArrayChunks,
    ChunkError,
    LinearFeatures,
    Start,
    band_fit,
    landmark_features,
)
from scarce.kernels import make_kernel
from scarce.reductions import OneClassProblem
from scarce.solvers import solve
from tests.chunks.sources import NAMES, chunks_of, rows

LOW_RANK = {"approximation": "nystroem", "n_components": 30, "random_state": 0, "tol": 1e-7}
LINEAR = {"kernel": "linear", "tol": 1e-7}
MACHINES = [
    (OneClassSVM(nu=0.1, **LOW_RANK), 0.0),
    (OneClassSVM(nu=0.2, **LINEAR), 3.0),
    (SVC(C=1.0, **LOW_RANK), 0.0),
    (SVC(C=2.0, class_weight={3: 2.0, 5: 0.5}, **LINEAR), 0.0),
    (NuSVC(nu=0.4, class_weight="balanced", **LOW_RANK), 0.0),
    (NuSVC(nu=0.5, **LINEAR), 0.0),
]


def labels(model, y):
    return {} if isinstance(model, OneClassSVM) else {"y": y}


@pytest.fixture(scope="module")
def in_memory():
    """Every machine, with and without weights, fitted in memory by the ordinary solver."""
    fitted = {}
    for place, (model, shift) in enumerate(MACHINES):
        X, y, weights = rows()
        for weighted in (False, True):
            given = weights if weighted else None
            fitted[place, weighted] = model.fit(X + shift, **labels(model, y), sample_weight=given)
            model = type(model)(**model.get_params())
    return fitted


@pytest.mark.parametrize("place", range(len(MACHINES)))
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_that_of_a_fit_in_memory(name, place, in_memory, tmp_path):
    weighted = bool((place + NAMES.index(name)) % 2)
    expected = in_memory[place, weighted]
    X, y, weights = rows()
    X = X + MACHINES[place][1]
    values = labels(expected, y) | ({"sample_weight": weights} if weighted else {})
    model = type(expected)(**expected.get_params()).fit(chunks_of(name, tmp_path, X, **values))
    scores = expected.decision_function(X)
    frame = X
    if name in ("parquet", "dask frame"):
        import pandas as pd

        frame = pd.DataFrame(X, columns=model.feature_names_in_)
    own = model.decision_function(frame)
    np.testing.assert_allclose(own, scores, atol=2e-5 * np.ptp(scores))
    clear = np.abs(scores) > 2e-5 * np.ptp(scores)
    assert (model.predict(frame) == expected.predict(X))[clear].all()
    assert clear.mean() > 0.98
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert model.dual_gap_ <= 1e-7
    assert model.kkt_violation_ <= 1e-7
    assert model.shape_fit_ == (3000, 4)
    assert model.n_reads_ >= 4
    if model.approximation:
        np.testing.assert_array_equal(np.sort(model.support_), np.sort(expected.support_))
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    else:
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


def primal_value(model, X, y, weights):
    """The primal objective of a fitted model, from its public attributes and plain NumPy."""
    vectors, coefficients = model.support_vectors_, model.dual_coef_[0]
    squares = ((vectors[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
    norm = coefficients @ np.exp(-model._gamma * squares) @ coefficients
    squares = ((X[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
    sums = np.exp(-model._gamma * squares) @ coefficients
    if isinstance(model, OneClassSVM):
        mass = model.nu * weights.sum()
        slacks = np.maximum(model.offset_ - sums, 0.0)
        return (0.5 * norm / mass - model.offset_[0] + weights @ slacks / mass) / mass
    slacks = np.maximum(1.0 - np.where(y == 5, 1, -1) * (sums + model.intercept_), 0.0)
    return 0.5 * norm + model.C * weights @ slacks


@pytest.mark.parametrize("kind", [OneClassSVM, SVC])
def test_the_primal_value_over_all_rows_meets_the_dual_one(kind):
    X, y, weights = rows(n=1500)
    weights = weights + 0.1
    settings = {"approximation": "nystroem", "n_components": 12, "random_state": 1, "tol": 1e-8}
    chunks = ArrayChunks(X, rows=400, y=y, sample_weight=weights)
    model = kind(**settings, **({"nu": 0.3} if kind is OneClassSVM else {})).fit(chunks)
    value = primal_value(model, X, y, weights)
    assert value == pytest.approx(model.objective_, rel=1e-6)


def test_weights_are_repetition():
    X, y, _ = rows(n=900)
    counts = np.random.default_rng(1).integers(0, 4, size=900)
    settings = {"kernel": "linear", "tol": 1e-9}
    once = SVC(**settings).fit(ArrayChunks(X, rows=200, y=y, sample_weight=counts))
    many = np.repeat(np.arange(900), counts)
    twice = SVC(**settings).fit(ArrayChunks(X[many], rows=300, y=y[many]))
    np.testing.assert_allclose(once.coef_, twice.coef_, atol=1e-7)
    np.testing.assert_allclose(once.intercept_, twice.intercept_, atol=1e-7)


def test_chunks_and_threads_change_nothing(monkeypatch):
    X, y, _ = rows(n=2000)
    settings = {"approximation": "nystroem", "n_components": 20, "random_state": 0}
    model = SVC(**settings).fit(ArrayChunks(X, rows=300, y=y))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    again = SVC(**settings).fit(ArrayChunks(X, rows=300, y=y))
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)
    np.testing.assert_array_equal(model.intercept_, again.intercept_)


@pytest.mark.parametrize("kind", [OneClassSVM, SVC, NuSVC])
def test_many_rows_in_memory_go_by_bands(kind, monkeypatch):
    X, y, weights = rows()
    words = np.where(y == 5, "yes", "no")
    settings = {"approximation": "nystroem", "n_components": 20, "random_state": 0, "tol": 1e-7}
    if kind is SVC:
        settings["class_weight"] = {"yes": 3.0, "no": 1.0}
    labelled = {} if kind is OneClassSVM else {"y": words}
    plain = kind(**settings).fit(X, **labelled, sample_weight=weights)
    assert not hasattr(plain, "n_reads_")
    monkeypatch.setattr(kind, "_band_from", 3000)
    model = kind(**settings).fit(X, **labelled, sample_weight=weights)
    assert model.n_reads_ >= 4
    scores = plain.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=2e-5 * np.ptp(scores))
    if kind is not OneClassSVM:
        assert model.classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(model.n_support_, plain.n_support_)
        np.testing.assert_allclose(model.dual_coef_, plain.dual_coef_, atol=1e-2)
    assert "n_reads_" not in vars(
        model.set_params(approximation=None, tol=1e-3).fit(
            X[:200], **{key: value[:200] for key, value in labelled.items()}
        )
    )


def test_a_start_from_nowhere_ends_at_the_optimum():
    X, _, _ = rows(n=2000)
    features = landmark_features(make_kernel("rbf", gamma=0.5), X[:15])
    chunks, problem = ArrayChunks(X, rows=300), OneClassProblem(200.0)
    wrong = Start(
        np.random.default_rng(0).normal(size=(1, features.rank)), np.zeros(1), np.full(1, 0.5), 1.0
    )

    def solver(program, start, tol):
        return solve(program, tol=tol, start=start)

    found = band_fit(chunks, problem, features, wrong, solver, tol=1e-6, most_rows=2000)
    assert found.status == "optimal"
    settings = {"approximation": "nystroem", "gamma": 0.5, "tol": 1e-6}
    expected = OneClassSVM(nu=0.1, n_components=2000, **settings)
    expected._choose_landmarks = lambda n: np.arange(15)
    objective = -expected.fit(X).objective_ * 200.0**2
    assert found.objective == pytest.approx(objective, rel=1e-6)


def test_violators_join_the_band_for_good():
    X = rows(n=2000)[0] + 3.0
    chunks, problem = ArrayChunks(X, rows=500), OneClassProblem(400.0)
    exact = OneClassSVM(kernel="linear", nu=0.2, tol=1e-9).fit(X)
    turned = exact.coef_ * (1.0 + 0.3 * np.array([1.0, -1.0, 1.0, -1.0]))
    offset = np.sort(X @ turned[0])[400]
    width = 0.02 * np.std(X @ turned[0])  # a band that does not hold the boundary

    def solver(program, start, tol):
        return solve(program, tol=tol, start=start)

    start = Start(turned, np.array([-offset]), np.array([width]), 1.0)
    found = band_fit(chunks, problem, LinearFeatures(4), start, solver, tol=1e-6, most_rows=2000)
    assert found.status == "optimal"
    assert len(found.history["violators"]) > 1
    assert found.history["violators"][0] > 0
    assert found.history["violators"][-1] == 0
    band = found.history["band_rows"]
    assert band == sorted(band)
    assert band[1] > band[0]
    np.testing.assert_allclose(found.hyperplanes.raw, exact.coef_, rtol=1e-6)
    assert found.objective == pytest.approx(-(400.0**2) * exact.objective_, rel=1e-8)


def test_rows_that_change_between_reads_are_refused():
    class Moving(ArrayChunks):
        reads = 0

        def read(self, index):
            part = super().read(index)
            if index != 2:
                return part
            type(self).reads += 1  # by the survey, for the subsample, for the band
            return part if type(self).reads <= 3 else type(part)(index, part.first, -part.X)

    X = rows(n=1500)[0] + 1.0
    model = OneClassSVM(nu=0.1, approximation="nystroem", n_components=10, random_state=0)
    with pytest.raises(ChunkError, match="chunk 2 is not what it was at an earlier read"):
        model.fit(Moving(X, rows=400))
    assert not hasattr(model, "offset_")


def test_all_rows_rejected_and_nothing_to_find():
    X = rows(n=600)[0]
    settings = {"nu": 1.0, "approximation": "nystroem", "n_components": 10, "random_state": 0}
    model = OneClassSVM(**settings).fit(ArrayChunks(X, rows=200))
    plain = OneClassSVM(**settings).fit(X)
    np.testing.assert_allclose(model.offset_, plain.offset_, rtol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, plain.dual_coef_, rtol=1e-6)
    with pytest.warns(UserWarning, match="The solution is trivial"):
        OneClassSVM(kernel="linear", nu=0.5).fit(ArrayChunks(X - X.mean(axis=0), rows=200))


def test_what_cannot_go_by_chunks_says_what_can():
    X, y, _ = rows(n=600)
    chunks = ArrayChunks(X, rows=200, y=y)
    with pytest.raises(ValueError, match=r"kernel='rbf' without .* 0 MB for 600 rows .*nystroem"):
        OneClassSVM().fit(chunks)
    with pytest.raises(TypeError, match=r"SVDD.fit needs its rows in memory.*600 rows"):
        SVDD(approximation="nystroem").fit(chunks)
    with pytest.raises(ValueError, match='gamma="neighbors" compares rows with all others'):
        SVC(gamma="neighbors", approximation="nystroem").fit(chunks)
    with pytest.raises(ValueError, match="C must be finite"):
        SVC(C=np.inf, kernel="linear").fit(chunks)
    with pytest.raises(ValueError, match="needs y, one label per row"):
        SVC(kernel="linear").fit(ArrayChunks(X), None)
    with pytest.raises(ValueError, match="can be of two classes, got 3"):
        SVC(kernel="linear").fit(ArrayChunks(X), np.arange(600) % 3)
    with pytest.raises(ValueError, match=r"nu is infeasible.*0 < nu <= 0"):
        NuSVC(nu=0.99, kernel="linear").fit(chunks)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        SVC(kernel="linear").fit(chunks, sample_weight=np.zeros(600))
    with pytest.raises(ValueError, match=r"max_memory is 1 MB, and this fit needs at least \d+ MB"):
        SVC(kernel="linear", max_memory=1).fit(chunks)


def test_a_memory_map_beyond_the_budget_goes_by_chunks(tmp_path, monkeypatch):
    X, y, _ = rows(n=2000)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    settings = {"kernel": "linear", "tol": 1e-8}
    plain = SVC(**settings).fit(mapped, y)
    assert not hasattr(plain, "n_reads_")
    monkeypatch.setattr("scarce._data.budget", lambda max_memory: 1e4)
    model = SVC(**settings).fit(mapped, y)
    assert model.n_reads_ >= 4
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)


@pytest.mark.parametrize("machine", [OneClassSVM(nu=0.1), NuSVC(nu=0.8), SVC()])
def test_a_wide_band_is_narrowed_by_more_rows_before_all_are_read_again(machine, monkeypatch):
    X, y, _ = rows(6000)
    machine = clone(machine).set_params(**{**LOW_RANK, "n_components": 5})
    expected = clone(machine).fit(X, **labels(machine, y))
    chunks = ArrayChunks(X, rows=2000, **labels(machine, y))
    monkeypatch.setattr("scarce.chunks._memory.SUBSAMPLE", 300)
    monkeypatch.setattr("scarce._by_chunks.LARGER_PART", 2)
    monkeypatch.setattr("scarce._by_chunks.MANY_BAND", 400)
    monkeypatch.setattr("scarce.chunks._smooth.FEWEST_WINDOW", 60)
    found = {}
    for share in (0.1, 0.0):
        monkeypatch.setattr("scarce.chunks._memory.LARGER_SHARE", share)
        found[share] = clone(machine).fit(chunks)
        scores = found[share].decision_function(X)
        np.testing.assert_allclose(
            scores, expected.decision_function(X), atol=2e-5 * np.ptp(scores)
        )
        assert found[share].dual_gap_ <= 1e-7
    assert found[0.1].n_reads_ < found[0.0].n_reads_
