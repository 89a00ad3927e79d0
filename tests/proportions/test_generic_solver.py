"""Objective and decisions against a generic solver of the primal, in explicit features."""

import numpy as np
import pytest

from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM
from tests.proportions.samples import problem

KERNELS = ["linear", "rbf"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_common", [0, 6])
@pytest.mark.parametrize("transfer", [0.0, 1.0, 1e8])
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
def test_transfer_reaches_the_optimum_of_the_primal(kernel, n_common, transfer, epsilon):
    case = problem(kernel, n_common)
    model = TransferGroupProbabilitySVM(
        source=case.source,
        C_common=2.0,
        C_group=3.0,
        transfer=transfer,
        epsilon=epsilon,
        **case.settings(),
    ).fit(case.X, case.y, case.groups)
    primal = case.primal((2.0, 3.0), transfer, epsilon)
    best = primal.solve()
    # With a transfer of 1e8 the source's weights alone make up an objective of 1e8 |w - w_s|^2,
    # which the interior-point method knows less well.
    assert model.objective_ == pytest.approx(best, rel=1e-6 if transfer > 1e6 else 1e-8)
    expected = case.shown_features @ primal.weights.value + primal.offsets.value
    np.testing.assert_allclose(model.decision_function(case.shown), expected, atol=1e-5)
    assert model.dual_gap_ < 1e-9
    assert model.kkt_violation_ < 1e-9


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cost", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
def test_group_probability_reaches_the_optimum_of_the_primal(kernel, cost, epsilon):
    case = problem(kernel, 0)
    model = GroupProbabilitySVM(C=cost, epsilon=epsilon, tol=1e-9, **case.settings())
    model.fit(case.X, case.y, case.groups)
    primal = case.absolute_primal(cost, epsilon)
    best = primal.solve()
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    expected = case.shown_features @ primal.weights.value
    found = model.decision_function(case.shown) - model.intercept_
    # Without the offset, which may be any of an interval.
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert primal.value_at(primal.weights.value, model.intercept_) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_a_source_the_transfer_counts_for_nothing(kernel):
    case = problem(kernel, 0)
    settings = {"C_group": 3.0, "epsilon": 0.03, **case.settings()}
    models = [
        TransferGroupProbabilitySVM(transfer=transfer, **settings).fit(case.X, case.y, case.groups)
        for transfer in (0.0, 1.0, 100.0)
    ]
    best = case.primal((1.0, 3.0), 0.0, 0.03).solve()
    for model in models:
        assert model.objective_ == pytest.approx(best, rel=1e-8)
        np.testing.assert_array_equal(
            model.decision_function(case.shown), models[0].decision_function(case.shown)
        )


def test_common_rows_alone():
    # d = 0: a ridge regression of the source's scores, drawn to the source.
    case = problem("linear", 8)
    common = case.groups == -1
    model = TransferGroupProbabilitySVM(
        source=case.source, kernel="linear", C_common=2.0, transfer=0.5
    ).fit(case.X[common], case.y[common], case.groups[common])
    from sklearn.linear_model import Ridge

    scores = case.source.decision_function(case.X[common])
    pull = 0.5 / 1.5
    coef = case.source.coef_[0]
    ridge = Ridge(alpha=1.5 / 2.0).fit(case.X[common], scores - pull * case.X[common] @ coef)
    np.testing.assert_allclose(model.coef_[0], ridge.coef_ + pull * coef, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_clip_is_kept_from_pure_groups(kernel):
    case = problem(kernel, 0)
    wide = TransferGroupProbabilitySVM(clip=0.4, epsilon=0.0, **case.settings())
    wide.fit(case.X, case.y, case.groups)
    from tests.oracles.proportions import transfer_group_probability

    q = np.clip(case.share, 0.4, 0.6)
    primal = transfer_group_probability(
        case.common, case.means, (case.weights, 0.0), np.log(q / (1 - q)), 0 * q, (1.0, 1.0), 0.0
    )
    assert wide.objective_ == pytest.approx(primal.solve(), rel=1e-8)
