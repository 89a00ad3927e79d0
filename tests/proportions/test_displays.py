"""The displays draw what the models hold, and nothing needs matplotlib before that."""

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from scarce.proportions import (
    ShareCalibrationDisplay,
    ShareSurfaceDisplay,
    expand_proportions,
    group_proportions,
)
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM

pytestmark = pytest.mark.usefixtures("drawn_in_memory")

# Five groups of different sizes, four common rows, three rows of no group.
GROUPS = np.repeat([10, 11, 12, 13, 14, -1, -2], [8, 6, 7, 5, 4, 4, 3])
LABELS = (np.arange(GROUPS.size) * 7 % 10 < np.clip(GROUPS - 8, 0, 6) * 2).astype(int)
X = np.random.default_rng(0).normal(size=(GROUPS.size, 2)) + 1.5 * LABELS[:, None]
SHARES = group_proportions(LABELS, GROUPS)
Y = expand_proportions(SHARES, GROUPS)


def fitted(rows=X, **parameters):
    source = ([1.0, 1.0], -1.0)
    model = TransferGroupProbabilitySVM(source=source, kernel="linear", **parameters)
    return model.fit(rows, Y, GROUPS)


def surface(model=None, **parameters):
    return ShareSurfaceDisplay.from_estimator(
        fitted() if model is None else model, X, Y, GROUPS, **parameters
    )


def calibration(model=None, **parameters):
    return ShareCalibrationDisplay.from_estimator(
        fitted() if model is None else model, X, Y, GROUPS, **parameters
    )


def three_classes():
    labels = np.arange(GROUPS.size) % 3
    y = expand_proportions(group_proportions(labels, GROUPS), GROUPS)
    inside = GROUPS >= 0
    model = GroupProbabilitySVM(classes=["a", "b", "c"]).fit(X[inside], y[inside], GROUPS[inside])
    return model, X[inside], y[inside], GROUPS[inside]


# The surface.


def test_rows_have_the_colour_of_their_share():
    display = surface()
    points = display.points_
    grouped = GROUPS >= 0
    np.testing.assert_array_equal(points["grouped"].get_offsets(), X[grouped])
    np.testing.assert_array_equal(
        points["grouped"].get_array(), [SHARES[g] for g in GROUPS[grouped]]
    )
    np.testing.assert_array_equal(points["common"].get_offsets(), X[GROUPS == -1])
    np.testing.assert_array_equal(points["leftover"].get_offsets(), X[GROUPS == -2])
    # One scale for rows and surface.
    assert points["grouped"].get_clim() == display.surface_.get_clim() == (0.0, 1.0)
    assert points["grouped"].get_cmap() == display.surface_.get_cmap()
    display.figure_.canvas.draw()


def test_the_surface_is_the_probability():
    model = fitted()
    display = surface(model, grid_resolution=30)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = model.predict_proba(grid)[:, 1].reshape(30, 30)
    np.testing.assert_array_equal(display.probability, expected)
    np.testing.assert_array_equal(display.surface_.get_array(), expected)
    low, high = X.min(axis=0), X.max(axis=0)
    assert np.all(grid.min(axis=0) < low)
    assert np.all(grid.max(axis=0) > high)


def test_the_boundary_is_where_the_decision_is_zero():
    model = fitted()
    display = surface(model, grid_resolution=200)
    line = np.concatenate([path.vertices for path in display.boundary_.get_paths()])
    assert len(line) > 10
    assert np.abs(model.decision_function(line)).max() < 0.02
    away = fitted(transfer=0.0)
    away.intercept_ = away.intercept_ + 1000.0
    assert surface(away).boundary_ is None


def test_only_what_there_is_is_drawn():
    inside = GROUPS >= 0
    model = GroupProbabilitySVM().fit(X[inside], Y[inside], GROUPS[inside])
    display = ShareSurfaceDisplay.from_estimator(model, X[inside], Y[inside], GROUPS[inside])
    assert list(display.points_) == ["grouped"]


@pytest.mark.parametrize("show", [True, False])
def test_the_colour_bar_names_the_class(show):
    display = surface(show_colorbar=show)
    others = [ax for ax in display.figure_.axes if ax is not display.ax_]
    assert [ax.get_ylabel() for ax in others] == ["proportion and probability of 1"] * show


def test_feature_names_label_the_axes():
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = GroupProbabilitySVM().fit(frame[GROUPS >= 0], Y[GROUPS >= 0], GROUPS[GROUPS >= 0])
    display = ShareSurfaceDisplay.from_estimator(model, frame, Y, GROUPS)  # and no warning
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "height")
    assert hasattr(model, "feature_names_in_")


def test_given_axes_are_used():
    _, (left, right) = plt.subplots(1, 2)
    assert surface(ax=left).ax_ is left
    assert calibration(ax=right).ax_ is right


# Given and predicted shares.


def test_points_are_groups():
    model = fitted()
    display = calibration(model)
    probability = model.predict_proba(X)[:, 1]
    expected = [probability[g == GROUPS].mean() for g in SHARES]
    np.testing.assert_allclose(display.given, list(SHARES.values()))
    np.testing.assert_allclose(display.predicted, expected)
    np.testing.assert_allclose(display.points_.get_offsets(), np.c_[display.given, expected])
    np.testing.assert_array_equal(display.sizes, [8, 6, 7, 5, 4])
    areas = display.points_.get_sizes()
    np.testing.assert_allclose(areas / areas[0], display.sizes / 8)
    np.testing.assert_array_equal(display.diagonal_.get_xydata(), [[0, 0], [1, 1]])
    error = np.average(np.abs(display.given - expected), weights=[8, 6, 7, 5, 4])
    assert display.error_ == pytest.approx(error)


def test_shares_of_labels():
    model = fitted()
    display = calibration(model, response_method="predict")
    labels = model.predict(X)
    np.testing.assert_allclose(display.predicted, [labels[g == GROUPS].mean() for g in SHARES])


def test_weights_count():
    model = fitted()
    weights = np.where(GROUPS == 13, 0.0, np.arange(GROUPS.size) % 3)
    display = calibration(model, sample_weight=weights)
    kept = [10, 11, 12, 14]
    probability = model.predict_proba(X)[:, 1]
    expected = [np.average(probability[g == GROUPS], weights=weights[g == GROUPS]) for g in kept]
    np.testing.assert_allclose(display.predicted, expected)
    np.testing.assert_allclose(display.given, [SHARES[g] for g in kept])


def test_the_other_class_is_the_complement():
    model = fitted()
    one, other = (calibration(model, class_of_interest=c) for c in (1, 0))
    np.testing.assert_allclose(other.given, 1.0 - one.given)
    np.testing.assert_allclose(other.predicted, 1.0 - one.predicted)
    np.testing.assert_allclose(
        surface(model, class_of_interest=0).probability, 1.0 - surface(model).probability
    )


def test_names_make_a_legend():
    first = calibration(name="transfer", color="black")
    calibration(fitted(transfer=0.0), name="none", ax=first.ax_)
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["transfer", "none"]
    assert first.ax_.get_xlabel() == "given proportion of class 1"
    assert first.ax_.get_ylabel() == "predicted proportion of class 1"


def test_any_classifier_can_be_drawn():
    model = LogisticRegression().fit(X, LABELS)
    assert calibration(model).predicted.shape == (5,)
    surface(model).figure_.canvas.draw()


# Several classes.


def test_one_of_several_classes():
    model, rows, y, groups = three_classes()
    for place, name in enumerate("abc"):
        display = ShareCalibrationDisplay.from_estimator(
            model, rows, y, groups, class_of_interest=name
        )
        np.testing.assert_allclose(display.given, [y[groups == g][0, place] for g in range(10, 15)])
        picture = ShareSurfaceDisplay.from_estimator(
            model, rows, y, groups, class_of_interest=name, grid_resolution=5
        )
        grid = np.column_stack([picture.xx0.ravel(), picture.xx1.ravel()])
        np.testing.assert_array_equal(
            picture.probability.ravel(), model.predict_proba(grid)[:, place]
        )
        np.testing.assert_array_equal(picture.shares, y[:, place])
        assert picture.class_of_interest == name


def test_the_class_must_be_said():
    model, rows, y, groups = three_classes()
    for kind in (ShareCalibrationDisplay, ShareSurfaceDisplay):
        with pytest.raises(ValueError, match="class_of_interest must be one of the 3"):
            kind.from_estimator(model, rows, y, groups)
        with pytest.raises(ValueError, match=r"class_of_interest must be one of .*, got 'd'"):
            kind.from_estimator(model, rows, y, groups, class_of_interest="d")
        with pytest.raises(ValueError, match="y has proportions of 1 classes, the fit had 3"):
            kind.from_estimator(model, rows, y[:, 0], groups, class_of_interest="a")


# Refused.


def test_input_that_cannot_be_drawn():
    model = GroupProbabilitySVM().fit(np.c_[X, X][GROUPS >= 0], Y[GROUPS >= 0], GROUPS[GROUPS >= 0])
    with pytest.raises(ValueError, match="only rows of two features can be drawn, got 4"):
        ShareSurfaceDisplay.from_estimator(model, np.c_[X, X], Y, GROUPS)
    with pytest.raises(ValueError, match=r"response_method must be .* got 'score'"):
        calibration(response_method="score")
    with pytest.raises(ValueError, match="no group with a row of positive weight"):
        calibration(sample_weight=(GROUPS < 0).astype(float))
    for kind in (ShareCalibrationDisplay, ShareSurfaceDisplay):
        with pytest.raises(NotFittedError):
            kind.from_estimator(GroupProbabilitySVM(), X, Y, GROUPS)


def test_error_names_the_extra(monkeypatch):
    model = fitted()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[plot\]"'):
        calibration(model)
    with pytest.raises(ImportError, match=r'pip install "scarce\[plot\]"'):
        surface(model)
