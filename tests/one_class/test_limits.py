"""Special cases and limits whose answer is known."""

from typing import Any

import numpy as np
import pytest

from scarce import UOCTSVM, OneClassSVM, TransferOneClassSVM
from tests.one_class.samples import all_decisions, assert_same_decisions, several_tasks
from tests.published import transfer, uoct

KERNELS = ("linear", "rbf", "poly")


def cosine(one: Any, other: Any) -> float:
    one, other = np.ravel(one), np.ravel(other)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def alone(X: Any, task: Any) -> Any:
    return OneClassSVM(kernel="linear", nu=0.3, tol=1e-8).fit(X[task]).coef_


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("coupling", [0.2, 1.0, 30.0])
def test_one_task_is_a_one_class_svm_up_to_scale(kernel: str, coupling: float) -> None:
    X, _ = several_tasks(0, (30,))
    weights = np.linspace(0.2, 2.0, 30)
    shared = {"kernel": kernel, "nu": 0.23, "tol": 1e-7}
    plain = OneClassSVM(**shared).fit(X, sample_weight=weights)
    model = transfer(coupling=coupling, **shared).fit(X, sample_weight=weights)
    scale = 0.5 * (1.0 + 1.0 / coupling)
    expected = scale * plain.decision_function(X) / (0.23 * weights.sum())
    assert_same_decisions(model.decision_function(X), expected)
    assert model.objective_ == pytest.approx(scale * plain.objective_, rel=1e-6)
    clear = np.abs(expected) > 1e-6 * np.ptp(expected)
    np.testing.assert_array_equal(model.predict(X)[clear], plain.predict(X)[clear])


@pytest.mark.parametrize("kernel", KERNELS)
def test_zero_radii_are_no_radii(kernel: str) -> None:
    X, domain = several_tasks(1)
    model = transfer(kernel=kernel, radius="knn")
    exact = transfer(kernel=kernel).fit(X, sample_domain=domain)
    model.fit(X, sample_domain=domain, sample_radius=np.zeros(len(X)))
    assert model.history_ == exact.history_
    np.testing.assert_array_equal(all_decisions(model, X), all_decisions(exact, X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("radius", [0.0, "knn"])
def test_identical_tasks_have_identical_planes(kernel: str, radius: Any) -> None:
    X, _ = several_tasks(2, (15,))
    model = transfer(kernel=kernel, nu=0.23, radius=radius, tol=1e-8)
    model.fit(np.r_[X, X, X], sample_domain=np.repeat([-1, 0, 1], 15))
    decisions = all_decisions(model, X)
    assert_same_decisions(decisions[1:], np.array(2 * [decisions[0]]))
    # Three equal tasks are one task with a third of the price for its own part.
    single = transfer(kernel=kernel, nu=0.23, radius=radius, tol=1e-8, coupling=3.0)
    single.fit(X)
    assert_same_decisions(decisions[0], 3.0 * single.decision_function(X))


def test_a_cheap_own_part_leaves_the_target_alone() -> None:
    X, domain = several_tasks(3, (20, 30), centre=1.0)
    for source_coupling in (1e-4, 1.0, 1e4):
        model = transfer(
            kernel="linear", nu=0.3, coupling=1e-7, source_coupling=source_coupling
        ).fit(X, sample_domain=domain)
        assert cosine(model.coef_, alone(X, domain < 0)) == pytest.approx(1.0, abs=1e-6)


def test_a_dear_own_part_mixes_the_tasks() -> None:
    # In no limit of the couplings does the shared plane become that of one task.
    X, domain = several_tasks(3, (20, 30), centre=1.0)
    target, source = alone(X, domain < 0), alone(X, domain >= 0)
    for source_coupling in (1e-4, 1e4):
        model = transfer(
            kernel="linear", nu=0.3, coupling=1e4, source_coupling=source_coupling, tol=1e-8
        ).fit(X, sample_domain=domain)
        assert cosine(model.coef_, target) < 0.999
        assert cosine(model.coef_, source) < 0.999
    planes = model.task_dual_coef_ @ model.support_vectors_  # both own parts are dear
    np.testing.assert_allclose(planes[1], planes[0], rtol=1e-3)


def test_the_mass_of_the_sources_sets_the_mix() -> None:
    X, domain = several_tasks(3, (20, 30), centre=1.0)
    found = []
    for mass in (1e-6, 0.3, 1.0, 3.0, 1e6):
        model = transfer(
            kernel="linear", nu=0.3, coupling=1e4, source_coupling=1e4, source_weight=mass, tol=1e-8
        ).fit(X, sample_domain=domain)
        found.append(cosine(model.coef_, alone(X, domain < 0)))
    assert found[0] == pytest.approx(1.0, abs=1e-6)
    assert np.all(np.diff(found) < 0)
    assert cosine(model.coef_, alone(X, domain >= 0)) == pytest.approx(1.0, abs=1e-6)


def test_slack_dearer_than_one_changes_nothing() -> None:
    # The multipliers of a task sum to 1, so that a box of 1 never binds.
    X, domain = several_tasks(4)
    sizes = np.bincount(domain + 1)
    values = []
    for price in (1.0, 1000.0):
        model = transfer(
            kernel="linear",
            nu=1.0 / (price * sizes[0]),
            source_nu=1.0 / (price * sizes[1]),
            coupling=0.4,
            tol=1e-9,
        ).fit(X, sample_domain=domain)
        assert (model.predict(X, sample_domain=domain) == 1).all()
        values.append(model.objective_)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_the_forms_for_a_pair_and_for_many_differ_at_two_tasks() -> None:
    X, domain = several_tasks(5)

    def tied(**parameters: Any) -> UOCTSVM:
        model = uoct(C_source=0.3, C_target=0.4, radius=0.0, kernel="linear", **parameters)
        return model.fit(X, sample_domain=domain)

    def separate(factor: float) -> TransferOneClassSVM:
        sizes = np.bincount(domain + 1)
        return transfer(
            kernel="linear",
            nu=1.0 / (0.4 * sizes[0]),
            source_nu=1.0 / (0.3 * sizes[1]),
            coupling=factor * 0.4,
            source_coupling=factor * 0.3,
        ).fit(X, sample_domain=domain)

    pair, multi = tied(variant="pair"), tied(variant="multi")
    assert multi.objective_ < 1.1 * pair.objective_ < 0
    assert pair.objective_ == pytest.approx(separate(1.0).objective_, rel=1e-9)
    assert multi.objective_ == pytest.approx(separate(0.5).objective_, rel=1e-9)
    assert tied().objective_ == pair.objective_


def test_more_than_one_source_takes_the_form_for_many() -> None:
    X, domain = several_tasks(6, (8, 12, 10))
    models = [
        uoct(C_source=0.2, C_target=0.4, variant=variant).fit(X, sample_domain=domain)
        for variant in ("auto", "multi")
    ]
    assert models[0].history_ == models[1].history_


@pytest.mark.parametrize("kernel", KERNELS)
def test_shares_of_rejected_rows_and_of_support_vectors(kernel: str) -> None:
    X, domain = several_tasks(7, (40, 60, 50))
    model = transfer(kernel=kernel, nu=0.15, source_nu=0.35, tol=1e-6)
    model.fit(X, sample_domain=domain)
    rejected = model.predict(X, sample_domain=domain) < 0
    for each, share in ((-1, 0.15), (0, 0.35), (1, 0.35)):
        task = domain == each
        assert rejected[task].mean() <= share
        assert np.isin(np.flatnonzero(task), model.support_).mean() >= share
