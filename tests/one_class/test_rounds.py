"""The rounds: the objective never rises with the safeguard, and may without it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scarce import TransferOneClassSVM
from tests.one_class.samples import several_tasks
from tests.published import transfer

KERNELS = (
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 1.5},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.3},
    {"kernel": "poly", "degree": 2, "gamma": 0.5},
)


@pytest.mark.filterwarnings("ignore:max_rounds=12", "ignore:The solution is trivial")
@pytest.mark.parametrize("seed", range(50))
def test_the_objective_never_rises(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = tuple(random.integers(3, 25, size=random.integers(1, 4)))
    X, domain = several_tasks(seed, sizes, centre=random.choice([0.0, 1.5]))
    model = transfer(
        nu=random.uniform(0.05, 0.9),
        coupling=10.0 ** random.uniform(-2, 2),
        round_tol=0.0,
        max_rounds=12,
        tol=1e-8,
        **KERNELS[seed % len(KERNELS)],
    )
    radii = random.uniform(0.0, 2.0, size=len(X))
    model.fit(X, sample_domain=domain, sample_radius=radii)
    values = np.array(model.history_["objective"])
    assert np.all(np.diff(values) <= 1e-7 * np.abs(values[1:]) + 1e-12)
    assert np.all(np.linalg.norm(model.shifts_, axis=1) <= radii * (1 + 1e-12))


def narrow(safeguard: bool) -> TransferOneClassSVM:
    """Return a model of rows that may move by more than the width of the kernel."""
    X, domain = several_tasks(0)
    model = transfer(
        nu=0.3, gamma=1.5, radius=2.0, safeguard=safeguard, max_rounds=8, round_tol=0.0, tol=1e-8
    )
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, sample_domain=domain)


def test_without_the_safeguard_it_may_rise() -> None:
    values = np.array(narrow(safeguard=False).history_["objective"])
    assert np.diff(values).max() > 0.01 * abs(values).max()
    guarded = narrow(safeguard=True).history_
    assert guarded["objective"][0] == pytest.approx(values[0])
    assert guarded["objective"][-1] < values[-1]
    assert sum(guarded["halvings"]) > 0


def test_the_guard_does_nothing_for_a_linear_kernel() -> None:
    # The step is the exact minimiser.
    X, domain = several_tasks(1)
    models = [
        transfer(kernel="linear", radius=0.5, safeguard=guard).fit(X, sample_domain=domain)
        for guard in (True, False)
    ]
    assert models[0].history_ == models[1].history_
    assert models[0].history_["objective"][1] < models[0].history_["objective"][0]
    np.testing.assert_array_equal(models[0].shifts_, models[1].shifts_)


def test_linear_shifts_are_along_the_plane_of_the_row() -> None:
    X, domain = several_tasks(2)
    radii = np.linspace(0.0, 1.0, len(X))
    model = transfer(kernel="linear", round_tol=1e-9, max_rounds=300)
    model.fit(X, sample_domain=domain, sample_radius=radii)
    weight_vectors = model.task_dual_coef_ @ model.support_vectors_
    weight_vectors /= np.linalg.norm(weight_vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(
        model.shifts_, radii[:, None] * weight_vectors[domain + 1], atol=1e-3
    )


def test_kernel_shifts_are_along_the_gradient_of_the_score() -> None:
    # Of the first weight vectors, at the recorded rows; the second round has moved to there.
    X, domain = several_tasks(3)
    first = transfer(gamma=0.3, tol=1e-9).fit(X, sample_domain=domain)
    step = 1e-6
    slopes = np.array(
        [
            first.score_samples(X + step * axis, sample_domain=domain)
            - first.score_samples(X - step * axis, sample_domain=domain)
            for axis in np.eye(3)
        ]
    ).T
    expected = 0.2 * slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    moved = transfer(
        gamma=0.3, radius=0.2, max_rounds=2, tol=1e-9, safeguard=False, round_tol=1.0
    ).fit(X, sample_domain=domain)
    np.testing.assert_allclose(moved.shifts_, expected, atol=1e-6)


def test_history() -> None:
    X, domain = several_tasks(4)
    model = transfer(radius="knn").fit(X, sample_domain=domain)
    assert set(model.history_) == {"objective", "moved", "halvings", "n_iter"}
    assert {len(values) for values in model.history_.values()} == {model.n_rounds_}
    assert model.n_rounds_ > 1
    assert model.history_["objective"][-1] == model.objective_
    assert model.history_["moved"][:2] == [0.0, 1.0]
    assert sum(model.history_["n_iter"]) == model.n_iter_
    assert model.converged_


def test_one_round_without_radii() -> None:
    X, domain = several_tasks(4)
    model = transfer(max_rounds=1).fit(X, sample_domain=domain)
    assert model.converged_
    assert model.n_rounds_ == 1
    assert model.shifts_ is None
    np.testing.assert_array_equal(model.radii_, np.zeros(len(X)))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_last_allowed_round_is_said(kernel: str) -> None:
    X, domain = several_tasks(5)
    model = transfer(kernel=kernel, radius=0.5, max_rounds=1)
    with pytest.warns(ConvergenceWarning, match=r"max_rounds=1 ended.*round_tol=0.001") as caught:
        model.fit(X, sample_domain=domain)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.n_rounds_ == 1
    np.testing.assert_array_equal(model.shifts_, np.zeros(X.shape))


def test_a_fixed_point_ends_the_rounds() -> None:
    # round_tol = 0 is met: comparisons are not strict, and rows that stay end the rounds.
    X, _ = several_tasks(6)
    model = transfer(kernel="linear", radius=0.5, round_tol=0.0, nu=0.3).fit(X)
    assert model.converged_


def test_a_lone_row_has_nowhere_to_go() -> None:
    # The gradient of its own bump is zero where it stands.
    model = transfer(nu=1.0, radius=0.5, gamma=1.0).fit([[1.0, 2.0]])
    assert model.converged_
    np.testing.assert_array_equal(model.shifts_, [[0.0, 0.0]])
