"""What large samples use: a kernel of low rank, and linear rows that are moved without a copy."""

from typing import Any

import numpy as np
import pytest

from tests.one_class.samples import all_decisions, several_tasks
from tests.published import transfer


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("radius", [0.0, "knn"])
def test_as_many_landmarks_as_rows_are_exact(kernel: str, radius: Any) -> None:
    X, domain = several_tasks(0, (12, 30, 20))
    shared = {"kernel": kernel, "radius": radius, "nu": 0.23, "tol": 1e-6}
    exact = transfer(**shared).fit(X, sample_domain=domain)
    full = transfer(approximation="nystroem", n_components=62, random_state=0, **shared)
    full.fit(X, sample_domain=domain)
    assert full.objective_ == pytest.approx(exact.objective_, rel=1e-3)
    expected = all_decisions(exact, X)
    np.testing.assert_allclose(all_decisions(full, X), expected, atol=1e-3 * np.ptp(expected))


def test_few_landmarks_reject_the_share_nu() -> None:
    X, domain = several_tasks(1, (60, 200))
    model = transfer(
        nu=0.1,
        source_nu=0.3,
        radius="knn",
        approximation="nystroem",
        n_components=20,
        random_state=0,
    ).fit(X, sample_domain=domain)
    assert model.support_.size == 20
    rejected = model.predict(X, sample_domain=domain) < 0
    for each, share in ((-1, 0.1), (0, 0.3)):
        task = domain == each
        assert rejected[task].mean() == pytest.approx(share, abs=1.5 / task.sum())
    values = np.array(model.history_["objective"])
    assert values[-1] < values[0]


@pytest.mark.parametrize("safeguard", [True, False])
def test_linear_rounds_equal_the_general_ones(safeguard: bool) -> None:
    # A polynomial of degree 1 is the linear kernel, moved row by row.
    X, domain = several_tasks(2, (12, 30, 20))
    shared = {"radius": "knn", "nu": 0.23, "tol": 1e-8, "safeguard": safeguard}
    linear = transfer(kernel="linear", **shared).fit(X, sample_domain=domain)
    general = transfer(kernel="poly", degree=1, gamma=1.0, **shared)
    general.fit(X, sample_domain=domain)
    np.testing.assert_allclose(
        linear.history_["objective"], general.history_["objective"], rtol=1e-6
    )
    np.testing.assert_allclose(linear.shifts_, general.shifts_, atol=1e-4)
    expected = all_decisions(general, X)
    np.testing.assert_allclose(all_decisions(linear, X), expected, atol=1e-4 * np.ptp(expected))
    weight_vectors = linear.task_dual_coef_ @ linear.support_vectors_
    np.testing.assert_allclose(linear.task_coef_, weight_vectors, rtol=1e-9)
    np.testing.assert_allclose(linear.coef_, linear.task_coef_[:1], rtol=1e-9)
