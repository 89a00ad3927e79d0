"""The displays draw what a fit has done."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from scarce import SVMC, PositiveUnlabeledSVC
from scarce.positive_unlabeled import OutOfBagDisplay, RoundsBoundaryDisplay, SetSizesDisplay
from tests.positive_unlabeled.samples import of_the_paper, overlapping

# What these tests are about is the loop; its model may be a poor one.
pytestmark = [
    pytest.mark.usefixtures("drawn_in_memory"),
    pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning"),
]

X, y = overlapping(0)


def test_set_sizes():
    model = SVMC(learner="csvc").fit(X, y)
    display = SetSizesDisplay.from_estimator(model, linewidth=3.0)
    drawn = {line.get_label(): line for line in display.lines_}
    assert drawn["still accepted"].get_ydata().tolist() == model.history_["accepted"]
    assert drawn["newly rejected"].get_ydata().tolist() == model.history_["rejected"]
    assert drawn["negatives trained on"].get_ydata().tolist() == model.history_["negatives"]
    assert drawn["newly rejected"].get_xdata().tolist() == [*range(1, model.n_rounds_ + 1)]
    assert display.lines_[0].get_linewidth() == 3.0
    display.figure_.canvas.draw()
    with pytest.raises(NotFittedError):
        SetSizesDisplay.from_estimator(SVMC())


def test_boundaries_of_all_rounds():
    model = SVMC(learner="csvc").fit(X, y)
    display = RoundsBoundaryDisplay.from_estimator(model, X, y, grid_resolution=80)
    assert len(display.contours_) == model.n_rounds_ > 2
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    np.testing.assert_allclose(display.responses[-1].ravel(), model.decision_function(grid))
    scores = model.mapper_.score_samples(grid)
    np.testing.assert_allclose(display.mapping.ravel(), scores)
    assert display.mapping_contour_ is not None
    # Earlier rounds are the models that fewer rounds give.
    with pytest.warns(UserWarning, match="max_rounds=2"):
        second = SVMC(learner="csvc", max_rounds=2).fit(X, y)
    np.testing.assert_allclose(display.responses[1].ravel(), second.decision_function(grid))
    display.figure_.canvas.draw()


def test_labels_and_names():
    frame = pd.DataFrame(X, columns=["width", "height"])
    labels = np.where(y == 1, "a", "b")
    model = of_the_paper(mapper=np.linalg.norm(X, axis=1) > 5, pos_label="a")
    ax = plt.figure().add_subplot()
    with np.errstate(all="raise"):
        display = RoundsBoundaryDisplay.from_estimator(model, frame, labels, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.positive, y == 1)
    assert ax.get_xlabel() == "width"
    assert display.mapping is None
    assert display.mapping_contour_ is None
    centre = np.abs(display.xx0) + np.abs(display.xx1) < 0.1
    assert (display.responses[-1][centre] > 0).all()


def test_the_boundary_of_the_round_kept_is_thick():
    model = SVMC(learner="csvc", C=0.1, gamma=0.3, stop_recall=0.6).fit(X, y)
    assert model.round_kept_ < model.n_rounds_ - 1
    display = RoundsBoundaryDisplay.from_estimator(model, X, y, grid_resolution=50)
    widths = [float(contour.get_linewidths()[0]) for contour in display.contours_]
    assert np.argmax(widths) == model.round_kept_
    assert sorted(widths)[-2] < max(widths)


def test_only_two_features():
    with pytest.raises(ValueError, match="two features can be drawn, got 4"):
        RoundsBoundaryDisplay.from_estimator(SVMC(), np.c_[X, X], y)


def test_out_of_bag_scores():
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    display = OutOfBagDisplay.from_estimator(model, bins=20)
    others, own, part = display.ax_.patches
    assert others.get_data().values.sum() == pytest.approx(1.0)
    assert own.get_data().values.sum() == pytest.approx(1.0)
    assert part.get_data().values.sum() == pytest.approx(model.class_prior_)
    # What lies above the threshold is what is accepted.
    assert np.mean(display.unlabelled > 0) == pytest.approx(model.accepted_share_)
    assert list(display.threshold_line_.get_xdata()) == [0.0, 0.0]
    assert f"{model.accepted_share_:.2g}" in display.threshold_line_.get_label()
    display.figure_.canvas.draw()
    with pytest.raises(NotFittedError):
        OutOfBagDisplay.from_estimator(PositiveUnlabeledSVC())
