"""Properties of the loop that hold for any learner."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from scarce import SVC, SVMC, NuSVC
from scarce.positive_unlabeled import OneClassMapper
from tests.positive_unlabeled.internals import MemoryRows, Training
from tests.positive_unlabeled.samples import disc_in_a_square, of_the_paper, overlapping

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("learner", ["nusvc", "csvc"])
def test_svmc_and_smc_agree_on_separable_data(seed, learner):
    X, y = disc_in_a_square(seed, 60, 400)
    parameters = {"learner": learner, "C": 1e4, "nu": 1e-3, "gamma": 0.1}
    few = SVMC(keep="support", **parameters).fit(X, y)
    every = SVMC(keep="all", **parameters).fit(X, y)
    np.testing.assert_array_equal(few.predict(X), every.predict(X))
    radius = np.linalg.norm(X, axis=1)
    assert not few.predict(X)[radius > 2.5].any()
    assert few.predict(X)[radius < 2.5].mean() > 0.9
    # Only the negatives next to the boundary are trained on again.
    assert few.history_["negatives"][0] == every.history_["negatives"][0]
    assert few.history_["negatives"][-1] < 0.2 * every.history_["negatives"][-1] or (
        few.n_rounds_ == 1
    )


@pytest.mark.parametrize("keep", ["support", "all"])
@pytest.mark.parametrize("seed", range(3))
def test_termination_bound_and_sizes(keep, seed):
    X, y = overlapping(seed)
    model = SVMC(keep=keep, learner="csvc").fit(X, y)
    history = model.history_
    at_first = history["accepted"][0] + history["rejected"][0]  # what the mapper left over
    assert model.n_rounds_ <= at_first + 1
    assert history["rejected"][-1] == 0
    assert all(count > 0 for count in history["rejected"][:-1])
    assert np.array_equal(at_first - np.cumsum(history["rejected"]), history["accepted"])
    assert history["negatives"][0] + at_first == (y == 0).sum()
    if keep == "all":
        growth = history["negatives"][0] + np.cumsum([0, *history["rejected"][:-1]])
        assert np.array_equal(growth, history["negatives"])
    assert len({len(column) for column in history.values()}) == 1
    assert model.converged_
    assert model.round_kept_ == model.n_rounds_ - 1
    share = history["accepted"][-1] / (y == 0).sum()
    assert history["accepted_share"][-1] == pytest.approx(share)


def test_history_describes_the_model_returned():
    X, y = overlapping(0)
    model = SVMC(learner="csvc").fit(X, y)
    inside = model.decision_function(X[y == 1]) >= 0
    assert model.history_["recall"][-1] == pytest.approx(inside.mean())
    assert model.history_["support_vectors"][-1] == len(model.support_)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert all(seconds > 0 for seconds in model.history_["seconds"])
    assert model.n_iter_ == sum(model.history_["n_iter"])


class CountingSVC(SVC):
    """Counts the rows it scores."""

    scored: ClassVar[list[int]] = []

    def decision_function(self, X):
        self.scored.append(X.shape[0])
        return super().decision_function(X)


def test_rejected_rows_are_not_scored_again():
    X, y = overlapping(1)
    CountingSVC.scored.clear()
    model = of_the_paper(classifier=CountingSVC(), diagnose=False).fit(X, y)
    history = model.history_
    candidates = np.array(history["accepted"]) + np.array(history["rejected"])
    assert model.n_rounds_ > 2
    in_rounds = candidates.sum() + model.n_rounds_ * (y == 1).sum()
    # At the end one look at all unlabelled rows, for the class prior.
    assert sum(CountingSVC.scored) == in_rounds + (y == 0).sum()


TAKEN_BACK = pytest.mark.filterwarnings("ignore:the classifier accepts")


def test_rows_taken_back_are_told():
    X, y = overlapping(3)
    with pytest.warns(
        UserWarning, match="the classifier accepts .* Use recheck=True, keep=.all. or"
    ):
        model = SVMC().fit(X, y)
    assert model.taken_back_ > 0.01
    # What else is accepted are soft-margin errors of the last training.
    kept = model.history_["accepted_share"][-1]
    assert model.class_prior_ >= kept + model.taken_back_ - 1e-12
    assert SVMC(keep="all").fit(X, y).taken_back_ == 0.0


def test_little_taken_back_is_much_for_a_small_class():
    random = np.random.default_rng(40)
    X = np.r_[random.normal(size=(90, 4)), random.normal(size=(970, 4)) * 3 + 1]
    y = np.r_[np.ones(60), np.zeros(1000)]
    with pytest.warns(UserWarning, match="the classifier accepts"):
        model = SVMC(gamma=0.02).fit(X, y)
    assert model.taken_back_ < 0.015
    assert model.taken_back_ > 0.1 * model.history_["accepted_share"][-1]


@TAKEN_BACK
@pytest.mark.parametrize("parameters", [{}, {"learner": "csvc", "C": 0.3}, {"stop_recall": 0.99}])
@pytest.mark.parametrize("weighted", [False, True])
def test_accepted_share_is_what_the_boundary_accepts(parameters, weighted):
    X, y = overlapping(3)
    X[np.flatnonzero(y == 0)[:5]] = X[np.flatnonzero(y == 1)[:5]]  # shared rows too
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y)) if weighted else None
    model = SVMC(**parameters).fit(X, y, sample_weight=weights)
    accepted = model.predict(X[y == 0]) == 1
    expected = np.average(accepted, weights=None if weights is None else weights[y == 0])
    assert model.accepted_share_ == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "classifier",
    [
        svm.SVC(),
        svm.NuSVC(nu=0.05),
        svm.LinearSVC(),
        LogisticRegression(),
        SVC(approximation="nystroem", n_components=50, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_any_margin_classifier(classifier):
    X, y = disc_in_a_square(0, 60, 400)
    X = np.c_[X, X**2]  # for the linear ones
    model = of_the_paper(classifier=classifier, keep="all").fit(X, y)
    truth = np.linalg.norm(X[:, :2], axis=1) < 2.5
    assert np.mean((model.predict(X) == 1) == truth) > 0.95
    if not hasattr(model.classifier_, "support_"):
        with pytest.raises(ValueError, match=r'keep="support" needs.*support_.*keep="all"'):
            of_the_paper(classifier=classifier).fit(X, y)


def test_approximate_classifiers_have_no_support_to_keep():
    X, y = disc_in_a_square(0)
    with pytest.raises(ValueError, match=r'keep="support" needs exact.*nystroem'):
        of_the_paper(classifier=SVC(approximation="nystroem")).fit(X, y)


def test_a_recheck_leaves_nothing_taken_back():
    for seed in range(6):
        X, y = overlapping(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nu is raised on the way
            plain = SVMC(nu=0.1).fit(X, y)
            checked = SVMC(nu=0.1, recheck=True).fit(X, y)
            everything = SVMC(nu=0.1, keep="all").fit(X, y)
        assert checked.converged_
        assert checked.taken_back_ == 0.0
        assert plain.history_["taken_back"] == [0] * plain.n_rounds_
        if plain.taken_back_ > 0:
            assert checked.history_["taken_back"][-1] > 0
        # Closer to the answers of the loop that keeps all negatives, or as close.
        answers = everything.predict(X)
        assert (checked.predict(X) != answers).sum() <= (plain.predict(X) != answers).sum()


@TAKEN_BACK
def test_the_same_loop_on_scikit_learns_machines():
    X, y = overlapping(2)
    parameters = {"gamma": 0.5, "tol": 1e-6}
    ours = of_the_paper(classifier=NuSVC(nu=0.2, **parameters)).fit(X, y)
    theirs = of_the_paper(
        mapper=OneClassMapper(svm.OneClassSVM(nu=0.1)),
        classifier=svm.NuSVC(nu=0.2, **parameters),
    ).fit(X, y)
    assert ours.history_["rejected"] == theirs.history_["rejected"]
    expected = ours.decision_function(X)
    found = theirs.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


@TAKEN_BACK
def test_defaults_are_those_of_svmc():
    X, y = overlapping(3)
    weights = np.linspace(0.5, 2.0, len(y))
    one = SVMC(nu=0.1).fit(X, y, sample_weight=weights)
    other = of_the_paper(classifier=NuSVC(nu=0.1)).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_learners_get_the_tolerance_and_width_of_the_whole():
    X, y = overlapping(3)
    classifier = SVC(tol=1e-2)
    model = of_the_paper(classifier=classifier, tol=1e-6).fit(X, y)
    assert model.classifier_.tol == 1e-6
    assert model.kkt_violation_ <= 1e-6
    assert model.classifier_.gamma == pytest.approx(1 / (2 * X.var()))
    assert classifier.get_params() == SVC(tol=1e-2).get_params()
    tighter = of_the_paper(classifier=SVC(tol=1e-9)).fit(X, y)
    assert tighter.classifier_.tol == 1e-9


@pytest.mark.parametrize("classifier", [SVC(), NuSVC(nu=0.2)], ids=["SVC", "NuSVC"])
def test_warm_starts(classifier):
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(60, 2)), random.normal(size=(60, 2)) + 3, [[40.0, 40.0]] * 20]
    rows, weights = MemoryRows(X), np.ones(len(X))
    positives, near, far = np.split(np.arange(140), [60, 120])
    classifier = classifier.set_params(gamma=0.5, tol=1e-6)
    train = Training(classifier, rows, weights, False, "lower", nearest=np.zeros(0, int))
    first = train(positives, near)
    support = np.intersect1d(near, first.rows[first.model.support_])
    again = train(positives, near).model
    np.testing.assert_allclose(again.objective_, first.model.objective_, rtol=1e-9)
    assert first.model.n_iter_ > 50
    assert again.n_iter_ <= 2
    if isinstance(classifier, SVC):  # of NuSVC the total mass changes with the number of rows
        assert support.size < near.size  # negatives that are no support vectors leave
        assert train(positives, support).model.n_iter_ <= 2
    # Whatever the start, the solution is the same.
    start = Training(classifier, rows, weights, False, "lower", nearest=np.zeros(0, int))
    mixed = np.r_[near[::2], far]
    cold, warm = start(positives, mixed).model, train(positives, mixed).model
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("nearest", [np.zeros(0, int), np.arange(60, 1060)], ids=["none", "some"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(SVC(C=2.0), svm.SVC(C=2.0)), (NuSVC(nu=0.02), svm.NuSVC(nu=0.02))],
    ids=["SVC", "NuSVC"],
)
def test_many_negatives_are_trained_on_where_they_matter(ours, theirs, nearest):
    """The first training of many rows is that of all, though most of them have no part in it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3060, 2)) * np.repeat([0.5, 3.0], [60, 3000])[:, None]
    X[60:] += 2.0 * np.sign(X[60:])
    positives, negatives = np.split(np.arange(3060), [60])
    rows, weights = MemoryRows(X), np.ones(len(X))
    ours, theirs = (each.set_params(gamma=0.3, tol=1e-7) for each in (ours, theirs))
    trained = Training(ours, rows, weights, False, "lower", nearest)(positives, negatives)
    assert trained.rows.size < 2000
    np.testing.assert_array_equal(trained.rows[:60], positives)
    everyone = np.sort(np.concatenate([trained.rows, np.flatnonzero(trained.beyond)]))
    np.testing.assert_array_equal(everyone, np.arange(3060))
    expected = theirs.fit(X, np.arange(3060) < 60).decision_function(X)
    np.testing.assert_allclose(trained.model.decision_function(X), expected, atol=1e-4)
    assert (expected[trained.beyond] < -1).all()
    if isinstance(ours, NuSVC):
        assert trained.model.nu == trained.nu == 0.02


def test_limit_on_the_rounds():
    X, y = overlapping(0)
    whole = SVMC(learner="csvc").fit(X, y)
    assert whole.n_rounds_ > 2
    with pytest.warns(ConvergenceWarning, match=r"max_rounds=2 .* \d+ more rows were rejected"):
        short = SVMC(learner="csvc", max_rounds=2).fit(X, y)
    assert short.n_rounds_ == 2
    assert not short.converged_
    assert short.fit_status_ == 1
    assert short.history_["rejected"] == whole.history_["rejected"][:2]


@pytest.mark.parametrize("round_", [-1, 7])
def test_a_rule_that_names_no_round(round_):
    X, y = overlapping(0)
    with pytest.raises(ValueError, match=f"stop must name a round from 0 to 0, .* got {round_}"):
        SVMC(learner="csvc", stop=lambda history: (round_, True)).fit(X, y)


@pytest.mark.filterwarnings("ignore:nu raised")
def test_all_rows_twice_is_the_same_model():
    X, y = overlapping(5)
    twice = np.tile(np.arange(len(y)), 2)
    for keep in ("support", "all"):
        one = SVMC(keep=keep, nu=0.1).fit(X, y)
        two = SVMC(keep=keep, nu=0.1).fit(X[twice], y[twice])
        expected = one.decision_function(X)
        np.testing.assert_allclose(
            two.decision_function(X), expected, atol=1e-6 * np.abs(expected).max()
        )
        assert two.class_prior_ == pytest.approx(one.class_prior_)
        doubled = [2 * count for count in one.history_["negatives"]]
        assert two.history_["negatives"] == doubled


def test_copies_of_rows_that_are_never_rejected_change_nothing():
    X, y = overlapping(6)
    model = SVMC(nu=0.1, gamma=0.5).fit(X, y)
    inside = np.flatnonzero((y == 0) & (np.linalg.norm(X, axis=1) < 0.7))
    assert inside.size > 5
    more = np.r_[np.arange(len(y)), inside, inside]
    again = SVMC(nu=0.1, gamma=0.5).fit(X[more], y[more])
    np.testing.assert_allclose(
        again.decision_function(X), model.decision_function(X), rtol=0, atol=1e-6
    )
    # None of them was ever rejected.
    n = (y == 0).sum()
    accepted = model.class_prior_ * n + 2 * inside.size
    assert again.class_prior_ == pytest.approx(accepted / (n + 2 * inside.size))
