"""Learners from shares: absolute slacks with a box, squared slacks with a source."""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logit

import scarce
from tests.attack.fitting import STEPS, as_facts, sample_of, with_known
from tests.attack.truth import AT_BOUND, NOISE, SMALLEST_SCALE, both_terms, judge_gradient
from tests.attack.verdict import Facts
from tests.oracles.program import program

EPSILON, CLIP = 0.01, 0.05


def group_ids(recipe):
    """Return a group for every row, or None: every row on its own."""
    if recipe.seed % 3 == 0:
        return None
    n_groups = max(2, recipe.n // 4)
    ids = recipe.random(7).integers(n_groups, size=recipe.n)
    ids[:2] = [0, 1]
    return np.unique(ids, return_inverse=True)[1]


def units(recipe, weights):
    """Return shares of rows in units, wanted scores, tubes and factors of the cost."""
    ids, labels = group_ids(recipe), recipe.labels
    if ids is None:
        return sparse.eye_array(recipe.n).tocsr(), *wanted(labels.astype(float)), weights
    n_groups = ids.max() + 1
    shares = weights / np.bincount(ids, weights)[ids]
    members = sparse.csr_array((shares, (ids, np.arange(recipe.n))), shape=(n_groups, recipe.n))
    return members, *wanted(group_shares(recipe, ids)), np.ones(n_groups)


def group_shares(recipe, ids):
    return np.bincount(ids, recipe.labels) / np.bincount(ids)


def wanted(shares):
    q = np.clip(shares, CLIP, 1.0 - CLIP)
    return logit(q), EPSILON / (q * (1.0 - q))


def arguments(recipe, sample):
    ids = group_ids(recipe)
    y = recipe.labels if ids is None else group_shares(recipe, ids)[ids]
    return (sample.given, y), {"groups": ids, "sample_weight": recipe.weights}


def parameters(recipe, sample):
    return {
        "kernel": sample.kernel,
        "tol": recipe.tol,
        "epsilon": EPSILON,
        "clip": CLIP,
        **recipe.parameters,
    }


def group_probability_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.GroupProbabilitySVM(C=recipe.cost, max_iter=STEPS, **parameters(recipe, sample))
    return with_known(model, cost_per="group", calibrate=None), *arguments(recipe, sample)


def group_probability_svm_facts(recipe, model):
    sample = sample_of(recipe)
    K, sizes = sample.gram()
    members, scores, tubes, masses = units(recipe, sample.weights)
    K, sizes = members @ K @ members.T, members @ sizes @ members.T
    theta = np.asarray(model.group_dual_coef_)[0]
    alpha = np.concatenate([np.maximum(theta, 0.0), np.maximum(-theta, 0.0)])
    sides = np.repeat([1.0, -1.0], len(scores))
    field, size = K @ theta, sizes @ both_terms(theta, recipe.cost * masses)
    dual = program(
        np.broadcast_to(0.0, 2 * (2 * len(scores),)),
        [0.0],
        signs=sides,
        kernel_signs=sides,
        upper=np.tile(recipe.cost * masses, 2),
        linear=np.concatenate([tubes - scores, tubes + scores]),
    )
    terms = float(theta**2 @ np.diag(sizes))
    truth = judge_gradient(dual, alpha, sides * np.tile(field, 2), np.tile(size, 2), terms)
    return as_facts(truth, sample.definite)


def source(recipe):
    """Return a linear source for a linear kernel, else none."""
    if recipe.kernel != "linear" or recipe.seed % 2:
        return None
    return recipe.random(8).normal(size=recipe.d), 0.3


def transfer_group_probability_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.TransferGroupProbabilitySVM(
        source=source(recipe), C_group=recipe.cost, transfer=2.0, **parameters(recipe, sample)
    )
    return with_known(model, cost_per="group", calibrate=None), *arguments(recipe, sample)


def transfer_group_probability_svm_facts(recipe, model):
    """Judge the squared slacks: ``theta_u = C_u (residual outside the tube)`` for every unit."""
    sample = sample_of(recipe)
    given = source(recipe)
    pull = 0.0 if given is None else model.transfer / (1.0 + model.transfer)
    K, sizes = sample.gram()
    members, targets, tubes, masses = units(recipe, sample.weights)
    K, sizes = (1.0 - pull) * members @ K @ members.T, (1.0 - pull) * members @ sizes @ members.T
    costs, theta = recipe.cost * masses, np.asarray(model.group_dual_coef_)[0]
    b, constant = float(model.intercept_[0]), 0.0
    if given is not None:
        targets = targets - pull * (members @ sample.rows @ given[0])
        constant = 0.5 * pull * float(given[0] @ given[0])
    scores, noise = K @ theta, NOISE * (sizes @ np.abs(theta) + np.abs(targets))

    def outside(b):
        rest = targets - scores - b
        return np.sign(rest) * np.maximum(np.abs(rest) - tubes, 0.0)

    def violation(b):
        return float(np.maximum(np.abs(outside(b) - theta / costs) - noise, 0.0).max())

    def loss(b, side=-1.0):
        return float(0.5 * costs @ np.maximum(np.abs(outside(b)) + side * noise, 0.0) ** 2)

    quadratic = float(theta @ scores)
    dual = float(
        targets @ theta - tubes @ np.abs(theta) - 0.5 * quadratic - 0.5 * (theta**2 / costs).sum()
    )
    reach = violation(b) + 1e-300
    near = {"bounds": (b - 2 * reach, b + 2 * reach), "method": "bounded"}
    least = min(violation(b), minimize_scalar(violation, **near).fun)
    primal = 0.5 * quadratic + min(loss(b), minimize_scalar(loss, **near).fun)
    gap = max(0.0, primal - dual - float(np.abs(theta) @ noise))
    terms = SMALLEST_SCALE * float(theta**2 @ np.diag(sizes))
    off = abs(theta.sum()) / max(np.abs(theta).sum(), 1e-300)
    return Facts(
        violation=least,
        relative_gap=gap / max(abs(primal), abs(dual), terms, 1e-300),
        objectives=(dual + constant, 0.5 * quadratic + loss(b, 1.0) + constant),
        objective_noise=float(np.abs(theta) @ noise),
        infeasibility=off if off > AT_BOUND else 0.0,
        definite=sample.definite,
    )
