"""Objective and decisions equal those of a generic solver on the primal."""

from typing import Any

import numpy as np
import pytest

from tests.one_class.samples import (
    GAMMA,
    all_decisions,
    assert_same_decisions,
    reference,
    several_tasks,
)
from tests.published import transfer, uoct

SIZES = {1: (11,), 2: (7, 12), 3: (9, 12, 7)}
KERNELS = ("linear", "rbf")
EXACT = {"gamma": GAMMA, "tol": 1e-7}

new = np.random.default_rng(99).normal(1.5, 1.5, size=(30, 3))


def compare(model: Any, points: Any, tasks: Any, own: Any, costs: Any, masses: Any = None) -> None:
    value, decisions = reference(points, tasks, new, model.kernel, own, costs, masses)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert_same_decisions(all_decisions(model, new), decisions)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_tasks", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_separate_parameters(n_tasks: int, kernel: str, weighted: bool) -> None:
    X, domain = several_tasks(n_tasks, SIZES[n_tasks])
    tasks = domain + 1
    random = np.random.default_rng(n_tasks)
    weights = random.uniform(0.3, 2.0, size=len(X)) if weighted else np.ones(len(X))
    mass = 0.4 if weighted else 1.0
    model = transfer(
        nu=0.31,
        source_nu=0.23,
        coupling=0.7,
        source_coupling=2.5,
        source_weight=mass,
        kernel=kernel,
        **EXACT,
    )
    model.fit(X, sample_weight=weights if weighted else None, sample_domain=domain)
    sources = n_tasks - 1
    own = [0.7] + sources * [2.5]
    masses = np.array([1.0] + sources * [mass])
    shares = np.array([0.31] + sources * [0.23])
    costs = (masses / (shares * np.bincount(tasks, weights)))[tasks] * weights
    compare(model, X, tasks, own, costs, masses)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sources_of_different_mass(kernel: str) -> None:
    X, domain = several_tasks(5, SIZES[3])
    tasks = domain + 1
    model = transfer(nu=0.27, source_weight={0: 0.2, 1: 3.0}, kernel=kernel, **EXACT)
    model.fit(X, sample_domain=domain)
    masses = np.array([1.0, 0.2, 3.0])
    costs = (masses / (0.27 * np.bincount(tasks)))[tasks]
    compare(model, X, tasks, np.ones(3), costs, masses)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("n_tasks", "variant"), [(2, "pair"), (1, "multi"), (2, "multi"), (3, "multi")]
)
def test_tied_parameters(n_tasks: int, variant: str, kernel: str) -> None:
    X, domain = several_tasks(10 + n_tasks, SIZES[n_tasks])
    tasks = domain + 1
    model = uoct(
        C_source=0.3, C_target=0.4, variant=variant, radius=0.0, kernel=kernel, **EXACT
    ).fit(X, sample_domain=domain)
    costs = np.array([0.4] + (n_tasks - 1) * [0.3])
    compare(model, X, tasks, costs if variant == "pair" else costs / n_tasks, costs[tasks])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_tasks", SIZES)
def test_the_last_round_is_the_optimum_for_its_positions(n_tasks: int, kernel: str) -> None:
    X, domain = several_tasks(20 + n_tasks, SIZES[n_tasks])
    tasks = domain + 1
    model = transfer(
        nu=0.31, coupling=0.5, radius="knn", offset="shifted", kernel=kernel, **EXACT
    ).fit(X, sample_domain=domain)
    assert model.n_rounds_ >= 2
    costs = (1.0 / (0.31 * np.bincount(tasks)))[tasks]
    compare(model, X + model.shifts_, tasks, np.full(n_tasks, 0.5), costs)


def test_one_slack_per_task_not_one_for_all() -> None:
    # A single pooled equality is another problem: each task has mass 1, not all of them together.
    X, domain = several_tasks(0)
    model = uoct(C_source=0.3, C_target=0.4, radius=0.0, kernel="linear", **EXACT)
    model.fit(X, sample_domain=domain)
    of_task = domain[model.support_] + 1
    alpha = 2.0 * model.task_dual_coef_[of_task, np.arange(of_task.size)]
    alpha /= 1.0 + 1.0 / np.array([0.4, 0.3])[of_task]
    np.testing.assert_allclose(np.bincount(of_task, alpha), [1.0, 1.0], rtol=1e-9)
