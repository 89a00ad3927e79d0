"""Tensor machines: the claims are of the last half-step, which the weight tensor shows."""

from dataclasses import replace

import numpy as np
from scipy.linalg import orth

import scarce
from tests.attack.fitting import as_facts, with_known
from tests.attack.truth import judge_gradient
from tests.oracles.program import program


def samples(recipe):
    """Return matrices of d x 3, or for some recipes vectors."""
    rows = replace(recipe, d=3 * recipe.d, csr=False).rows
    return rows if recipe.seed % 4 == 0 else rows.reshape(recipe.n, recipe.d, 3)


SWEEPS = 10  # of which each is several fits; what that ends must be warned of


def weights_of(recipe):
    return np.ones(recipe.n) if recipe.weights is None else recipe.weights


def shared_parameters(recipe):
    return {"rank": 1 + recipe.seed % 2, "tol": 1e-3 * recipe.tol, "max_iter": SWEEPS}


def one_class_stm(recipe):
    model = scarce.OneClassSTM(nu=recipe.share, **shared_parameters(recipe))
    model = with_known(model, offset="training", normalize=False)
    return model, (samples(recipe),), {"sample_weight": recipe.weights}


def stm(recipe):
    model = scarce.STM(C=recipe.cost, **shared_parameters(recipe))
    model = with_known(model, normalize=False)
    return model, (samples(recipe), recipe.labels), {"sample_weight": recipe.weights}


def read(recipe, model):
    """Return multipliers, scores by the weight tensor, and the size of their terms."""
    flat = samples(recipe).reshape(recipe.n, -1).astype(np.float64)
    coef = np.asarray(model.coef_, dtype=np.float64).ravel()
    coefficients = np.zeros(recipe.n)
    coefficients[model.support_] = np.asarray(model.dual_coef_)[0]
    norms = np.linalg.norm(flat, axis=1)
    # The weights are a sum of samples, and known no better than that.
    return coefficients, flat @ coef, norms * (np.abs(coefficients) @ norms), norms


def stationarity(recipe, model):
    """Return a note when the weights are of no half-step of the multipliers.

    With the other modes' factors held, ``W - sum_i a_i X_i`` must have no part along them: in one
    mode at least, the last to be solved.
    """
    tensors = samples(recipe).astype(np.float64)
    coefficients = np.zeros(recipe.n)
    coefficients[model.support_] = np.asarray(model.dual_coef_)[0]
    combined = np.tensordot(coefficients, tensors, 1)
    rest = np.asarray(model.coef_) - combined
    size = np.abs(coefficients) @ np.linalg.norm(tensors.reshape(recipe.n, -1), axis=1)
    if rest.ndim == 1:
        left = [np.linalg.norm(rest)]
    else:
        first, second = (orth(factor, rcond=1e-6) for factor in model.factors_)
        left = [np.linalg.norm(rest @ second), np.linalg.norm(rest.T @ first)]
    return [f"weights: off by {min(left):.3g} of {size:.3g}"] if min(left) > 1e-7 * size else []


def one_class_stm_facts(recipe, model):
    alpha, scores, sizes, norms = read(recipe, model)
    weights = weights_of(recipe)
    upper = weights / (recipe.share * weights.sum())
    dual = program(np.broadcast_to(0.0, 2 * (recipe.n,)), [1.0], upper=upper)
    truth = judge_gradient(dual, alpha, scores, sizes, float(alpha**2 @ norms**2))
    unit = 1.0 / max(abs(model.objective_), 1e-6 * float(norms.max()) ** 2, 1e-300)
    return as_facts(truth, True, unit=unit, notes=stationarity(recipe, model))


def stm_facts(recipe, model):
    coefficients, scores, sizes, norms = read(recipe, model)
    y = 2.0 * recipe.labels - 1.0
    alpha = y * coefficients
    dual = program(
        np.broadcast_to(0.0, 2 * (recipe.n,)),
        [0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=recipe.cost * weights_of(recipe),
    )
    terms = float(alpha**2 @ norms**2)
    truth = judge_gradient(dual, alpha, y * scores, sizes, terms, model.intercept_)
    notes = stationarity(recipe, model)
    return as_facts(truth, True, notes=notes)
