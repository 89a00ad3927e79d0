"""Regression inside a tube: models and the facts about them."""

from dataclasses import replace

import numpy as np

import scarce
from tests.attack.fitting import as_facts, halves_room, offset_notes, sample_of, spread
from tests.attack.margins import kernel_parameters
from tests.attack.truth import AT_BOUND, NOISE, both_terms, judge_gradient
from tests.attack.verdict import SLACK
from tests.oracles.program import program

EPSILON = 0.1


def targets(recipe):
    return recipe.labels + recipe.random(9).normal(size=recipe.n)


def svr(recipe):
    sample = sample_of(recipe)
    model = scarce.SVR(C=recipe.cost, epsilon=EPSILON, **kernel_parameters(recipe, sample))
    return model, (sample.given, targets(recipe)), {"sample_weight": recipe.weights}


def nu_svr(recipe):
    sample = sample_of(recipe)
    model = scarce.NuSVR(C=recipe.cost, nu=recipe.share, **kernel_parameters(recipe, sample))
    return model, (sample.given, targets(recipe)), {"sample_weight": recipe.weights}


def svr_facts(recipe, model):
    return _facts(recipe, model, EPSILON, [0.0], model.intercept_)


def nu_svr_facts(recipe, model):
    mass = 0.5 * recipe.share * recipe.cost * sample_of(recipe).weights.sum()
    b, epsilon = model.intercept_[0], model.epsilon_
    lost = halves_room(epsilon, b)
    return _facts(recipe, model, 0.0, [mass, mass], [epsilon - b, epsilon + b], lost)


def _facts(recipe, model, width, totals, multipliers, lost=0.0):
    sample = sample_of(recipe)
    K, sizes = sample.gram()
    theta, wanted, n = spread(model, sample), targets(recipe), recipe.n
    upper = recipe.cost * sample.weights
    sides = np.repeat([1.0, -1.0], n)
    alpha = np.maximum(sides * np.tile(theta, 2), 0.0)
    shape, known = {"signs": sides}, True
    if len(totals) == 2:
        shape = {"groups": (sides > 0).astype(int)}
        # Only differences are stored. Where a row has both of its multipliers, nobody knows them.
        known = bool(totals[0] - 0.5 * alpha.sum() <= AT_BOUND * totals[0])
    dual = program(
        np.broadcast_to(0.0, 2 * (2 * n,)),
        totals,
        kernel_signs=sides,
        upper=np.tile(upper, 2),
        linear=width - sides * np.tile(wanted, 2),
        **shape,
    )
    field, size = K @ theta, sizes @ both_terms(theta, upper)
    terms = float(theta**2 @ np.diag(sizes))
    truth = judge_gradient(
        dual, alpha, sides * np.tile(field, 2), np.tile(size, 2), terms, multipliers
    )
    notes = offset_notes(truth, np.asarray(multipliers), SLACK * recipe.tol + lost)
    facts = as_facts(truth, sample.definite, notes=notes if known else ())
    if known:
        return facts
    pairs = NOISE * sum(totals) * float(np.abs(wanted).max())  # what such rows add and take away
    # Both multipliers of a row cancel in the dual value; the primal one needs none of them.
    squares = 0.5 * float(theta @ field)
    epsilon, intercept = model.epsilon_, model.intercept_[0]
    beyond = np.maximum(np.abs(wanted - field - intercept) - epsilon, 0.0)
    primal = squares + epsilon * sum(totals) + float(upper @ beyond)
    return replace(
        facts,
        violation=None,
        relative_gap=None,
        infeasibility=None,
        objectives=(float(wanted @ theta) - squares, primal),
        objective_noise=facts.objective_noise + pairs,
    )
