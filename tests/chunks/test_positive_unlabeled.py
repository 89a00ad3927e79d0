"""Positive and unlabelled rows in chunks: the draws, sets and models of a fit in memory."""

import numpy as np
import pandas as pd
import pytest

from scarce import SVC, SVMC, MappingConvergence, NuSVC, PositiveUnlabeledSVC
from scarce.chunks import ArrayChunks, DaskChunks
from scarce.positive_unlabeled import OneClassMapper, OneDNFMapper
from tests.chunks.internals import _chunk_rows, _training
from tests.chunks.sources import NAMES, chunks_of

pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def heap(n=2400, labelled=60, d=3, seed=0):
    """A class at the origin, a tenth of the rows, in no order, some rows twice; and labels."""
    random = np.random.default_rng(seed)
    X = random.uniform(-6.0, 6.0, size=(n, d))
    X *= np.maximum(1.0, 4.0 / np.linalg.norm(X, axis=1))[:, None]  # a gap around the class
    members = random.permutation(n)[: n // 10]
    X[members] = random.normal(size=(members.size, d))
    X[5::97] = X[4::97][: X[5::97].shape[0]]
    y = np.zeros(n, int)
    y[members[:labelled]] = 1
    weights = random.uniform(0.5, 2.0, size=n)
    weights[::13] = 0.0
    return X, y, weights


def as_fitted(model, X):
    """The rows in the form that a model knows its features in."""
    if hasattr(model, "feature_names_in_"):
        return pd.DataFrame(X, columns=model.feature_names_in_)
    return X


@pytest.fixture(autouse=True)
def _rows_stay_where_they_are(monkeypatch):
    monkeypatch.setattr(_chunk_rows, "FEW_GATHERED", 100)  # so that not even these are gathered


@pytest.fixture(scope="module")
def bagged():
    X, y, weights = heap()
    fitted = {}
    for weighted in (False, True):
        model = PositiveUnlabeledSVC(n_bags=10, random_state=3)
        fitted[weighted] = model.fit(X, y, sample_weight=weights if weighted else None)
    return fitted


@pytest.mark.parametrize("name", NAMES)
def test_bags_are_those_of_a_fit_in_memory(name, bagged, tmp_path):
    X, y, weights = heap()
    weighted = bool(NAMES.index(name) % 2)
    expected = bagged[weighted]
    values = {"y": y} | ({"sample_weight": weights} if weighted else {})
    chunks = chunks_of(name, tmp_path, X, step=500, **values)
    model = PositiveUnlabeledSVC(n_bags=10, random_state=3).fit(chunks)
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_array_equal(model.support_vectors_, expected.support_vectors_)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-9)
    for own, other in zip(model.out_of_bag_scores_, expected.out_of_bag_scores_, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)
    for word in ("class_prior_", "accepted_share_", "gamma_", "out_of_bag_auc_"):
        assert getattr(model, word) == pytest.approx(getattr(expected, word), rel=1e-12)
    np.testing.assert_array_equal(model.predict(as_fitted(model, X)), expected.predict(X))
    assert model.n_features_in_ == 3


def test_labels_beside_the_rows_and_words():
    import dask.array as da

    X, y, _ = heap(n=900, labelled=40)
    words = np.where(y == 1, "yes", "unknown")
    rows = da.from_array(X, chunks=(250, 3))
    expected = PositiveUnlabeledSVC(n_bags=5, random_state=0).fit(X, words)
    for labels in (words, da.from_array(words, chunks=300)):
        model = PositiveUnlabeledSVC(n_bags=5, random_state=0).fit(rows, labels)
        assert model.pos_label_ == "yes"
        np.testing.assert_array_equal(model.support_, expected.support_)
    lazy = model.predict(rows)
    assert lazy.chunks == ((250, 250, 250, 150),)
    np.testing.assert_array_equal(lazy.compute(), expected.predict(X))


def test_labels_are_sent_to_the_rows_twice_and_not_with_every_pass(monkeypatch):
    import dask.array as da

    X, y, _ = heap(n=900, labelled=40)
    sent = []
    tasks = DaskChunks._tasks

    def watched(self, function, broadcast, chosen):
        sent.append(sum(np.size(piece) for i in chosen for piece in self.values[i]))
        return tasks(self, function, broadcast, chosen)

    monkeypatch.setattr(DaskChunks, "_tasks", watched)
    PositiveUnlabeledSVC(n_bags=3, random_state=0).fit(da.from_array(X, chunks=(300, 3)), y)
    assert [each for each in sent if each] == [300, 900, 900]  # a look at the range, survey, labels
    assert len(sent) > 5


@pytest.mark.parametrize("prior", [None, 0.01])
def test_one_machine_of_all_rows(prior):
    X, y, _ = heap(n=400, labelled=30)
    settings = {"n_bags": 0, "class_prior": prior, "random_state": 0}
    expected = PositiveUnlabeledSVC(**settings).fit(X, y)
    model = PositiveUnlabeledSVC(**settings).fit(ArrayChunks(X, rows=90, y=y))
    np.testing.assert_array_equal(model.support_, expected.support_)
    assert model.class_prior_ == pytest.approx(expected.class_prior_, rel=1e-9)


def test_what_does_not_fit_is_refused(monkeypatch):
    X, y, _ = heap(n=900)
    chunks = ArrayChunks(X, rows=200, y=y)
    with pytest.raises(ValueError, match="needs y, one label per row"):
        PositiveUnlabeledSVC().fit(ArrayChunks(X))
    with pytest.raises(ValueError, match="kernel='precomputed' needs all rows in memory"):
        PositiveUnlabeledSVC(kernel="precomputed").fit(chunks)
    with pytest.raises(ValueError, match='gamma="neighbors" compares rows with all others'):
        PositiveUnlabeledSVC(gamma="neighbors").fit(chunks)
    with pytest.raises(ValueError, match=r"max_memory is 0 MB, .* at least \d MB .*bytes for each"):
        PositiveUnlabeledSVC(max_memory=0.01).fit(chunks)
    monkeypatch.setattr(_chunk_rows, "FEWEST_HELD", 100)
    with pytest.raises(ValueError, match=r"max_memory allows \d+ rows .* needs \d+ at"):
        PositiveUnlabeledSVC(max_memory=0.18, random_state=0).fit(chunks)
    with pytest.raises(ValueError, match=r"Input X contains NaN: chunk 3 \(rows 600 to 799\)"):
        PositiveUnlabeledSVC().fit(ArrayChunks(np.where(X == X[700], np.nan, X), rows=200, y=y))
    with pytest.raises(ValueError, match="The target has 3 classes"):
        PositiveUnlabeledSVC().fit(ArrayChunks(X, rows=200, y=np.arange(900) % 3))


LOOPS = {
    "svmc": lambda: SVMC(gamma=0.2),
    "svmc, cost": lambda: SVMC(gamma=0.2, learner="csvc", recheck=True, drop_shared=False),
    "default": MappingConvergence,
    "paper's parts": lambda: MappingConvergence(
        mapper=OneClassMapper(), classifier=NuSVC(nu=0.05), keep="support", stop=None
    ),
    "1-DNF": lambda: MappingConvergence(mapper=OneDNFMapper(), classifier=SVC(), stop=None),
}
COUNTS = ("negatives", "rejected", "accepted", "taken_back", "guard")


def same_rounds(model, expected):
    for column in COUNTS:
        assert model.history_[column] == expected.history_[column], column
    # Of equal rows one may hold what several share: which is as good an optimum.
    found, wanted = (each.history_["support_vectors"] for each in (model, expected))
    np.testing.assert_allclose(found, wanted, atol=1)
    np.testing.assert_allclose(model.history_["nu"], expected.history_["nu"], rtol=1e-12)
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-6)
    for word in ("accepted_share_", "class_prior_", "taken_back_", "held_out_recall_"):
        np.testing.assert_allclose(getattr(model, word), getattr(expected, word), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:nu lowered", "ignore:the classifier accepts")
@pytest.mark.parametrize("loop", LOOPS)
def test_rounds_are_those_of_a_fit_in_memory(loop, tmp_path):
    X, y, weights = heap()
    place = list(LOOPS).index(loop)
    values = {"y": y} | ({"sample_weight": weights} if place % 2 else {})
    if loop == "1-DNF":
        X = (X > 0).astype(float)
        X[y == 1, 0] = 1.0
    expected = LOOPS[loop]().fit(X, **values)
    model = LOOPS[loop]().fit(chunks_of(NAMES[place], tmp_path, X, step=500, **values))
    assert expected.n_rounds_ > 1 or isinstance(expected, MappingConvergence)
    same_rounds(model, expected)
    np.testing.assert_array_equal(model.predict(as_fitted(model, X)), expected.predict(X))


@pytest.mark.filterwarnings("ignore:nu lowered", "ignore:the classifier accepts")
@pytest.mark.parametrize(
    "loop",
    [
        lambda: SVMC(gamma=0.2, tol=1e-7),
        lambda: SVMC(gamma=0.2, tol=1e-7, learner="csvc"),
        lambda: MappingConvergence(
            mapper=OneClassMapper(), classifier=SVC(class_weight="equal-total", C=50.0), tol=1e-7
        ),
    ],
    ids=["nu", "cost", "equal totals"],
)
def test_negatives_beyond_the_margin_are_not_gathered(loop, monkeypatch):
    X, y, weights = heap(n=4000)
    expected = loop().fit(X, y, sample_weight=weights)
    monkeypatch.setattr(_chunk_rows, "MOST_TRAINED", 200)
    monkeypatch.setattr(_training, "FIRST_VIOLATORS", 50)
    gathered = []
    gather = _chunk_rows.ChunkRows.gather

    def watched(self, indices):
        gathered.append(np.unique(indices).size)
        return gather(self, indices)

    monkeypatch.setattr(_chunk_rows.ChunkRows, "gather", watched)
    model = loop().set_params(diagnose=False)
    model.fit(ArrayChunks(X, rows=700, y=y, sample_weight=weights))
    assert max(gathered) < max(expected.history_["negatives"]) / 2
    for column in ("negatives", "rejected", "accepted", "guard"):
        assert model.history_[column] == expected.history_[column], column
    scores = expected.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-4 * np.ptp(scores))
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5)
    assert model.nu_ == pytest.approx(expected.nu_, rel=1e-9, nan_ok=True)


@pytest.mark.filterwarnings("ignore:nu lowered", "ignore:max_rounds")
@pytest.mark.parametrize("learner", ["nusvc", "csvc"])
def test_the_classifier_looks_at_a_row_as_often_as_it_must(learner, monkeypatch):
    X, y, _ = heap(n=8000, labelled=100)
    monkeypatch.setattr(_chunk_rows, "MOST_TRAINED", 200)
    monkeypatch.setattr(_training, "FIRST_VIOLATORS", 200)
    looked = []
    where_they_are = _chunk_rows.ChunkRows._where_they_are

    def watched(self, inside, function):
        looked.append(np.count_nonzero(inside))
        return where_they_are(self, inside, function)

    monkeypatch.setattr(_chunk_rows.ChunkRows, "_where_they_are", watched)
    model = SVMC(gamma=0.2, learner=learner, max_rounds=1, diagnose=False)
    model.fit(ArrayChunks(X, rows=900, y=y))
    n_unlabelled = np.count_nonzero(y == 0)
    equal, mapped, *classified = looked
    assert equal == mapped == n_unlabelled
    assert model.history_["negatives"][0] > 0.8 * n_unlabelled
    # Negatives near the class are trained on at first. The others are asked whether they lie beyond
    # the margin, once more after some join, and not again when what is accepted is counted.
    assert sum(classified) < 2 * n_unlabelled
    accepted = model.predict(X[y == 0]) == 1
    assert model.accepted_share_ == pytest.approx(accepted.mean(), abs=1e-12)
