"""Labels in any coding, and inside other people's tools."""

import numpy as np
import pandas as pd
import pulearn
import pytest
from pulearn.metrics import lee_liu_score as pulearn_score
from pulearn.metrics import pu_f1_score, pu_recall_score
from pulearn.model_selection import PUStratifiedKFold, pu_train_test_split
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import SVC, SVMC
from scarce.model_selection import lee_liu_scorer
from tests.positive_unlabeled.samples import disc_in_a_square, of_the_paper, overlapping

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


@pytest.mark.parametrize(
    ("positive", "unlabelled"), [(1, 0), (1, -1), (True, False), ("yes", "unknown"), ("a", "b")]
)
def test_labels_in_any_coding(positive, unlabelled):
    X, y = overlapping(0)
    labels = np.where(y == 1, positive, unlabelled)
    plain = SVMC(learner="csvc").fit(X, y)
    model = SVMC(learner="csvc", pos_label=positive).fit(X, labels)
    inside = plain.decision_function(X) >= 0
    np.testing.assert_array_equal(model.predict(X), np.where(inside, positive, unlabelled))
    second = model.classes_[1] == positive
    assert second == (positive != "a")
    sign = 1 if second else -1
    np.testing.assert_array_equal(model.decision_function(X), sign * plain.decision_function(X))
    above = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X)[above], model.classes_[1])
    assert model.class_prior_ == plain.class_prior_


def test_rows_on_the_boundary_are_positive(monkeypatch):
    X, y = disc_in_a_square(0)
    for positive in (0, 1):
        model = SVMC(pos_label=positive).fit(X, y if positive else 1 - y)
        monkeypatch.setattr(
            model.classifier_, "decision_function", lambda rows: np.zeros(len(rows))
        )
        assert (model.predict(X) == positive).all()


def test_calibrated_probabilities():
    X, y = disc_in_a_square(0, 60, 600)
    model = CalibratedClassifierCV(SVMC(learner="csvc"), cv=3).fit(X, y)
    near, far = model.predict_proba([[0.0, 0.0], [8.0, 8.0]])[:, 1]
    assert near > 5 * far
    flipped = CalibratedClassifierCV(SVMC(learner="csvc", pos_label=0), cv=3).fit(X, 1 - y)
    np.testing.assert_allclose(
        flipped.predict_proba(X)[:, 0], model.predict_proba(X)[:, 1], atol=1e-4
    )


def test_grid_search_without_negatives():
    X, y = disc_in_a_square(1, 60, 600)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVMC(learner="csvc")),
        {"svmc__gamma": [1e-3, 0.5]},
        scoring=lee_liu_scorer,
        cv=3,
    )
    search.fit(X, y)
    assert search.best_params_ == {"svmc__gamma": 0.5}
    nested = GridSearchCV(
        of_the_paper(classifier=SVC(gamma=0.5)),
        {"classifier__C": [1e-3, 1.0]},
        scoring=lee_liu_scorer,
    ).fit(X, y)
    assert nested.best_params_ == {"classifier__C": 1.0}


def test_pulearn_metrics_and_splitters():
    X, y = disc_in_a_square(2, 60, 600)
    model = SVMC()
    folds = PUStratifiedKFold(n_splits=3, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds, scoring=lee_liu_scorer)
    assert (scores > 1).all()
    X_train, X_test, y_train, y_test = pu_train_test_split(X, y, test_size=0.4, random_state=0)
    for positive, unlabelled in ((1, 0), (1, -1)):
        coded = np.where(y_train == 1, positive, unlabelled)
        model.fit(X_train, coded)
        answers = (model.predict(X_test) == positive).astype(int)
        assert pu_recall_score(y_test, answers) > 0.7
        assert 0 < pu_f1_score(y_test, answers, pi=model.class_prior_) <= 1
        assert pulearn_score(y_test, answers) > 1
        assert not pulearn.detect_degenerate_predictor(y_test, answers).is_degenerate


def test_pandas_frames_with_labels_as_strings():
    X, y = overlapping(3)
    frame = pd.DataFrame(X, columns=["width", "height"])
    labels = pd.Series(np.where(y == 1, "yes", "unknown"), dtype="category")
    model = of_the_paper(classifier=SVC()).fit(frame, labels)
    assert list(model.feature_names_in_) == ["width", "height"]
    plain = of_the_paper(classifier=SVC()).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(frame), plain.decision_function(X))
    assert set(model.predict(frame)) == {"yes", "unknown"}
