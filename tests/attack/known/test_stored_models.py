"""What is claimed is true of the model that is stored: in extended precision, by rationals."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import scarce

Long = np.longdouble
WHOLE = Fraction(1, 10**9)  # relative rounding of a share of the weight


def total(weights):
    """Return a sum without rounding."""
    return sum((Fraction(float(each)) for each in weights), Fraction(0))


def rejects_at_most(nu, outside, weights):
    return total(weights[outside]) <= Fraction(nu) * total(weights) * (1 + WHOLE)


def kernel_values(kernel, gamma, A, B):
    A, B = A.astype(Long), B.astype(Long)
    if kernel == "rbf":
        squares = sum((a[:, None] - b) ** 2 for a, b in zip(A.T, B.T, strict=True))
        return np.exp(-Long(gamma) * squares)
    products = A @ B.T
    return products if kernel == "linear" else (Long(gamma) * products + 1) ** 3


def sums_of(model, X, kernel, gamma):
    """Return scores without a constant, the coefficients and the squared norm of the plane."""
    coefficients = np.asarray(model.dual_coef_, Long)[0]
    scores = kernel_values(kernel, gamma, X, X[model.support_]) @ coefficients
    return scores, coefficients, coefficients @ scores[model.support_]


def normal_rows(n, d, seed=None, grid=False):
    X = np.random.default_rng(n + d if seed is None else seed).normal(size=(n, d))
    return np.round(2 * X) / 2 if grid else X


def weights_of(kind, n, seed=0):
    rng = np.random.default_rng([seed, n])
    return {
        "equal": np.ones(n),
        "uniform": rng.uniform(0.1, 1.1, size=n),
        "decades": 10.0 ** rng.uniform(-3, 3, size=n),
    }[kind]


# At most nu of the training weight is rejected.


@pytest.mark.parametrize("machine", [scarce.OneClassSVM, scarce.SVDD])
@pytest.mark.parametrize(
    ("n", "gamma", "nu", "kind", "grid"),
    [
        (3000, "scale", 0.001, "equal", False),
        (1500, 1.0, 0.01, "equal", False),
        (1500, 1.0, 0.04, "uniform", False),
        (700, 20.0, 0.5, "decades", False),
        (300, 1.0, 0.1, "equal", True),
        (300, 1.0, 0.1, "decades", True),
        (60, 0.05, 0.9, "uniform", False),
        (60, "scale", 0.05, "equal", False),
    ],
)
def test_one_class_machines_reject_at_most_nu(machine, n, gamma, nu, kind, grid):
    X, weights = normal_rows(n, 5, seed=3005, grid=grid), weights_of(kind, n)
    model = machine(nu=nu, gamma=gamma).fit(X, sample_weight=weights)
    assert model.fit_status_ == 0
    outside = model.predict(X) < 0
    assert rejects_at_most(nu, outside, weights)
    # The other half of the statement: support vectors have at least that weight.
    assert total(weights[model.support_]) >= Fraction(nu) * total(weights) * (1 - WHOLE)


@pytest.mark.parametrize("kind", ["equal", "uniform", "decades"])
@pytest.mark.parametrize("gamma", [0.5, 20.0])
@pytest.mark.parametrize("nu", [0.01, 0.3])
def test_every_task_rejects_at_most_its_nu(nu, gamma, kind):
    X, weights = normal_rows(400, 3), weights_of(kind, 400)
    domains = np.random.default_rng(1).integers(-1, 2, size=400)
    model = scarce.TransferOneClassSVM(
        nu=nu, source_nu=0.2, gamma=gamma, offset="original", relation="keep"
    )
    model.fit(X, sample_weight=weights, sample_domain=domains)
    outside = model.predict(X, sample_domain=domains) < 0
    for task, share in ((-1, nu), (0, 0.2), (1, 0.2)):
        own = domains == task
        assert rejects_at_most(share, outside[own], weights[own])


@pytest.mark.parametrize("kind", ["equal", "decades"])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_a_tensor_machine_rejects_at_most_nu(nu, kind):
    X, weights = 3.0 + normal_rows(80, 12).reshape(80, 4, 3), weights_of(kind, 80)
    model = scarce.OneClassSTM(nu=nu, rank=1, offset="training", random_state=0)
    model.fit(X, sample_weight=weights)
    assert rejects_at_most(nu, model.predict(X) < 0, weights)


@pytest.mark.parametrize("kind", ["equal", "decades"])
@pytest.mark.parametrize(("kernel", "nu"), [("linear", 0.01), ("rbf", 0.01), ("rbf", 0.3)])
def test_a_fit_by_chunks_rejects_at_most_nu(kernel, nu, kind):
    n = 3000
    X, weights = 2.0 + normal_rows(n, 5), weights_of(kind, n)
    known = {} if kernel == "linear" else {"approximation": "nystroem", "n_components": 60}
    model = scarce.OneClassSVM(kernel=kernel, gamma=0.2, nu=nu, random_state=0, **known)
    model.fit(scarce.chunks.ArrayChunks(X, sample_weight=weights, rows=700))
    assert model.n_reads_ > 1
    assert rejects_at_most(nu, model.predict(X) < 0, weights)


def two_classes(n, seed, kind):
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1, -1)
    return X, y, X[:, 0] + rng.normal(size=n), weights_of(kind, n, seed)


@pytest.mark.parametrize("kind", ["equal", "decades"])
@pytest.mark.parametrize(("n", "gamma", "tol"), [(100, 5.0, 1e-3), (700, 20.0, 1e-2)])
def test_nu_svc_has_at_most_nu_inside_the_margin(n, gamma, tol, kind):
    X, y, _, weights = two_classes(n, 0, kind)
    largest = 2.0 * min(weights[y > 0].sum(), weights[y < 0].sum()) / weights.sum()
    model = scarce.NuSVC(nu=0.8 * largest, gamma=gamma, tol=tol)
    model.fit(X, y, sample_weight=weights)
    sums, coefficients, _ = sums_of(model, X, "rbf", gamma)
    decisions = sums + Long(model.intercept_[0])
    rounding = 1e-13 * (np.abs(coefficients).sum() + abs(model.intercept_[0]))
    np.testing.assert_allclose(model.decision_function(X), decisions.astype(float), atol=rounding)
    for label in (-1, 1):  # half of it in either class
        inside = (y == label) & (y * decisions < 1 - rounding)
        assert total(weights[inside]) <= Fraction(model.nu) / 2 * total(weights) * (1 + WHOLE)
    assert total(weights[model.support_]) >= Fraction(model.nu) * total(weights) * (1 - WHOLE)


@pytest.mark.parametrize("kind", ["equal", "decades"])
@pytest.mark.parametrize(("n", "gamma", "nu", "C"), [(100, 5.0, 0.3, 1.0), (500, 1.0, 0.7, 100.0)])
def test_nu_svr_has_at_most_nu_outside_the_tube(n, gamma, nu, C, kind):
    X, _, targets, weights = two_classes(n, 1, kind)
    model = scarce.NuSVR(nu=nu, gamma=gamma, C=C, tol=1e-2).fit(X, targets, sample_weight=weights)
    sums, coefficients, _ = sums_of(model, X, "rbf", gamma)
    rest = targets - sums - Long(model.intercept_[0])
    rounding = 1e-13 * (np.abs(coefficients).sum() + np.abs(targets).max())
    for side in (-1, 1):
        outside = side * rest > Long(model.epsilon_) + rounding
        assert total(weights[outside]) <= Fraction(nu) / 2 * total(weights) * (1 + WHOLE)
    assert total(weights[model.support_]) >= Fraction(nu) * total(weights) * (1 - WHOLE)


# Gap and objective are those of the stored model, over wide boxes too.


def one_class_values(model, X, weights, kernel, gamma):
    scores, _, squared = sums_of(model, X, kernel, gamma)
    mass, rho = Long(model.nu) * weights.astype(Long).sum(), Long(model.offset_[0])
    slack = weights.astype(Long) @ np.maximum(rho - scores, 0)
    return (squared / 2 - rho * mass + slack) / mass**2, -squared / 2 / mass**2


def svc_values(model, X, y, weights, kernel, gamma):
    scores, coefficients, squared = sums_of(model, X, kernel, gamma)
    slacks = np.maximum(1 - y * (scores + Long(model.intercept_[0])), 0)
    primal = squared / 2 + model.C * weights.astype(Long) @ slacks
    return primal, np.abs(coefficients).sum() - squared / 2


def svr_values(model, X, targets, weights, kernel, gamma):
    scores, theta, squared = sums_of(model, X, kernel, gamma)
    slacks = np.abs(targets - scores - Long(model.intercept_[0])) - Long(model.epsilon)
    primal = squared / 2 + model.C * weights.astype(Long) @ np.maximum(slacks, 0)
    dual = targets[model.support_].astype(Long) @ theta - squared / 2
    return primal, dual - Long(model.epsilon) * np.abs(theta).sum()


def check_claims(model, primal, dual):
    """Ask that gap and objective are those of the primal and dual value found."""
    scale = max(abs(primal), abs(dual))
    gap = float((primal - dual) / scale)
    assert model.dual_gap_ >= gap - 1e-2 * model.tol
    met = model.dual_gap_ <= model.tol and model.kkt_violation_ <= model.tol
    assert (model.fit_status_ == 0) == met
    # What rounding of a slope is worth over a wide box is part of the gap, and not known.
    assert abs(model.objective_ - float(primal)) <= max(model.dual_gap_, 1e-9) * float(scale)
    assert model.objective_ >= float(dual - 1e-9 * scale)


def wide_case(seed):
    """Draw a sample in which one weight, three or none is like the others."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([30, 60, 115, 129, 200, 436])), int(rng.choice([1, 2, 5]))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = np.round(2 * X) / 2
    X += rng.choice([0, 3])
    kernel, gamma = str(rng.choice(["rbf", "linear", "poly"])), float(rng.choice([0.05, 0.5, 5]))
    weights, kind = np.ones(n), rng.integers(3)
    if kind == 0:
        weights[rng.integers(n)] = 10.0 ** rng.integers(2, 9)
    elif kind == 1:
        weights = 10 ** rng.uniform(-8, 8, n)
    else:
        weights[rng.integers(n, size=3)] = 10.0 ** rng.integers(2, 9, 3)
    tol = float(rng.choice([1e-3, 1e-2, 1e-5]))
    y = np.where(X[:, 0] + rng.normal(size=n) > np.median(X[:, 0]), 1, -1)
    y[:2] = [1, -1]
    targets = X[:, 0] + rng.normal(size=n)
    cost, nu = float(rng.choice([1, 100])), float(rng.choice([0.3, 0.01, 1e-6]))
    given = {"kernel": kernel, "gamma": gamma, "coef0": 1.0, "tol": tol, "max_iter": 300_000}
    return X, y, targets, weights, cost, nu, given, (kernel, gamma)


@pytest.mark.parametrize("seed", [5, 10, 16, 19, 20, 25, 37, 40])
def test_claims_over_wide_boxes_are_of_the_stored_model(seed):
    # Seed 20: 436 rows, one of weight 1e4 or so; the gap of the midpoint's model was 0.995.
    X, y, targets, weights, cost, nu, given, kernel = wide_case(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one_class = scarce.OneClassSVM(nu=nu, **given).fit(X, sample_weight=weights)
        svc = scarce.SVC(C=cost, **given).fit(X, y, sample_weight=weights)
        svr = scarce.SVR(C=cost, epsilon=0.1, **given).fit(X, targets, sample_weight=weights)
    if not (kernel[0] == "linear" and one_class.objective_ > -1e-12):  # nothing is optimal
        check_claims(one_class, *one_class_values(one_class, X, weights, *kernel))
    check_claims(svc, *svc_values(svc, X, y, weights, *kernel))
    check_claims(svr, *svr_values(svr, X, targets, weights, *kernel))


@pytest.mark.parametrize("kind", ["equal", "decades"])
def test_the_objective_of_tasks_is_of_their_stored_planes(kind):
    n, gamma, coupling, source_nu = 200, 0.5, 2.0, 0.3
    X, weights = normal_rows(n, 3), weights_of(kind, n)
    tasks = np.random.default_rng(1).integers(0, 3, size=n)
    model = scarce.TransferOneClassSVM(
        nu=0.1,
        source_nu=source_nu,
        coupling=coupling,
        gamma=gamma,
        offset="original",
        max_iter=30,
        relation="keep",
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, sample_weight=weights, sample_domain=tasks - 1)
    lines = np.asarray(model.task_dual_coef_, Long)
    among = kernel_values("rbf", gamma, X, X[model.support_])
    scores = (among @ lines.T)[np.arange(n), tasks]
    # A task's line holds ``(1 + [t = h] / m) / 2`` times the dual variables.
    own_part = (1 + 1 / Long(coupling)) / 2
    alpha = lines[tasks[model.support_], np.arange(model.support_.size)] / own_part
    squared = alpha @ scores[model.support_]
    offsets, primal = np.asarray(model.task_offset_, Long), squared / 2
    for task, nu in enumerate((0.1, source_nu, source_nu)):
        own = tasks == task
        slack = weights[own].astype(Long) @ np.maximum(offsets[task] - scores[own], 0)
        primal += slack / (Long(nu) * weights[own].astype(Long).sum()) - offsets[task]
    assert model.objective_ == pytest.approx(float(primal), rel=1e-9)
    gap = float((primal + squared / 2) / max(abs(primal), squared / 2))
    assert model.dual_gap_ == pytest.approx(gap, rel=1e-6)
    assert gap > 0.01  # or the dual value would do as well


@pytest.mark.parametrize("machine", [scarce.OneClassSVM, scarce.SVC])
def test_the_objective_of_a_fit_by_chunks_is_of_its_stored_plane(machine):
    n = 2000
    X = 2.0 + normal_rows(n, 4)
    y = np.where(X[:, 0] + np.random.default_rng(0).normal(size=n) > 2, 1, -1)
    weights = weights_of("uniform", n)
    chunks = scarce.chunks.ArrayChunks(X, rows=500, y=y, sample_weight=weights)
    model = machine(kernel="linear", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(chunks)
    plane = np.asarray(model.coef_, Long)[0]
    scores, squared, W = X.astype(Long) @ plane, plane @ plane, weights.astype(Long)
    if machine is scarce.SVC:
        primal = squared / 2 + W @ np.maximum(1 - y * (scores + Long(model.intercept_[0])), 0)
    else:
        rho, mass = Long(model.offset_[0]), Long(model.nu) * W.sum()
        primal = (squared / 2 - rho * mass + W @ np.maximum(rho - scores, 0)) / mass**2
    assert model.objective_ == pytest.approx(float(primal), rel=1e-9)
    assert model.dual_gap_ > 1e-6  # or the dual value would do as well


@pytest.mark.parametrize("seed", [0, 5, 7])
def test_a_violation_of_large_multipliers_on_small_values(seed):
    # Multipliers of 1e9 on kernel values of 1e-10: products and sums have to be in the bound.
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(26, 40)), np.where(rng.random(26) < 0.5, 1, -1)
    weights = 10.0 ** rng.uniform(-2, 2, size=26)
    model = scarce.SVC(C=2e10, kernel="poly", degree=6, gamma=1e-3)
    model.fit(X, y, sample_weight=weights)
    assert np.abs(model.dual_coef_).max() > 1e9
    assert model.kkt_violation_ >= rational_violation(model, X, y, weights)


def rational_violation(model, X, y, weights):
    """Return ``m - M`` of a polynomial of degree 6 without any rounding."""
    exact = [[Fraction(float(value)) for value in row] for row in X]
    gamma = Fraction(model.gamma)
    values = map(Fraction, model.dual_coef_[0].tolist())
    alpha = dict(zip(model.support_.tolist(), values, strict=True))
    kernel = {
        j: [(gamma * sum(a * b for a, b in zip(row, exact[j], strict=True))) ** 6 for row in exact]
        for j in alpha
    }
    m, M = [], []
    for i, label in enumerate(y.tolist()):
        wanted = label - sum(value * kernel[j][i] for j, value in alpha.items())
        size = label * alpha.get(i, Fraction(0))
        top = Fraction(model.C) * Fraction(float(weights[i]))
        room = Fraction(1, 10**10) * min(top, sum(map(abs, alpha.values())))
        below, above = size < top - room, size > room
        m += [wanted] * (below if label > 0 else above)
        M += [wanted] * (above if label > 0 else below)
    return float(max(m) - min(M))
