"""Rows in memory, in a file, sparse, or as a kernel matrix: the same model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from scarce import SVC, SVMC
from tests.positive_unlabeled.internals import MappedRows, MemoryRows, _row_source, row_keys
from tests.positive_unlabeled.samples import disc_in_a_square, of_the_paper, overlapping

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def mapped(folder, X):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("block", [1 << 22, 64])
def test_memory_mapped_rows_give_the_same_model(tmp_path, monkeypatch, dtype, block):
    X, y = overlapping(0)
    X = (100 * X).astype(dtype)
    monkeypatch.setattr(_row_source, "BLOCK_VALUES", block)
    weights = np.linspace(0.5, 2.0, len(y))
    here = SVMC(learner="csvc").fit(X, y, sample_weight=weights)
    there = SVMC(learner="csvc").fit(mapped(tmp_path, X), y, sample_weight=weights)
    assert here.n_rounds_ > 1
    assert here.history_["rejected"] == there.history_["rejected"]
    np.testing.assert_array_equal(here.support_, there.support_)
    expected = here.decision_function(X)
    np.testing.assert_array_equal(there.decision_function(X), expected)
    np.testing.assert_array_equal(there.decision_function(mapped(tmp_path, X)), expected)


class Guarded(np.memmap):
    """A mapped array that counts the rows taken out of it at once."""

    largest = 0

    def __getitem__(self, key):
        part = super().__getitem__(key)
        if isinstance(part, np.ndarray) and part.ndim == 2:
            Guarded.largest = max(Guarded.largest, part.shape[0])
        return part

    def __array__(self, *args, **kwargs):
        raise AssertionError("the whole array was asked for")


def test_a_mapped_array_is_never_loaded_whole(tmp_path, monkeypatch):
    X, y = disc_in_a_square(0, 60, 3000)
    X = np.c_[X, np.zeros((len(X), 62))]  # sums over all rows go in steps of 65536 values
    given = mapped(tmp_path, X).view(Guarded)
    monkeypatch.setattr(_row_source, "BLOCK_VALUES", 65 * 500)
    # A mask that leaves most rows to be scored, so that training sets stay small too.
    mask = np.linalg.norm(X, axis=1) > 7.5
    model = of_the_paper(mapper=mask, max_rounds=1)
    Guarded.largest = 0
    with pytest.warns(UserWarning, match="max_rounds=1"):
        model.fit(given, y)
    assert 0 < mask.sum() < 500
    assert 0 < Guarded.largest <= 1024
    model.predict(given)
    assert Guarded.largest <= 1024


def test_bad_values_in_a_mapped_array(tmp_path, monkeypatch):
    X, y = disc_in_a_square(0)
    monkeypatch.setattr(_row_source, "BLOCK_VALUES", 64)
    model = SVMC().fit(X, y)
    for value, words in ((np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")):
        spoiled = X.copy()
        spoiled[140, 1] = value
        for call in (lambda rows: SVMC().fit(rows, y), model.predict):
            with pytest.raises(ValueError, match=words):
                call(mapped(tmp_path, spoiled))
    with pytest.raises(ValueError, match=r"X holds 1e\+200.*overflows"):
        SVMC().fit(mapped(tmp_path, np.where(X > 5, 1e200, X)), y)
    with pytest.raises(ValueError, match="two-dimensional array of numbers, got 3 dimensions"):
        SVMC().fit(mapped(tmp_path, X[:, :, None]), y)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        SVMC().fit(mapped(tmp_path, X)[:0], y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVMC().fit(mapped(tmp_path, X), y[:-1])
    with pytest.raises(ValueError, match="X has 3 features, but SVMC is expecting 2"):
        model.predict(mapped(tmp_path, np.c_[X, X[:, :1]]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        SVMC().fit(mapped(tmp_path, X), None)


@pytest.mark.filterwarnings("ignore:the mapper found no strong negatives")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_give_the_same_model(kernel, container):
    random = np.random.default_rng(0)
    X = random.random((300, 40)) * (random.random((300, 40)) < 0.1)
    X[:100, :5] += random.random((100, 5)) * (random.random((100, 5)) < 0.7)
    X[0] = 0.0  # nothing stored
    y = np.r_[np.ones(50, int), np.zeros(250, int)]
    parameters = {"kernel": kernel, "learner": "csvc", "map_fallback": 0.1, "tol": 1e-7}
    dense = SVMC(**parameters).fit(X, y)
    csr = SVMC(**parameters).fit(container(X), y)
    assert dense.history_["rejected"] == csr.history_["rejected"]
    expected = dense.decision_function(X)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(csr.decision_function(container(X)), expected, atol=1e-4 * scale)
    assert sparse.issparse(csr.support_vectors_)
    np.testing.assert_array_equal(csr.support_vectors_.toarray(), X[csr.support_])


@pytest.mark.filterwarnings("ignore:the mapper found no strong negatives")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_are_never_made_dense(kernel, monkeypatch):
    random = np.random.default_rng(0)
    X = sparse.random_array((400, 50_000), density=1e-3, format="csr", random_state=random)
    X = X + sparse.csr_array(
        (np.full(100, 0.5), (np.arange(100), random.integers(20, size=100))), shape=X.shape
    )
    X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    y = np.r_[np.ones(60, int), np.zeros(340, int)]

    def refuse(*args, **kwargs):
        raise AssertionError("made dense")

    for kind in (sparse.csr_array, sparse.csr_matrix):
        monkeypatch.setattr(kind, "todense", refuse)
        toarray = kind.toarray
        monkeypatch.setattr(
            kind,
            "toarray",
            lambda self, *a, f=toarray, **k: f(self, *a, **k) if self.shape[1] < 1000 else refuse(),
        )
    model = SVMC(kernel=kernel, learner="csvc", map_fallback=0.1).fit(X, y)
    assert model.decision_function(X).shape == (400,)


def test_a_kernel_matrix_gives_the_same_model():
    X, y = overlapping(1)
    K = rbf_kernel(X, gamma=0.4)
    plain = SVMC(gamma=0.4, learner="csvc", tol=1e-7).fit(X, y)
    given = SVMC(kernel="precomputed", learner="csvc", tol=1e-7).fit(K, y)
    assert plain.history_["rejected"] == given.history_["rejected"]
    np.testing.assert_allclose(given.decision_function(K), plain.decision_function(X), atol=1e-4)
    new = X[::7] + 0.1
    np.testing.assert_allclose(
        given.decision_function(rbf_kernel(new, X, gamma=0.4)),
        plain.decision_function(new),
        atol=1e-4,
    )
    loose = of_the_paper(mapper=np.linalg.norm(X, axis=1) > 4, classifier=SVC(kernel="precomputed"))
    same = of_the_paper(
        mapper=np.linalg.norm(X, axis=1) > 4, classifier=SVC(kernel="rbf", gamma=0.4)
    )
    np.testing.assert_allclose(
        loose.fit(K, y).decision_function(K), same.fit(X, y).decision_function(X), atol=1e-3
    )


def test_a_kernel_matrix_names_equal_rows():
    X, y = overlapping(2)
    X[np.flatnonzero(y == 0)[:3]] = X[np.flatnonzero(y == 1)[:3]]
    K = rbf_kernel(X, gamma=0.4)
    mask = np.ones(len(y), bool)
    model = of_the_paper(mapper=mask, classifier=SVC(kernel="precomputed"))
    assert model.fit(K, y).history_["negatives"] == [(y == 0).sum() - 3]


def test_callable_kernels():
    X, y = disc_in_a_square(1)
    plain = SVMC(gamma=0.4).fit(X, y)
    given = SVMC(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.4)).fit(X, y)
    assert plain.history_["rejected"] == given.history_["rejected"]
    np.testing.assert_allclose(given.decision_function(X), plain.decision_function(X), atol=1e-5)


def test_keys_of_rows():
    random = np.random.default_rng(0)
    X = random.integers(-1, 2, size=(500, 4)).astype(float)
    X[7] = -0.0
    keys = row_keys(MemoryRows(X))
    _, groups = np.unique(X, axis=0, return_inverse=True)
    same = groups.ravel()[:, None] == groups.ravel()
    np.testing.assert_array_equal(keys[:, None] == keys, same)
    np.testing.assert_array_equal(row_keys(MemoryRows(sparse.csr_array(X))), keys)
    twice = sparse.csr_array(
        (np.array([0.5, 0.5, 1.0]), np.array([1, 1, 1]), np.array([0, 2, 3])), shape=(2, 4)
    )
    assert row_keys(MemoryRows(twice)).tolist() == [0, 0]
    # Of the same order whatever the scale, the offset and constant columns at the end.
    np.testing.assert_array_equal(row_keys(MemoryRows(1e9 * X)), keys)
    np.testing.assert_array_equal(row_keys(MemoryRows(X + 1e3)), keys)
    np.testing.assert_array_equal(row_keys(MemoryRows(np.c_[X, np.ones(500)])), keys)
    single = row_keys(MemoryRows(X.astype(np.float32)))
    np.testing.assert_array_equal(single, keys)
    integers = row_keys(MappedRows(X.astype(np.int8)))
    np.testing.assert_array_equal(integers, keys)
    assert row_keys(MemoryRows(np.array([["a"], ["b"], ["a"]]))).tolist() == [0, 1, 2]


def test_csr_columns_are_sorted_once():
    # As text vectorizers leave them: the columns of a row in no order.
    X = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 6.0, 7.0]]))
    mixed = sparse.csr_matrix((X.data[::-1], X.indices[::-1], np.array([0, 3, 5, 7])), shape=(3, 3))
    assert not mixed.has_sorted_indices
    source = MemoryRows(mixed)
    some = source.gather(np.array([2, 0]))
    assert some.has_sorted_indices
    np.testing.assert_array_equal(some.toarray(), mixed.toarray()[[2, 0]])
    assert not mixed.has_sorted_indices  # the caller's rows stay as they are
