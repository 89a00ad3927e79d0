"""The benchmarks' own check must accept good solutions and catch spoiled ones."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, NuSVC, OneClassSVM

from benchmarks.data import load
from benchmarks.engine import main
from benchmarks.peers import installed_peers
from benchmarks.verify import Dual, one_class_primal, scale_gamma, scores, verify

TOL = 1e-3
# LIBSVM holds kernel values in float32 and stops by them.
SLACK = 1.01

PROBLEMS = [
    ("one_class", OneClassSVM, "mixture", {"nu": 0.01}),
    ("one_class", OneClassSVM, "mixture", {"nu": 0.5}),
    ("one_class", OneClassSVM, "text", {"nu": 0.1, "kernel": "linear"}),
    ("one_class", OneClassSVM, "text", {"nu": 0.1}),
    ("svc", SVC, "easy", {"C": 1.0}),
    ("svc", SVC, "hard", {"C": 100.0}),
    ("svc", SVC, "hard", {"C": 1.0, "kernel": "linear"}),
    ("nu_svc", NuSVC, "easy", {"nu": 0.2}),
    ("nu_svc", NuSVC, "hard", {"nu": 0.6}),
]


def fitted(problem, estimator, name, params, tol=TOL):
    data = load(name, 300, 400 if name == "text" else 8)
    X = data.X.astype(np.float64)
    y = None if problem == "one_class" else data.y
    model = estimator(tol=tol, **params).fit(X, y)
    return X, y, installed_peers(lambda note: None)[0].dual(model)


@pytest.mark.parametrize(("problem", "estimator", "name", "params"), PROBLEMS)
def test_accepts_scikit_learns_solutions(problem, estimator, name, params):
    X, y, dual = fitted(problem, estimator, name, params)
    check = verify(problem, X, y, dual, **params)
    assert check.kkt_violation <= SLACK * TOL
    assert check.infeasibility <= 1e-9
    assert -1e-9 <= check.dual_gap <= 0.02
    assert check.rows_checked == X.shape[0]


@pytest.mark.parametrize(("problem", "estimator", "name", "params"), PROBLEMS)
def test_a_tighter_tolerance_shows(problem, estimator, name, params):
    X, y, dual = fitted(problem, estimator, name, params)
    loose = verify(problem, X, y, dual, **params)
    X, y, dual = fitted(problem, estimator, name, params, tol=1e-6)
    tight = verify(problem, X, y, dual, **params)
    assert tight.kkt_violation <= 0.1 * TOL  # not 1e-6: LIBSVM's kernel values are float32
    assert tight.dual_gap <= loose.dual_gap
    assert tight.objective <= loose.objective + 1e-9 * abs(loose.objective)


@pytest.mark.parametrize(("problem", "estimator", "name", "params"), PROBLEMS)
def test_catches_moved_mass(problem, estimator, name, params):
    X, y, dual = fitted(problem, estimator, name, params)
    spoiled = replace(dual, coef=dual.coef.copy())
    # Half of one row's mass goes to another of the same class: still feasible if below the bound.
    same_sign = np.flatnonzero(dual.coef > 0)
    order = same_sign[np.argsort(dual.coef[same_sign])]
    few, many = order[0], order[-1]
    moved = 0.5 * (dual.coef[many] - dual.coef[few])
    spoiled.coef[few] += moved
    spoiled.coef[many] -= moved
    check = verify(problem, X, y, spoiled, **params)
    assert check.kkt_violation > 5 * TOL
    assert check.objective > verify(problem, X, y, dual, **params).objective


@pytest.mark.parametrize(("problem", "estimator", "name", "params"), PROBLEMS)
def test_catches_infeasible_coefficients(problem, estimator, name, params):
    X, y, dual = fitted(problem, estimator, name, params)
    coef = dual.coef.copy()
    coef[np.argmax(coef)] *= 1.5
    assert verify(problem, X, y, replace(dual, coef=coef), **params).infeasibility > 1e-3


@pytest.mark.parametrize(("problem", "estimator", "name", "params"), PROBLEMS)
def test_catches_a_wrong_offset(problem, estimator, name, params):
    X, y, dual = fitted(problem, estimator, name, params)
    right = verify(problem, X, y, dual, **params)
    wrong = verify(problem, X, y, replace(dual, offset=1.5 * dual.offset + 0.5), **params)
    assert wrong.dual_gap > right.dual_gap + 1e-2


def test_gap_of_a_hand_made_problem():
    # Two rows at distance 1 share the mass equally; the objective is (1 + k) / 4 at nu n = 1.
    X = np.array([[0.0], [1.0]])
    dual = Dual(np.array([0, 1]), np.array([0.5, 0.5]), 0.5 * (1 + np.exp(-1.0)))
    check = verify("one_class", X, None, dual, gamma=1.0, nu=0.5)
    assert check.objective == pytest.approx(0.25 * (1 + np.exp(-1.0)), rel=1e-15)
    assert check.kkt_violation == 0.0
    assert check.dual_gap == pytest.approx(0.0, abs=1e-15)


def test_sampled_rows_hold_all_support_vectors():
    X, y, dual = fitted(*PROBLEMS[0])
    check = verify("one_class", X, y, dual, nu=0.01, max_values=100 * dual.support.size)
    assert check.rows_checked == 100
    assert check.objective == pytest.approx(verify("one_class", X, y, dual, nu=0.01).objective)
    assert check.kkt_violation <= SLACK * TOL
    assert np.isnan(check.dual_gap)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_scores_equal_scikit_learns_kernel(sparse_rows, monkeypatch):
    monkeypatch.setattr("benchmarks.verify.VALUES_PER_TILE", 64)  # several tiles
    X = load("mixture", 50, 4).X.astype(np.float64)
    coef = np.linspace(-1, 1, 20)
    rows, points = (sparse.csr_matrix(X), sparse.csr_matrix(X[:20])) if sparse_rows else (X, X[:20])
    expected = rbf_kernel(X, X[:20], gamma=0.3) @ coef
    np.testing.assert_allclose(scores(rows, points, coef, "rbf", 0.3), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["mixture", "text"])
def test_gamma_is_scikit_learns(name):
    X = load(name, 100, 50).X.astype(np.float64)
    assert scale_gamma(X) == pytest.approx(OneClassSVM().fit(X)._gamma, rel=1e-12)


def test_best_offset_of_the_one_class_primal():
    score = np.random.default_rng(0).standard_normal(101)
    best = one_class_primal(1.0, score, 0.3)
    assert best == pytest.approx(min(one_class_primal(1.0, score, 0.3, rho) for rho in score))


@pytest.mark.parametrize(("problem", "name", "params"), [
    ("one_class", "mixture", {"nu": 0.1}),
    ("svc", "easy", {"C": 1.0}),
    ("nu_svc", "easy", {"nu": 0.2}),
])  # fmt: skip
def test_every_installed_peer_is_read_correctly(problem, name, params):
    data = load(name, 200, 8)
    X = data.X.astype(np.float64)
    y = None if problem == "one_class" else data.y
    for peer in installed_peers(lambda note: None):
        if peer.can_fit(problem, X):
            model = peer.prepare(problem, X, y, params | {"tol": TOL})()
            check = verify(problem, X, y, peer.dual(model), **params)
            assert check.kkt_violation <= SLACK * TOL, peer.name
            assert check.infeasibility <= 1e-6, peer.name


def test_command_writes_table_and_file(tmp_path, capsys):
    path = tmp_path / "results.json"
    options = ["--quick", "--subject", "sklearn.svm", "--repeats", "1", "--out", str(path)]
    assert main([*options, "--cases", "one-class 100x16 nu=0.1 float64"]) == 0
    written = json.loads(path.read_text())
    row = written["rows"][0]
    assert row["peer"] == "scikit-learn"
    assert row["objective_difference"] == 0.0
    assert {"cpus", "memory_gb", "versions", "date"} <= set(written["machine"])
    assert "one-class 100x16 nu=0.1" in capsys.readouterr().out
