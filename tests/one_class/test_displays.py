"""The displays draw what the estimators hold, and nothing needs matplotlib before that."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from scarce import OneClassSVM
from scarce.one_class import HistoryDisplay, TransferBoundaryDisplay
from tests.published import transfer

pytestmark = pytest.mark.usefixtures("drawn_in_memory")

DOMAIN = np.repeat([4, 7, -1], [14, 10, 8])
X = np.random.default_rng(0).normal(2.0, 1.0, size=(DOMAIN.size, 2))


def fitted(rows=X, domain=DOMAIN, **parameters):
    return transfer(**{"radius": "knn", "gamma": 0.5} | parameters).fit(rows, sample_domain=domain)


# Boundaries.


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_one_boundary_and_one_set_of_rows_per_task(kernel):
    model = fitted(kernel=kernel)
    display = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN)
    assert display.names == ["target", "source 4", "source 7"]
    assert [points.get_offsets().shape[0] for points in display.points_] == [8, 14, 10]
    assert all(contour is not None for contour in display.contours_)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == display.names
    display.figure_.canvas.draw()


def test_boundaries_are_where_the_decision_is_zero():
    model = fitted()
    display = TransferBoundaryDisplay.from_estimator(
        model, X, sample_domain=DOMAIN, grid_resolution=300
    )
    for domain, contour, values in zip(
        model.domains_, display.contours_, display.responses, strict=True
    ):
        line = np.concatenate([path.vertices for path in contour.get_paths()])
        decisions = model.decision_function(line, sample_domain=np.full(len(line), domain))
        assert np.abs(decisions).max() < 0.01 * np.ptp(values)


def test_circles_have_the_radii():
    model = fitted()
    display = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN)
    boxes = [path.get_extents() for path in display.circles_.get_paths()]
    np.testing.assert_allclose([box.width / 2 for box in boxes], model.radii_, rtol=1e-6)
    np.testing.assert_allclose([(box.x0 + box.x1) / 2 for box in boxes], X[:, 0])
    assert display.ax_.get_aspect() == 1.0


def test_arrows_are_the_shifts():
    model = fitted()
    arrows = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN).arrows_
    moved = model.shifts_.any(axis=1)
    np.testing.assert_array_equal(np.c_[arrows.U, arrows.V], model.shifts_[moved])
    np.testing.assert_array_equal(arrows.get_offsets(), X[moved])


def test_rows_without_radius_have_no_circle_and_no_arrow():
    radii = np.where(DOMAIN < 0, 0.3, 0.0)
    model = transfer().fit(X, sample_domain=DOMAIN, sample_radius=radii)
    display = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN)
    assert len(display.circles_.get_paths()) == 8
    assert display.arrows_.N <= 8


def test_exact_rows_have_neither_circles_nor_arrows():
    model = fitted(radius=0.0)
    display = TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN)
    assert display.circles_ is None
    assert display.arrows_ is None


def test_parts_can_be_left_out():
    display = TransferBoundaryDisplay.from_estimator(
        fitted(), X, sample_domain=DOMAIN, show_radii=False, show_shifts=False, show_legend=False
    )
    assert display.circles_ is None
    assert display.arrows_ is None
    assert display.ax_.get_legend() is None


def test_draws_on_given_axes_and_opens_no_figure():
    figure = matplotlib.figure.Figure()
    ax = figure.subplots()
    display = TransferBoundaryDisplay.from_estimator(fitted(), X, sample_domain=DOMAIN, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == []


def test_can_be_drawn_again():
    display = TransferBoundaryDisplay.from_estimator(fitted(), X, sample_domain=DOMAIN)
    first = display.ax_
    assert display.plot(show_radii=False).ax_ is not first


def test_one_task_and_named_features():
    rows = pd.DataFrame(X, columns=["height", "weight"])
    model = transfer(radius=0.1).fit(rows)
    display = TransferBoundaryDisplay.from_estimator(model, rows)
    assert display.names == ["target"]
    assert display.ax_.get_xlabel() == "height"
    assert display.ax_.get_ylabel() == "weight"
    assert list(model.feature_names_in_) == ["height", "weight"]


def test_boundary_outside_the_grid_is_left_out():
    model = transfer(kernel="linear", nu=1.0).fit(X)
    display = TransferBoundaryDisplay.from_estimator(model, X)
    far = TransferBoundaryDisplay(
        X,
        tasks=display.tasks,
        radii=display.radii,
        shifts=display.shifts,
        xx0=display.xx0,
        xx1=display.xx1,
        responses=np.ones_like(display.responses),
        names=display.names,
    ).plot()
    assert far.contours_ == [None]


def test_single_row():
    model = transfer(nu=1.0).fit(X[:1])
    TransferBoundaryDisplay.from_estimator(model, X[:1]).figure_.canvas.draw()


@pytest.mark.parametrize(
    ("rows", "domain", "message"),
    [
        (X[1:], DOMAIN[1:], "rows that the estimator was fitted to"),
        (X + 1.0, DOMAIN, "rows that the estimator was fitted to"),
        (X, None, r"no row is of the tasks \[4, 7\].* sample_domain"),
        (np.c_[X, X], DOMAIN, "two features can be drawn, got 4"),
    ],
)
def test_other_rows_are_refused(rows, domain, message):
    with pytest.raises(ValueError, match=message):
        TransferBoundaryDisplay.from_estimator(fitted(), rows, sample_domain=domain)


def test_sparse_and_precomputed_are_refused():
    model = transfer(kernel="linear", radius=0.1).fit(csr_array(X))
    with pytest.raises(ValueError, match="fitted to dense rows"):
        TransferBoundaryDisplay.from_estimator(model, X)
    model = transfer(kernel="precomputed").fit(X[:2] @ X[:2].T)
    with pytest.raises(ValueError, match="rows that the estimator was fitted to"):
        TransferBoundaryDisplay.from_estimator(model, X[:2])


def test_low_rank_model():
    model = fitted(approximation="nystroem", n_components=10, random_state=0)
    TransferBoundaryDisplay.from_estimator(model, X, sample_domain=DOMAIN).figure_.canvas.draw()


def test_unfitted_is_refused():
    with pytest.raises(NotFittedError):
        TransferBoundaryDisplay.from_estimator(transfer(), X)
    with pytest.raises(NotFittedError):
        HistoryDisplay.from_estimator(transfer())


# History.


@pytest.mark.parametrize("key", ["objective", "moved", "halvings", "n_iter"])
def test_history_shows_every_round(key):
    model = fitted()
    display = HistoryDisplay.from_estimator(model, key=key)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, model.n_rounds_ + 1))
    np.testing.assert_array_equal(display.line_.get_ydata(), model.history_[key])
    assert display.ax_.get_xlabel() == "round"
    assert display.ax_.get_ylabel() == key
    assert display.ax_.get_legend() is None


def test_histories_share_axes_under_their_names():
    first = HistoryDisplay.from_estimator(fitted(), name="guarded", color="black")
    HistoryDisplay.from_estimator(fitted(safeguard=False), name="free", ax=first.ax_)
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert names == ["guarded", "free"]
    assert first.line_.get_color() == "black"


def test_history_of_something_without_is_refused():
    with pytest.raises(ValueError, match="OneClassSVM keeps no history_"):
        HistoryDisplay.from_estimator(OneClassSVM().fit(X))
    with pytest.raises(ValueError, match=r"history_ holds \['halvings', .*, got key='loss'"):
        HistoryDisplay.from_estimator(fitted(), key="loss")


# Without matplotlib.


def test_import_does_not_load_matplotlib():
    code = "import sys, scarce; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[plot\]"'):
        HistoryDisplay.from_estimator(fitted())
