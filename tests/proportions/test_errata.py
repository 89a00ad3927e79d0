"""The corrected form on its own terms: what the printed dual gets wrong must show.

6 common rows, 7 groups of 4 rows in three features, C_1 = 2, C_2 = 3, lambda = 0.7. Each misprint
is put back into a generic solver of the dual. The figures are those of the theory page's errata.
"""

import cvxpy as cp
import numpy as np
import pytest

from tests.oracles.convex import minimise
from tests.proportions.published import TransferGroupProbabilitySVM

C_COMMON, C_GROUP, TRANSFER = 2.0, 3.0, 0.7
N_COMMON, N_GROUPS, SIZE = 6, 7, 4
SHRINK = 1 / (1 + TRANSFER)
TOGETHER = ("bounded", "box", "signs", "half")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_COMMON + N_GROUPS * SIZE, 3))
    groups = np.concatenate([np.full(N_COMMON, -1), np.repeat(np.arange(N_GROUPS), SIZE)])
    share = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 0.25, 0.75])
    y = np.concatenate([np.full(N_COMMON, np.nan), np.repeat(share, SIZE)])
    return X, y, groups, share, (np.array([0.8, -0.5, 0.3]), 0.1)


def fitted(data, **settings):
    X, y, groups, _, source = data
    settings = {"C_common": C_COMMON, "C_group": C_GROUP, "transfer": TRANSFER, **settings}
    model = TransferGroupProbabilitySVM(
        source=source, kernel="linear", epsilon=0.02, clip=0.05, **settings
    )
    return model.fit(X, y, groups)


def blocks(data):
    """Rows of the three parts, wanted scores, tubes, and the source's scores without offset."""
    X, _, groups, share, (coef, _) = data
    means = np.array([X[groups == k].mean(axis=0) for k in range(N_GROUPS)])
    common = X[groups == -1]
    q = np.clip(share, 0.05, 0.95)
    return common, means, np.log(q / (1 - q)), 0.02 / (q * (1 - q)), common @ coef, means @ coef


def printed_dual(data, *misprints, costs=(C_COMMON, C_GROUP)):
    """Solve the dual with some of the misprints in it: the primal value, and the three parts."""
    common, means, z, tube, at_common, at_means = blocks(data)
    coef, offset = data[4]
    crossing = -1.0 if "signs" in misprints else 1.0
    rows = np.vstack([crossing * common, means, -means])
    K = rows @ rows.T * SHRINK * (0.5 if "half" in misprints else 1.0)
    K += np.diag(np.repeat([1 / costs[0], 1 / costs[1]], [N_COMMON, 2 * N_GROUPS]))
    g = TRANSFER * SHRINK * at_means
    linear = np.concatenate([-SHRINK * at_common - offset, tube - z + g, tube + z - g])
    side = np.repeat([1.0, 1.0, -1.0], [N_COMMON, N_GROUPS, N_GROUPS])
    beta = cp.Variable(side.size)
    limits = [side @ beta == 0, beta[N_COMMON:] >= 0]
    limits += [beta[:N_COMMON] >= 0] if "bounded" in misprints else []
    limits += [beta <= max(costs)] if "box" in misprints else []
    value = minimise(0.5 * cp.quad_form(beta, cp.psd_wrap(K)) + linear @ beta, limits)
    theta = np.concatenate(
        [beta.value[:N_COMMON], beta.value[N_COMMON:][:N_GROUPS] - beta.value[-N_GROUPS:]]
    )
    return -(value - TRANSFER * SHRINK / 2 * coef @ coef), beta.value, theta


def test_the_corrected_dual_has_the_value_of_the_fit(data):
    model = fitted(data)
    value, _, theta = printed_dual(data)
    assert value == pytest.approx(23.545225, rel=1e-7)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    found = np.concatenate([model.common_dual_coef_[0], model.group_dual_coef_[0]])
    np.testing.assert_allclose(found, theta, atol=1e-6)
    assert found.sum() == pytest.approx(0.0, abs=1e-12)


def test_multipliers_of_common_rows_are_free(data):
    model = fitted(data)
    _, beta, _ = printed_dual(data)
    reach = [beta[:N_COMMON].min(), beta[:N_COMMON].max()]
    np.testing.assert_allclose(reach, [-1.144, 2.946], atol=1e-3)
    found = model.common_dual_coef_
    np.testing.assert_allclose([found.min(), found.max()], reach, atol=1e-6)
    value, _, _ = printed_dual(data, "bounded")
    assert value == pytest.approx(21.926420, rel=1e-7)


def test_there_is_no_upper_bound(data):
    small = {"C_common": 0.05, "C_group": 0.05}
    model = fitted(data, **small)
    value, beta, _ = printed_dual(data, costs=(0.05, 0.05))
    assert value == pytest.approx(0.685409, abs=1e-6)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    assert np.abs(beta).max() == pytest.approx(0.1299, abs=1e-4)
    assert np.abs(model.group_dual_coef_).max() == pytest.approx(np.abs(beta).max(), abs=1e-6)
    boxed, _, _ = printed_dual(data, "box", costs=(0.05, 0.05))
    assert boxed == pytest.approx(0.564032, abs=1e-6)


@pytest.mark.parametrize(
    ("misprints", "expected"),
    [(("signs",), 20.357446), (("half",), 24.462935), (TOGETHER, 17.576161)],
)
def test_other_misprints_change_the_value(data, misprints, expected):
    value, _, _ = printed_dual(data, *misprints)
    assert value == pytest.approx(expected, rel=1e-7)


def test_every_common_row_and_active_group_gives_the_offset(data):
    model = fitted(data)
    common, means, z, tube, at_common, _ = blocks(data)
    w = model.coef_[0]
    from_rows = at_common + 0.1 - model.common_dual_coef_[0] / C_COMMON - common @ w
    np.testing.assert_allclose(from_rows, model.intercept_[0], atol=1e-12)
    gamma = model.group_dual_coef_[0]
    active = gamma != 0
    assert active.sum() >= 3
    side = np.sign(gamma)
    from_groups = (z - side * tube - gamma / C_GROUP - means @ w)[active]
    np.testing.assert_allclose(from_groups, model.intercept_[0], atol=1e-11)
    assert model.intercept_spread_[0] < 1e-11
    assert model.intercept_[0] == pytest.approx(-0.333589, abs=1e-6)
    # The printed formula leaves out tube and slack, and its values are far apart.
    printed = z - means @ w
    np.testing.assert_allclose([printed.min(), printed.max()], [-2.811, 1.811], atol=1e-3)
