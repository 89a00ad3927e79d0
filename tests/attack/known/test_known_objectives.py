"""Objectives of thousands of rows, whose sums were in single precision, in extended precision."""

import numpy as np
import pytest
from scipy import sparse

import scarce
from scarce.kernels import make_kernel, make_operator
from scarce.solvers import QuadraticProgram
from tests.solvers.internals import SignedForm
from tests.solvers.operators import RbfRows

GAMMA = 0.05


def coefficients(model):
    return model.dual_coef_.toarray()[0]


def scores_of(model, rows):
    """Return ``sum_j a_j k(x_i, x_j)`` of every row from differences, in extended precision."""
    chosen, found = rows[model.support_].astype(np.longdouble), []
    weights = coefficients(model).astype(np.longdouble)
    for block in np.array_split(rows.astype(np.longdouble), 30):
        squares = sum((block[:, None, k] - chosen[None, :, k]) ** 2 for k in range(rows.shape[1]))
        found.append(np.exp(-GAMMA * squares) @ weights)
    return np.concatenate(found)


def far_rows(n=2200, d=5):
    return np.random.default_rng(1).normal(size=(n, d)) + 100.0


@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_one_class_svm_of_far_sparse_rows(nu, weighted):
    rows = far_rows()
    weights = 10.0 ** np.random.default_rng(2).uniform(-0.5, 0.5, len(rows)) if weighted else None
    model = scarce.OneClassSVM(nu=nu, gamma=GAMMA, offset="training")
    model.fit(sparse.csr_array(rows), sample_weight=weights)
    weights = np.ones(len(rows)) if weights is None else weights
    offset = model.offset_[0]
    scores, mass = scores_of(model, rows), nu * weights.sum()
    squared = coefficients(model) @ scores[model.support_] / mass**2
    slacks = np.maximum(offset - scores, 0) / mass
    primal = squared / 2 - offset / mass + weights @ slacks / mass
    assert model.objective_ == pytest.approx(float(primal), rel=2e-7)


def test_a_margin_classifier_of_far_sparse_rows():
    rows = far_rows()
    y = np.where(rows[:, 0] + np.random.default_rng(3).normal(size=len(rows)) > 100, 1, -1)
    model = scarce.SVC(C=0.1, gamma=GAMMA).fit(sparse.csr_array(rows), y)
    scores = scores_of(model, rows)
    squared = coefficients(model) @ scores[model.support_]
    slacks = np.maximum(1 - y * (scores + model.intercept_[0]), 0)
    assert model.objective_ == pytest.approx(float(squared / 2 + 0.1 * slacks.sum()), rel=2e-7)


@pytest.mark.parametrize("allowed", [np.inf, 0.0])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, None])
def test_half_of_a_matrix_gives_the_whole_form(allowed, storage):
    """Several tasks, 1,000 support vectors: more than a tile; and from plain values."""
    random = np.random.default_rng(4)
    rows, tasks = random.normal(size=(1500, 3)), random.integers(0, 3, 1500)
    operator = RbfRows(rows, 0.3)  # without sums of some rows
    if storage is not None:
        operator = make_operator(storage(rows), make_kernel("rbf", gamma=0.3))
    coupling = np.array([[1.0, 0.3, 0.2], [0.3, 2.0, 0.5], [0.2, 0.5, 0.7]])
    program = QuadraticProgram(
        operator,
        totals=np.zeros(3),
        groups=tasks,
        lower=-1.0,
        upper=1.0,
        coupling=coupling,
        kernel_signs=random.choice([-1.0, 1.0], 1500),
    )
    x = np.where(random.random(1500) < 2 / 3, random.normal(size=1500), 0.0)
    form = SignedForm(program)
    values = np.exp(-0.3 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    signed = form.kernel_signs * x
    wanted = signed @ (values * coupling[np.ix_(tasks, tasks)]) @ signed
    assert form.quadratic(x, allowed) == pytest.approx(wanted, rel=1e-11)
