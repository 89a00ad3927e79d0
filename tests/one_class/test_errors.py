"""Infeasible, degenerate and contradictory input, each with what is said about it."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.one_class.samples import several_tasks
from tests.published import transfer, uoct

X, domain = several_tasks(0, (8, 12, 10))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"C_source": 0.05, "C_target": 1.0},
            "C_source=0.05 is infeasible: times the weight 12 of source 0 it is 0.6, and must be "
            "at least 1; the smallest admissible value is 0.0833",
        ),
        (
            {"C_source": 0.09, "C_target": 1.0},
            "C_source=0.09 is infeasible: times the weight 10 of source 1 it is 0.9, and must be "
            "at least 1; the smallest admissible value is 0.1",
        ),
        (
            {"C_source": 1.0, "C_target": 0.1},
            "C_target=0.1 is infeasible: times the weight 8 of the target it is 0.8, and must be "
            "at least 1; the smallest admissible value is 0.125",
        ),
    ],
)
def test_costs_too_low(parameters: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        uoct(**parameters).fit(X, sample_domain=domain)


def test_the_lowest_admissible_price() -> None:
    # Every multiplier is at its bound: the mean of the rows.
    model = uoct(C_target=1.0 / 8, radius=0.0, kernel="linear").fit(X[:8])
    assert model.support_.size == 8
    np.testing.assert_allclose(np.ptp(model.dual_coef_), 0.0, atol=1e-12)
    weights = np.full(8, 0.5)
    with pytest.raises(ValueError, match=r"weight 4 of the target it is 0.5.*value is 0.25"):
        uoct(C_target=1.0 / 8).fit(X[:8], sample_weight=weights)


def test_a_task_of_one_row() -> None:
    rows = np.r_[X[domain >= 0], X[:1]]
    marks = np.r_[domain[domain >= 0], -1]
    model = uoct(C_source=0.2, C_target=1.0).fit(rows, sample_domain=marks)
    assert model.radii_[-1] == 0
    assert model.predict(rows[-1:]) == [1]
    with pytest.raises(ValueError, match=r"C_target=0.9.*weight 1 of the target.*value is 1"):
        uoct(C_source=0.2, C_target=0.9).fit(rows, sample_domain=marks)
    assert transfer(radius="knn").fit(rows, sample_domain=marks).radii_[-1] == 0


@pytest.mark.parametrize("task", [-1, 0, 1])
def test_a_task_without_weight(task: int) -> None:
    weights = (domain != task).astype(float)
    for model in (transfer(), uoct()):
        with pytest.raises(ValueError, match=rf"\[{task}\] has sample_weight 0"):
            model.fit(X, sample_weight=weights, sample_domain=domain)


@pytest.mark.parametrize(
    ("radii", "words"),
    [
        (np.full(29, 0.1), r"one value per row, 30, got shape \(29,\)"),
        (np.full((30, 2), 0.1), r"one value per row, 30, got shape \(30, 2\)"),
        (np.full(30, -0.1), "finite and not negative, got -0.1"),
        (np.full(30, np.nan), "finite and not negative, got nan"),
        (np.full(30, np.inf), "finite and not negative, got inf"),
    ],
)
def test_radii_that_are_none(radii: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"sample_radius must .*{words}"):
        transfer().fit(X, sample_domain=domain, sample_radius=radii)


@pytest.mark.parametrize(
    "uncertainty", [{"radius": 0.1}, {"radius": "knn"}, {"sample_radius": np.ones(30)}], ids=str
)
def test_kernels_without_a_gradient(uncertainty: dict[str, Any]) -> None:
    metadata = {"sample_domain": domain}
    if "sample_radius" in uncertainty:
        metadata |= uncertainty
        uncertainty = {}
    for kernel, rows in (("precomputed", X @ X.T), (lambda a, b: a @ b.T, X)):
        model = transfer(kernel=kernel, **uncertainty)
        words = "positive radius moves rows along the kernel's gradient, which kernel=.*radius=0"
        with pytest.raises(ValueError, match=words):
            model.fit(rows, **metadata)
    with pytest.raises(ValueError, match=r"positive radius.*make sparse rows dense.*dense X"):
        transfer(**uncertainty).fit(sparse.csr_array(X), **metadata)


def test_zero_radii_need_no_gradient() -> None:
    zeros = np.zeros(30)
    transfer(kernel="precomputed").fit(X @ X.T, sample_radius=zeros)
    transfer().fit(sparse.csr_array(X), sample_radius=zeros)


@pytest.mark.parametrize(
    "given",
    [
        {0: 1.0},
        {0: 1.0, 1: 1.0, 2: 1.0},
        {0: 1.0, 1: 0.0},
        {0: 1.0, 1: -2.0},
        {0: 1.0, 1: np.nan},
        {0: 1.0, 1: np.inf},
        {0: 1.0, 1: "much"},
    ],
)
def test_masses_that_do_not_fit(given: Any) -> None:
    words = r"source_weight must give each of the sources \[0, 1\] a positive number, got \{"
    with pytest.raises(ValueError, match=words):
        transfer(source_weight=given).fit(X, sample_domain=domain)


@pytest.mark.parametrize(("rows", "count"), [(domain < 0, 1), (domain < 2, 3)])
def test_a_pair_is_two_tasks(rows: Any, count: int) -> None:
    model = uoct(variant="pair", C_source=0.5)
    with pytest.raises(ValueError, match=f'variant="pair" is for one source.*got {count} tasks'):
        model.fit(X[rows], sample_domain=domain[rows])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nu", 0.0),
        ("nu", 1.1),
        ("source_nu", 0.0),
        ("source_nu", 2.0),
        ("coupling", 0.0),
        ("coupling", np.inf),
        ("source_coupling", -1.0),
        ("source_weight", 0.0),
        ("radius", -1.0),
        ("radius", np.inf),
        ("radius", "nearest"),
        ("offset", "moved"),
        ("safeguard", "yes"),
        ("round_tol", -0.1),
        ("max_rounds", 0),
        ("gamma", -1.0),
    ],
)
def test_parameters_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TransferOneClassSVM must be"):
        transfer(**{name: value}).fit(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite(value: float) -> None:
    rows = X.copy()
    rows[0, 0] = value
    for model in (transfer(radius="knn"), uoct()):
        with pytest.raises(ValueError, match="Input X contains"):
            model.fit(rows, sample_domain=domain)


@pytest.mark.parametrize("radius", [0.0, 0.3, 50.0, "knn"])
def test_the_origin_among_the_rows_of_every_task(radius: Any) -> None:
    # Symmetric rows: w = 0, the objective is 0, and no direction is better than another.
    rows, marks = np.r_[X, -X], np.r_[domain, domain]
    model = transfer(kernel="linear", nu=0.2, radius=radius)
    with pytest.warns(UserWarning, match="trivial.*origin lies among the sample") as caught:
        model.fit(rows, sample_domain=marks)
    assert [each.filename for each in caught] == [__file__]
    assert model.converged_
    assert model.n_rounds_ == 1
    assert not np.any(model.shifts_)
    assert model.objective_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.task_offset_, 0.0, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(rows, sample_domain=marks), 0.0, atol=1e-9)
