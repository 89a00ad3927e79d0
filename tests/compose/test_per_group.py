"""One model per group: equal to single fits, fallbacks that are said, one file, bad input."""

import zipfile

import numpy as np
import pytest
from sklearn import config_context, svm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce import SVC, SVR, CalibratedOneClass, OneClassSVM, PerGroup
from scarce.compose._packing import packed, unpacked
from tests.versions import BEFORE_1_8

DETECTOR = OneClassSVM(nu=0.1, gamma="neighbors", false_alarms=0.1)


def rows_of(sizes, seed=0, d=3):
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = random.normal(size=(groups.size, d)) + 6.0 * groups[:, None]
    order = random.permutation(groups.size)
    return X[order], np.array([f"g{each:03d}" for each in groups[order]])


def test_models_are_those_of_single_fits():
    X, groups = rows_of([40, 60, 25])
    model = PerGroup(DETECTOR).fit(X, groups=groups)
    assert model.groups_.tolist() == ["g000", "g001", "g002"]
    assert model.models_.tolist() == ["own"] * 3
    new, of = rows_of([10, 10, 10], seed=1)
    for name in ("predict", "decision_function", "score_samples", "p_values"):
        found = getattr(model, name)(new, groups=of)
        for group in model.groups_:
            alone = scarce.OneClassSVM(**DETECTOR.get_params()).fit(X[groups == group])
            wanted = getattr(alone, name)(new[of == group])
            np.testing.assert_array_equal(found[of == group], wanted)


def test_supervised_models():
    random = np.random.default_rng(0)
    X, groups = random.normal(size=(240, 2)), np.repeat(["a", "b", "c"], 80)
    slopes = np.repeat([1.0, -1.0, 3.0], 80)
    y = slopes * X[:, 0]
    model = PerGroup(SVR(C=10.0)).fit(X, y, groups=groups)
    wanted = svm.SVR(C=10.0).fit(X[groups == "b"], y[groups == "b"]).predict(X[:5])
    np.testing.assert_allclose(model.predict(X[:5], groups=["b"] * 5), wanted, atol=2e-3)
    labels = np.where(y > 0, "up", "down")
    labels[groups == "c"] = "up"
    classifier = PerGroup(LogisticRegression()).fit(X, labels, groups=groups)
    assert classifier.models_.tolist() == ["own", "own", "pooled"]  # a class is missing in c
    assert classifier.classes_.tolist() == ["down", "up"]
    assert np.mean(classifier.predict(X, groups=groups)[:160] == labels[:160]) > 0.95
    assert classifier.predict_proba(X[:4], groups=["c", "a", "b", "new"]).shape == (4, 2)
    assert not hasattr(PerGroup(SVC()), "predict_proba")


def test_few_rows_and_unseen_groups_use_what_is_said():
    X, groups = rows_of([60, 60, 5, 1])
    pooled = PerGroup(DETECTOR).fit(X, groups=groups)
    assert pooled.models_.tolist() == ["own", "own", "pooled", "pooled"]
    assert pooled.n_rows_.tolist() == [60, 60, 5, 1]
    new = np.r_[X[:3], [[500.0] * 3]]
    wanted = pooled.pooled_.predict(new)
    np.testing.assert_array_equal(pooled.predict(new, groups=["g002"] * 4), wanted)
    np.testing.assert_array_equal(pooled.predict(new, groups=["never"] * 4), wanted)
    assert wanted[-1] == -1
    with pytest.warns(UserWarning, match=r"1 of 4 fits warned, .* group 'g002' with 5 rows"):
        moved = PerGroup(DETECTOR, fallback="transfer").fit(X, groups=groups)
    assert moved.models_.tolist() == ["own", "own", "transfer", "pooled"]
    assert (moved.p_values(new, groups=["g002"] * 4) > 0).all()
    with pytest.raises(ValueError, match=r"2 groups cannot .* 'g002' with 5 rows"):
        PerGroup(DETECTOR, fallback=None).fit(X, groups=groups)
    strict = PerGroup(DETECTOR, min_rows=5, fallback=None).fit(
        X[groups < "g002"], groups=groups[groups < "g002"]
    )
    assert strict.pooled_ is None
    with pytest.raises(ValueError, match="group 'never' was not seen"):
        strict.predict(new, groups=["never"] * 4)


def test_one_file(tmp_path):
    X, groups = rows_of([30] * 12 + [4])
    with pytest.warns(UserWarning, match="group 'g012' with 4 rows"):
        model = PerGroup(fallback="transfer").fit(X, groups=groups)
    scarce.save(model, tmp_path / "m.skops")
    again = scarce.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(
        again.p_values(X, groups=groups), model.p_values(X, groups=groups)
    )
    assert again.models_.tolist() == model.models_.tolist()
    np.testing.assert_array_equal(
        again.predict(X[:2], ["new"] * 2), model.predict(X[:2], ["new"] * 2)
    )


def test_a_file_of_many_groups_has_no_more_members_than_one_of_few(tmp_path):
    members = []
    for number in (30, 60):
        X, groups = rows_of([20] * number)
        model = PerGroup(OneClassSVM(nu=0.2)).fit(X, groups=groups)
        scarce.save(model, tmp_path / "m.skops")
        again = scarce.load(tmp_path / "m.skops")
        np.testing.assert_array_equal(again.predict(X, groups), model.predict(X, groups))
        with zipfile.ZipFile(tmp_path / "m.skops") as file:
            members.append(len(file.namelist()))
    assert members[0] == members[1]


def test_packing_keeps_models_that_differ():
    X, _ = rows_of([30])
    models = [
        OneClassSVM(nu=0.1).fit(X),
        CalibratedOneClass().fit(X),
        OneClassSVM(nu=0.5, false_alarms=0.2).fit(X[:20]),
        OneClassSVM(nu=0.1).fit(X[5:]),
    ]
    for one, other in zip(models, unpacked(packed(models)), strict=True):
        assert type(one) is type(other)
        assert str(one) == str(other)
        np.testing.assert_array_equal(one.score_samples(X), other.score_samples(X))


def test_damaged_packs_are_refused():
    X, _ = rows_of([30])
    parts = packed([OneClassSVM().fit(X), OneClassSVM().fit(X[:25])])
    with pytest.raises(ValueError, match="templates"):
        unpacked({**parts, "which": np.array([0, 7])})
    first = next(each for each in parts["columns"][0] if "flat" in each and each["flat"].size)
    first["flat"] = first["flat"][1:]
    with pytest.raises(ValueError, match="shapes"):
        unpacked(parts)


def test_weights_and_frames_reach_the_models():
    pandas = pytest.importorskip("pandas")
    X, groups = rows_of([40, 40])
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    weights = np.where(np.arange(80) % 4, 1.0, 0.0)
    model = PerGroup(DETECTOR).fit(frame, groups=pandas.Series(groups), sample_weight=weights)
    part = PerGroup(DETECTOR).fit(frame[weights > 0], groups=groups[weights > 0])
    np.testing.assert_allclose(
        model.p_values(frame, groups=groups), part.p_values(frame, groups=groups), atol=1e-9
    )
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_bad_input():
    X, groups = rows_of([30, 30])
    model = PerGroup(DETECTOR).fit(X, groups=groups)
    with pytest.raises(ValueError, match="groups must be given"):
        model.predict(X)
    with pytest.raises(ValueError, match="one value per row, got 3 for 60 rows"):
        model.predict(X, groups=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"shape \(30, 2\)"):
        model.predict(X, groups=groups.reshape(30, 2))
    with pytest.raises(ValueError, match="texts, or all numbers"):
        PerGroup(DETECTOR).fit(X, groups=[None, *groups[1:]])
    with pytest.raises(ValueError, match="NaN"):
        PerGroup(DETECTOR).fit(X, groups=np.full(60, np.nan))
    with pytest.raises(ValueError, match="inconsistent"):
        PerGroup(DETECTOR).fit(X, groups=groups[1:])
    with pytest.raises(ValueError, match="for detectors, got estimator=SVR"):
        PerGroup(SVR(), min_rows=40, fallback="transfer").fit(X, X[:, 0], groups=groups)
    X[groups == "g001"] = np.nan
    with pytest.raises(ValueError, match="group 'g001' with 30 rows: Input X contains NaN"):
        PerGroup(DETECTOR, fallback=None).fit(X, groups=groups)


# Wrong or odd calls.


@pytest.mark.parametrize(
    ("fitted", "asked", "seen"),
    [
        ([1, 2], ["1", "2"], "such as 1, got '1'"),
        (["1", "2"], [1, 2], "such as '1', got 1"),
        ([1, 2], np.array(["2020-01-01"] * 2, "datetime64[D]"), "such as 1, got datetime"),
    ],
)
def test_groups_of_another_type_are_not_taken_for_unseen_ones(fitted, asked, seen):
    X, _ = rows_of([30, 30])
    model = PerGroup().fit(X, groups=np.repeat(fitted, 30))
    with pytest.raises(ValueError, match=f"groups must be of the type of those.*{seen}"):
        model.predict(X[:2], groups=asked)


def test_missing_times_are_no_group():
    X, _ = rows_of([30])
    with pytest.raises(ValueError, match="groups must not be NaN"):
        PerGroup().fit(X, groups=np.array(["NaT"] + ["2020-01-01"] * 29, "datetime64[D]"))


def test_no_rows_are_refused():
    X, groups = rows_of([30, 30])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        PerGroup().fit(X, groups=groups).predict(X[:0], groups=groups[:0])


def test_a_small_group_of_equal_rows_uses_the_pooled_model():
    X, groups = rows_of([30, 30, 5])
    X[groups == "g002"] = 7.0
    model = PerGroup(DETECTOR, fallback="transfer").fit(X, groups=groups)
    assert model.models_.tolist() == ["own", "own", "pooled"]


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_weights_reach_models_that_are_transferred():
    """A row of weight 0 is as if it were not there, one of weight 2 as if given twice."""
    X, groups = rows_of([40, 8])
    order = np.argsort(groups)
    X, groups = X[order], groups[order]
    X[41] += 30.0
    weights = np.ones(48)
    weights[[41, 42]] = 0.0, 2.0
    rows = np.r_[np.arange(41), 42, np.arange(42, 48)]
    chain = make_pipeline(StandardScaler(), clone(DETECTOR).set_params(false_alarms=0.2))
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            one = PerGroup(DETECTOR, fallback="transfer")
            one.fit(X, groups=groups, sample_weight=weights)
            other = PerGroup(DETECTOR, fallback="transfer").fit(X[rows], groups=groups[rows])
            of_chain = PerGroup(chain, fallback="transfer").fit(X, groups=groups)
        assert one.models_[1] == other.models_[1] == of_chain.models_[1] == "transfer"
        assert one.estimators_[1][-1].false_alarms_ == DETECTOR.false_alarms
        assert of_chain.estimators_[1][-1].false_alarms_ == 0.2
        new, name = X[43:], groups[43:]
        np.testing.assert_allclose(
            one.estimators_[1][0].mean_, other.estimators_[1][0].mean_, rtol=1e-12
        )
        kept = one.score_samples(new, name), other.score_samples(new, name)
        np.testing.assert_allclose(*kept, rtol=1e-2)


@pytest.mark.skipif(BEFORE_1_8, reason="a pipeline's own score is given no groups before 1.8")
def test_searches_hand_groups_on():
    X, groups = rows_of([30, 30])
    y = (np.arange(60) % 2 == 0) ^ (groups == "g001")
    X[:, 0] += 9.0 * np.where(groups == "g001", y == 0, y)
    with config_context(enable_metadata_routing=True):
        chain = make_pipeline(StandardScaler(), PerGroup(SVC()))
        search = GridSearchCV(chain, {"pergroup__estimator__C": [1e-3, 1.0]}, cv=3)
        search.fit(X, y, groups=groups)
        assert search.best_score_ == 1.0
        assert search.score(X, y, groups=groups) == 1.0
    assert PerGroup(SVR()).fit(X, X[:, 0], groups=groups).score(X, X[:, 0], groups=groups) > 0.5
    assert not hasattr(PerGroup(), "score")
