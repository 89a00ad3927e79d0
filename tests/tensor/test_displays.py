"""The pictures show the weights and factors of the machines."""

import itertools
import sys

import matplotlib
import matplotlib.figure
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from scarce import STM, OneClassSVM
from scarce.tensor import FactorDisplay, WeightDisplay
from tests.published import one_class_stm

pytestmark = pytest.mark.usefixtures("drawn_in_memory")


def fitted(*shape, rank=1):
    X = np.random.default_rng(0).normal(1.0, 0.4, size=(8, *shape))
    return one_class_stm(rank=rank, tol=1e-2).fit(X)


def test_image_of_the_weights():
    model = fitted(4, 3)
    display = WeightDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.images_[0].get_array(), model.coef_)
    low, high = display.images_[0].get_clim()
    assert -low == high == np.abs(model.coef_).max()
    assert display.axes_[0].get_title() == ""
    display.figure_.canvas.draw()


def test_one_image_for_each_slice():
    model = fitted(4, 3, 2, 2)
    display = WeightDisplay.from_estimator(model)
    assert len(display.images_) == 4
    for image, axes, (i, j) in zip(
        display.images_, display.axes_, [(0, 0), (0, 1), (1, 0), (1, 1)], strict=True
    ):
        np.testing.assert_array_equal(image.get_array(), model.coef_[:, :, i, j])
        assert axes.get_title() == f"[:, :, {i}, {j}]"
    assert len({image.get_clim() for image in display.images_}) == 1


def test_weights_of_vectors_are_one_line():
    model = fitted(5)
    display = WeightDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.images_[0].get_array(), model.coef_[None, :])


def test_no_weights_are_white():
    display = WeightDisplay(np.zeros((2, 2))).plot()
    assert display.images_[0].get_clim() == (-1.0, 1.0)


def test_too_many_slices():
    with pytest.raises(ValueError, match=r"shape \(2, 2, 40\) have 40 slices, more than the 32"):
        WeightDisplay(np.ones((2, 2, 40))).plot()


def test_two_classes():
    X = np.random.default_rng(0).normal(size=(12, 4, 3))
    y = np.arange(12) % 2
    X[y == 1] += 1.0
    model = STM().fit(X, y)
    display = WeightDisplay.from_estimator(model, cmap="PiYG")
    assert display.images_[0].get_cmap().name == "PiYG"
    assert len(FactorDisplay.from_estimator(model).axes_) == 2


@pytest.mark.parametrize("rank", [1, 2])
def test_one_curve_for_each_term(rank):
    model = fitted(4, 3, 2, rank=rank)
    display = FactorDisplay.from_estimator(model, color="black")
    assert [axes.get_xlabel()[-1] for axes in display.axes_] == ["0", "1", "2"]
    for lines, factor in zip(display.lines_, model.factors_, strict=True):
        drawn = np.column_stack([line.get_ydata() for line in lines])
        np.testing.assert_array_equal(drawn, factor)
        assert lines[0].get_color() == "black"
    display.figure_.canvas.draw()


@pytest.mark.parametrize("display", [WeightDisplay, FactorDisplay])
def test_nothing_is_cut_off(display):
    figure = display.from_estimator(fitted(4, 3, 5, rank=2)).figure_
    figure.canvas.draw()
    whole, panels = figure.bbox, [axes.get_tightbbox() for axes in figure.axes]
    for panel in panels:
        assert whole.x0 <= panel.x0
        assert panel.x1 <= whole.x1
        assert whole.y0 <= panel.y0
        assert panel.y1 <= whole.y1
    assert all(one.x1 <= other.x0 for one, other in itertools.pairwise(panels))


def test_draws_on_given_axes_and_opens_no_figure():
    figure = matplotlib.figure.Figure()
    axes = figure.subplots(1, 3)
    model = fitted(4, 3)
    image = WeightDisplay.from_estimator(model, ax=axes[0])
    curves = FactorDisplay.from_estimator(model, ax=axes[1:])
    assert image.axes_ == [axes[0]]
    assert curves.axes_ == list(axes[1:])
    assert image.figure_ is curves.figure_ is figure
    assert plt.get_fignums() == []
    with pytest.raises(ValueError, match="ax must be 2 axes, one for each picture, got 1"):
        FactorDisplay.from_estimator(model, ax=axes[0])


@pytest.mark.parametrize("display", [WeightDisplay, FactorDisplay])
def test_other_estimators_are_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(one_class_stm())
    with pytest.raises(ValueError, match="OneClassSVM has no factors"):
        display.from_estimator(OneClassSVM(kernel="linear").fit(np.ones((3, 2))))


@pytest.mark.parametrize("display", [WeightDisplay, FactorDisplay])
def test_error_names_the_extra(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[plot\]"'):
        display.from_estimator(fitted(4, 3))
