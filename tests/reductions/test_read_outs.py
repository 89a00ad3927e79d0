"""Every read-out's objective is that of its primal at the model read, computed with plain NumPy.

By weak duality no point has a lower primal than the dual's optimum: where the two meet, the
reduction, the solution and the read-out are right together.
"""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import scarce
from scarce.reductions import (
    BinaryHalfStep,
    NoMarginError,
    OneClassHalfStep,
    TaskParameters,
    augmented_rows,
    c_svc_program,
    deflated_margin_program,
    mean_shift,
    nu_svc_program,
    one_class_program,
    read_c_svc,
    read_deflated_margin,
    read_nu_svc,
    read_one_class,
    read_shares,
    read_source_tube,
    read_svdd,
    read_tasks,
    shares_program,
    source_share,
    source_tube,
    svdd_program,
    tasks_program,
)
from scarce.solvers import DenseMatrix, GramSystem, one_class_offset, solve, solve_tube

N = 24


def hinge(values):
    return np.maximum(values, 0.0)


@pytest.fixture(params=range(3))
def sample(request):
    """Return a kernel matrix, signs, weights and a random generator."""
    random = np.random.default_rng(request.param)
    X = random.normal(size=(N, 3)) + 1.0
    signs = np.where(np.arange(N) % 2, 1.0, -1.0)
    X[signs > 0] += 0.7
    return X @ X.T, signs, random.uniform(0.2, 2.0, N), random


def exactly(program):
    solution = solve(program, tol=1e-10)
    assert solution.kkt_violation <= 1e-9
    return solution


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_one_class(sample, nu):
    K, _, weights, _ = sample
    program = one_class_program(DenseMatrix(K), nu=nu, weights=weights)
    model = read_one_class(program, exactly(program))
    mass = nu * weights.sum()
    scores, rho = K @ model.coefficients / mass, model.offset / mass
    square = model.coefficients @ K @ model.coefficients / mass**2
    primal = square / 2 - rho + weights @ hinge(rho - scores) / mass
    assert model.objective == pytest.approx(primal, rel=1e-8)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_svdd(sample, nu):
    K, _, weights, _ = sample
    program = svdd_program(DenseMatrix(K), np.diag(K), nu=nu, weights=weights)
    model = read_svdd(program, exactly(program))
    b = model.coefficients
    square = b @ K @ b - model.offset  # R^2
    distances = np.diag(K) - 2.0 * K @ b + b @ K @ b
    primal = square + weights @ hinge(distances - square) / (nu * weights.sum())
    assert model.objective == pytest.approx(primal, rel=1e-8)


def test_c_svc(sample):
    K, signs, weights, _ = sample
    program = c_svc_program(DenseMatrix(K), signs, 0.5 * weights)
    model = read_c_svc(program, exactly(program))
    np.testing.assert_allclose(model.scores, K @ model.coefficients, atol=1e-9)
    slacks = hinge(1.0 - signs * (model.scores + model.intercept))
    primal = model.coefficients @ model.scores / 2 + 0.5 * weights @ slacks
    assert model.objective == pytest.approx(primal, rel=1e-8)


def test_nu_svc(sample):
    K, signs, weights, _ = sample
    nu, total = 0.6, weights.sum()
    program = nu_svc_program(DenseMatrix(K), signs, nu=nu, weights=weights)
    model = read_nu_svc(program, exactly(program))
    rho = model.unit_margin
    decisions = K @ model.coefficients + model.intercept
    square = rho**2 * model.coefficients @ K @ model.coefficients
    assert model.norm == pytest.approx(np.sqrt(square), rel=1e-6)
    slacks = rho * hinge(1.0 - signs * decisions)
    primal = square / 2 - nu * rho + weights @ slacks / total
    assert model.objective == pytest.approx(primal, rel=1e-6)


def test_nu_svc_refusals(sample):
    K, signs, *_ = sample
    with pytest.raises(ValueError, match=r"nu=0.9.*0 < nu <= 0.5"):
        nu_svc_program(DenseMatrix(K), np.r_[np.ones(6), -np.ones(18)], nu=0.9, weights=np.ones(N))
    program = nu_svc_program(DenseMatrix(np.ones((N, N))), signs, nu=0.5, weights=np.ones(N))
    with pytest.raises(NoMarginError, match=r"nu=0.5 leaves no margin"):
        read_nu_svc(program, exactly(program))


def test_tasks(sample):
    K, _, weights, _ = sample
    tasks = np.arange(N) % 3
    sizes = np.bincount(tasks, weights)
    parameters = TaskParameters(
        own=np.array([1.0, 0.3, 2.0]), costs=1.0 / (0.4 * sizes), masses=np.array([1.0, 0.5, 2.0])
    )
    program = tasks_program(DenseMatrix(K), tasks, weights, parameters)
    model = read_tasks(parameters, tasks, exactly(program))
    scores = (K[:, model.support] * model.coefficients[tasks]).sum(axis=1)
    np.testing.assert_allclose(model.scores, scores, atol=1e-9)
    # The shared part is what a task of its own, infinitely dear part would have.
    alpha = np.zeros(N)
    mixing = parameters.mixing[tasks[model.support], tasks[model.support]]
    own = model.coefficients[tasks[model.support], np.arange(model.support.size)]
    alpha[model.support] = own / mixing
    shared = 0.5 * alpha
    primal = shared @ K @ shared
    for t in range(3):
        part = np.where(tasks == t, alpha, 0.0) / (2.0 * parameters.own[t])
        rho = one_class_offset(scores[tasks == t], parameters.costs[t], weights[tasks == t])
        slack = weights[tasks == t] @ hinge(rho - scores[tasks == t])
        primal += parameters.own[t] * part @ K @ part
        primal += parameters.masses[t] * (parameters.costs[t] * slack - rho)
    assert model.objective == pytest.approx(primal, rel=1e-8)


@pytest.mark.parametrize("shifted", [False, True])
def test_augmented_rows_are_the_tasks_in_one_space(shifted):
    # Theorem 6: one weight vector of augmented rows is that of all tasks.
    random = np.random.default_rng(3)
    X, tasks = random.normal(size=(30, 4)) + 2.0, np.arange(30) % 3
    if shifted:
        X = X + 0.3 * random.normal(size=X.shape)
    parameters = TaskParameters(
        own=np.array([0.2, 1.5, 0.7]), costs=np.full(3, 0.25), masses=np.array([1.0, 0.5, 2.0])
    )
    Z = augmented_rows(X, tasks, parameters.own)
    assert Z.shape == (30, 16)
    same = tasks[:, None] == tasks
    mixing = 1.0 + same / parameters.own[tasks]
    np.testing.assert_allclose(Z @ Z.T, mixing * (X @ X.T), rtol=1e-12)
    joined = TaskParameters(own=np.full(3, 1e12), costs=parameters.costs, masses=parameters.masses)
    models = [
        read_tasks(p, tasks, exactly(tasks_program(DenseMatrix(K), tasks, np.ones(30), p)))
        for p, K in ((parameters, X @ X.T), (joined, Z @ Z.T))
    ]
    assert models[0].objective == pytest.approx(models[1].objective, rel=1e-8)
    np.testing.assert_allclose(models[0].scores, models[1].scores, rtol=1e-6)
    # Scores of other rows, of every task, by the one vector.
    new = random.normal(size=(5, 4)) + 2.0
    vector = Z[models[1].support].T @ models[1].coefficients[0]
    for t in range(3):
        by_tasks = new @ X[models[0].support].T @ models[0].coefficients[t]
        one_vector = augmented_rows(new, np.full(5, t), parameters.own) @ vector
        np.testing.assert_allclose(by_tasks, one_vector, rtol=1e-6)


def test_shares(sample):
    K, _, weights, random = sample
    targets, tubes = random.normal(size=N), random.uniform(0.0, 0.5, N)
    program = shares_program(DenseMatrix(K), targets, tubes, weights)
    model = read_shares(program, exactly(program))
    residuals = np.abs(targets - K @ model.coefficients - model.offset)
    square = model.coefficients @ K @ model.coefficients
    assert model.objective == pytest.approx(square / 2 + weights @ hinge(residuals - tubes))


@pytest.mark.parametrize("cost", [1e-170, 1.0, 1e160])
def test_offset_of_shares_at_costs_of_which_no_product_is_a_number(cost):
    targets, even = np.array([1.0, 1.2, 4.0]), DenseMatrix(np.ones((3, 3)), definite=True)
    program = shares_program(even, targets, np.zeros(3), np.full(3, cost))
    assert read_shares(program, solve(program)).offset == pytest.approx(1.2)  # the median


def test_tube_with_a_source(sample):
    K, _, weights, random = sample
    transfer, n_common, intercept = 3.0, 5, 0.7
    share, theirs = source_share(transfer), random.normal(size=N)  # w_s over the units
    scores, tubes = random.normal(size=N - n_common), np.full(N - n_common, 0.1)
    problem = source_tube(
        scores,
        tubes,
        weights,
        source_means=K @ theirs,
        source_intercept=intercept,
        share=share,
    )
    system = GramSystem((1.0 - share) * K)
    solution = solve_tube(system, problem.targets, problem.tubes, problem.costs, tol=1e-9)
    model = read_source_tube(problem, system, solution)
    ours = (1.0 - share) * solution.theta + share * theirs
    fitted = K @ ours + model.offset
    wanted = np.r_[(K @ theirs)[:n_common] + intercept, scores]
    outside = hinge(np.abs(wanted - fitted) - np.r_[np.zeros(n_common), tubes])
    primal = ours @ K @ ours / 2 + transfer / 2 * (ours - theirs) @ K @ (ours - theirs)
    primal += weights @ outside**2 / 2
    # The solver leaves out what does not depend on the part that is learnt.
    constant = share / 2 * theirs @ K @ theirs
    assert solution.objective + constant == pytest.approx(primal, rel=1e-6)


def test_deflated_margin(sample):
    K, signs, weights, _ = sample
    source, penalty = np.arange(N) < 16, 5.0
    shift = mean_shift(DenseMatrix(K), weights, source, penalty)
    labelled = np.flatnonzero(source)
    program = deflated_margin_program(
        DenseMatrix(K), shift, labelled, signs[labelled], weights[labelled]
    )
    model = read_deflated_margin(shift, labelled, program, exactly(program))
    scores = K @ model.coefficients
    means = [np.average(scores[part], weights=weights[part]) for part in (source, ~source)]
    assert model.mean_difference == pytest.approx(means[0] - means[1], abs=1e-9)
    slacks = hinge(1.0 - signs * (scores + model.intercept))[labelled]
    primal = model.coefficients @ scores / 2 + penalty / 2 * (means[0] - means[1]) ** 2
    assert model.objective == pytest.approx(primal + weights[labelled] @ slacks, rel=1e-8)


def test_half_steps(sample):
    K, signs, weights, _ = sample
    one = OneClassHalfStep(0.3, weights, norm=1.0)
    gram = DenseMatrix(K, definite=True)
    model = one.read(solve(one.program(gram), tol=1e-10), gram)
    rho = one_class_offset(K @ model.coefficients, one.cost, weights)
    slack = weights @ hinge(rho - K @ model.coefficients)
    square = model.coefficients @ K @ model.coefficients
    assert model.objective == pytest.approx(square / 2 - rho + one.cost * slack, rel=1e-9)
    two = BinaryHalfStep(0.5, signs, weights, norm=1.0)
    solution = solve(two.program(gram), tol=1e-10)
    assert two.read(solution, gram).objective == pytest.approx(-solution.objective, rel=1e-8)


def test_half_steps_are_judged_at_the_cost_that_was_asked():
    """Two equal tensors of two classes: at any cost both multipliers want to grow, by one each."""
    gram, signs = DenseMatrix(np.ones((2, 2)), definite=True), np.array([1.0, -1.0])
    step = BinaryHalfStep(1e14, signs, np.ones(2), norm=1.0)
    solution = solve(step.program(gram))
    np.testing.assert_array_equal(solution.alpha, [1e12, 1e12])  # the most that is solved for
    found = step.read(solution, gram)
    assert solution.status == "optimal"
    assert found.kkt_violation == pytest.approx(2.0)


def test_an_approximated_one_class_model_is_cut_by_its_own_scores():
    """The offset is the score at which the weight below reaches nu of all."""
    program = one_class_program(DenseMatrix(np.eye(10)), nu=0.35, weights=np.ones(10))
    scores = np.array([7.0, 3.0, 9.0, 1.0, 5.0, 8.0, 2.0, 6.0, 10.0, 4.0])
    assert read_one_class(program, solve(program), scores).offset == 4.0
    whole = one_class_program(DenseMatrix(np.eye(10)), nu=0.3, weights=np.ones(10))
    assert read_one_class(whole, solve(whole), scores).offset == 3.5
    heavy = one_class_program(
        DenseMatrix(np.eye(10)), nu=0.37, weights=np.where(scores == 1, 3.5, 1.0)
    )
    assert read_one_class(heavy, solve(heavy), scores).offset == 3.0  # 4.6 of 12.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_of_an_unfinished_nu_svc_is_that_of_its_model():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = np.where(X[:, 0] + random.normal(size=60) > 0, 1, -1)
    model = scarce.NuSVC(nu=0.5, gamma=0.5, max_iter=10).fit(X, y)
    rho = model.margin_ / 60
    coefficients = rho * model.dual_coef_[0]
    scores = rbf_kernel(X, X[model.support_], gamma=0.5) @ coefficients
    slacks = np.maximum(0.0, rho - y * (scores + rho * model.intercept_))
    value = coefficients @ scores[model.support_] / 2 - model.nu * rho + slacks.mean()
    assert model.dual_gap_ > 0.1
    assert model.objective_ == pytest.approx(value, rel=1e-9)
