"""Cases in which a claim was false once: each is a few lines, and must stay true."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import scarce
from tests.attack.fitting import RefusedError, claims_of, fit
from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import Recipe


def true_violation(K, alpha, upper, signs=None):
    """Return ``m - M`` of multipliers of one equality, with ``alpha >= 0`` unsigned."""
    y = np.ones(len(alpha)) if signs is None else signs
    linear = 0.0 if signs is None else -1.0
    pull = -y * (y * (K @ (y * alpha)) + linear)
    below, above = alpha < upper * (1 - 1e-10), alpha > upper * 1e-10
    grows, shrinks = np.where(y > 0, below, above), np.where(y > 0, above, below)
    return max(0.0, pull[grows].max() - pull[shrinks].min())


# Far clusters: float32 errs where rows are far out, wherever they stand.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", ["first", "last"])
def test_far_cluster_of_one_class(place, dtype):
    X = np.random.default_rng(0).normal(size=(10_000, 20))
    far = slice(0, 100) if place == "first" else slice(9900, 10_000)
    X[far] *= 0.1
    X[far, 0] += 1000.0
    X = X.astype(dtype)
    model = scarce.OneClassSVM(nu=0.1, gamma=0.15)
    warned = fit(model, X)
    rows = X.astype(np.float64)
    alpha, scores = np.zeros(len(X)), np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0]
    for start in range(0, len(X), 1000):
        tile = slice(start, start + 1000)
        squares = cdist(rows[tile], rows[model.support_], "sqeuclidean")
        scores[tile] = np.exp(-0.15 * squares) @ model.dual_coef_[0]
    violation = scores[alpha > 1e-10].max() - scores[alpha < 1 - 1e-10].min()
    assert model.kkt_violation_ >= violation - 0.01 * model.tol
    assert violation <= model.tol * (1 + 1e-6) or warned


FAR = Recipe(n=3000, d=20, cluster=0.01, distance=1000.0, tight=0.1, offset=0.0, gamma=0.15)


@pytest.mark.parametrize(
    "name", ["SVC", "NuSVC", "TransferOneClassSVM", "UOCTSVM", "SVC, nystroem"]
)
@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("single", [False, True])
def test_far_cluster_of_other_machines(name, place, single):
    recipe = replace(FAR, place=place, single=single, seed=1)
    assert attack(MACHINES[name], recipe).complaints == []


# A tolerance that is larger than the offset says nothing; the duality gap does.


@pytest.mark.parametrize("n", [2000, 20_000])
def test_tolerance_larger_than_the_offset(n):
    X = np.random.default_rng(0).normal(size=(n, 5))
    model = scarce.OneClassSVM(
        nu=0.01, gamma=1.0, tol=1.0, approximation="nystroem", n_components=50, random_state=0
    )
    warned = fit(model, X)
    assert warned or model.dual_gap_ <= model.tol
    model.set_params(tol=1e-2)
    assert fit(model, X) or model.dual_gap_ <= model.tol


def test_tolerance_larger_than_the_offset_of_a_narrow_kernel():
    X = np.random.default_rng(0).normal(size=(300, 5))
    model = scarce.OneClassSVM(nu=0.01, gamma=100.0, tol=1e-2)
    assert fit(model, X) or model.dual_gap_ <= model.tol


# Kernels that are none: a gap of zero proves nothing.

INDEFINITE = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.0, 3.0, 0.0]])


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]])
def test_no_gap_is_claimed_for_an_indefinite_matrix(order):
    K = INDEFINITE[np.ix_(order, order)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = scarce.OneClassSVM(kernel="precomputed", nu=2 / 3).fit(K)
    assert np.isnan(model.dual_gap_)


def test_negative_curvature_is_told():
    with pytest.warns(UserWarning, match="precomputed"):
        scarce.OneClassSVM(kernel="precomputed", nu=2 / 3).fit(INDEFINITE)


def test_negative_curvature_of_squared_slacks_is_told():
    # Linear systems in place of pairwise steps: one that is not definite tells.
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scarce.TransferGroupProbabilitySVM(kernel="sigmoid", gamma=1.0).fit(X, y)
    assert any("kernel='sigmoid' is not positive" in str(each.message) for each in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scarce.TransferGroupProbabilitySVM(kernel="rbf", gamma=1.0).fit(X, y)


@pytest.mark.parametrize("machine", [scarce.OneClassSVM, scarce.SVC, scarce.GroupProbabilitySVM])
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "sigmoid", "gamma": 1.0},
        {"kernel": lambda a, b: a @ b.T},
        {"kernel": "poly", "coef0": -1.0, "degree": 2},
    ],
    ids=["sigmoid", "callable", "poly"],
)
def test_no_gap_is_claimed_where_definiteness_is_not_certain(machine, parameters):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = machine(**parameters).fit(X, (X[:, 0] > 0).astype(int))
    assert np.isnan(model.dual_gap_)


# Weights over many decades: the equality must hold.


@pytest.mark.parametrize("seed", range(8))
def test_equality_with_weights_over_many_decades(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3)) + 1.0
    y = np.where(random.random(60) < 0.5, -1.0, 1.0)
    weights = 10.0 ** random.uniform(-8, 8, size=60)
    model = scarce.SVC(kernel="poly", gamma=1.0)
    warned = fit(model, X, y, sample_weight=weights)
    signed = model.dual_coef_[0]
    assert warned or abs(signed.sum()) <= 1e-9 * np.abs(signed).sum()


def test_equality_of_guessed_labels_with_weights_over_many_decades():
    recipe = Recipe(
        seed=30, n=30, d=5, decades=16.0, csr=True, kernel="poly", gamma=1.0, coef0=-0.5,
        place="first", share=0.9, cost=100.0, tol=1e-5,
    )  # fmt: skip
    found = attack(MACHINES["TransductiveSVM"], recipe).complaints
    assert not [words for words in found if "infeasible" in words]


def test_weights_whose_squares_overflow():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for weights in (np.full(20, 1e300), np.r_[1e300, np.ones(19)]):
        for model, y in ((scarce.OneClassSVM(), None), (scarce.SVC(), np.arange(20) % 2)):
            refusal = None
            try:
                fit(model, X, y, sample_weight=weights)
            except RefusedError as error:
                refusal = str(error)
            if refusal is None:
                assert np.isfinite(model.decision_function(X)).all()
                assert np.isfinite([model.objective_, model.kkt_violation_]).all()
            else:
                assert "sample_weight" in refusal


# Sparse rows far from the origin: the distances are lost in the norms.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_far_from_the_origin(dtype):
    random = np.random.default_rng(0)
    X = (random.normal(size=(400, 3)) + 1e5).astype(dtype)
    model = scarce.OneClassSVM(nu=0.1, gamma=0.3, tol=1e-5)
    warned = fit(model, sparse.csr_array(X))
    K = np.exp(-0.3 * cdist(X.astype(float), X.astype(float), "sqeuclidean"))
    alpha = np.zeros(400)
    alpha[model.support_] = model.dual_coef_.toarray()[0]
    violation = true_violation(K, alpha, np.ones(400))
    assert model.kkt_violation_ >= violation - 0.01 * model.tol
    assert warned or violation <= model.tol * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sparse_rows_on_the_boundary_are_inside(seed):
    X = np.random.default_rng(seed).normal(size=(200, 2)) + 1e6
    model = scarce.OneClassSVM(nu=0.1, gamma=0.5)
    fit(model, sparse.csr_array(X))
    assert np.mean(model.predict(sparse.csr_array(X)) < 0) <= 0.1 + 1e-12


@pytest.mark.parametrize("single", [False, True])
def test_sparse_scale_far_from_the_origin(single):
    # gamma="scale" is 1 / (n_features * variance), sparse or dense.
    recipe = Recipe(seed=660, n=300, offset=1e4, single=single, csr=True, gamma="scale")
    assert attack(MACHINES["OneClassSVM"], recipe).complaints == []


# A hard margin, and machines that have none.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_hard_margin_has_a_finite_gap_or_says_so(kernel, seed):
    random = np.random.default_rng(seed)
    X = np.r_[random.normal(size=(50, 2)), random.normal(size=(50, 2)) + 6.0]
    y = np.repeat([0, 1], 50)
    model = scarce.SVC(C=np.inf, kernel=kernel, gamma=0.1)
    if fit(model, X, y):
        assert model.fit_status_ == 1
        return
    assert model.fit_status_ == 0
    # Weights scaled up until every margin is one are feasible; the multipliers bound them.
    signed = np.zeros(100)
    signed[model.support_] = model.dual_coef_[0]
    K = X @ X.T if kernel == "linear" else np.exp(-0.1 * cdist(X, X, "sqeuclidean"))
    scores = K @ signed
    width = scores[y == 1].min() - scores[y == 0].max()
    primal = 0.5 * (signed @ scores) * (2.0 / width) ** 2
    dual = np.abs(signed).sum() - 0.5 * signed @ scores
    assert np.isfinite(model.dual_gap_)
    assert model.dual_gap_ >= (primal - dual) / primal - 0.01 * model.tol
    assert model.dual_gap_ <= model.tol * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_tensor_machines_do_not_claim_what_they_missed(seed):
    random = np.random.default_rng(seed)
    X = 3.0 * random.normal(size=(30, 3, 4))
    y = np.arange(30) % 2
    for C in (1.0, 1e3):
        model = scarce.STM(C=C)
        claims = claims_of(model, fit(model, X, y))
        assert claims.violation <= claims.tol or (claims.warned and claims.status == 1)


def test_objective_where_rows_have_both_multipliers():
    recipe = Recipe(
        seed=2516, n=67, d=20, cluster=0.25, distance=31.622776601683793, tight=1.0, offset=0.0,
        decades=1.0, csr=True, ties=True, gamma=1000.0, share=0.5, cost=100.0, tol=1e-3,
    )  # fmt: skip
    assert attack(MACHINES["NuSVR"], recipe).complaints == []


def test_sums_through_landmarks_are_rounded():
    """Weights of 1e9 on values next to 1: the bound of their sum's rounding was a fifth of it."""
    recipe = Recipe(
        seed=706, n=1606, d=2, cluster=0.5, distance=316.22776601683796, place="scattered",
        offset=0.0, decades=16.0, single=True, gamma=1e-8, cost=1.0, tol=1e-5,
    )  # fmt: skip
    assert attack(MACHINES["SVC, nystroem"], recipe).complaints == []


def test_slacks_of_a_high_cost_count():
    recipe = Recipe(
        seed=464, n=41, d=1, cluster=0.1, distance=1e6, place="first", decades=4.0, single=True,
        kernel="linear", gamma=0.3, share=0.3, cost=0.01, tol=0.01,
    )  # fmt: skip
    assert attack(MACHINES["STM"], recipe).complaints == []
