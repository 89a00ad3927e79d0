"""Positive and unlabelled rows: the double hinge, whose labelled rows have a fixed coefficient."""

from dataclasses import replace

import numpy as np

import scarce
from tests.attack.fitting import as_facts, no_matrix, offset_notes, sample_of, spread
from tests.attack.margins import kernel_parameters
from tests.attack.truth import judge_gradient
from tests.attack.verdict import SLACK
from tests.oracles.program import program

PRIOR = 0.4


def unbiased_pu_svc(recipe):
    sample = sample_of(recipe)
    model = scarce.UnbiasedPUSVC(
        class_prior=PRIOR, C=recipe.cost, pos_label=1, **kernel_parameters(recipe, sample)
    )
    return model, (sample.given, recipe.labels), {"sample_weight": recipe.weights}


def unbiased_pu_svc_facts(recipe, model):
    """Judge ``a, b`` in ``[0, C_j / 2]``: where f is -1 the first of both is the cheaper one."""
    sample = sample_of(recipe)
    labelled = recipe.labels == 1
    own = recipe.cost * sample.weights[labelled]
    costs = sample.weights[~labelled]
    costs = costs * (own.sum() / (PRIOR * costs.sum()))
    coefficients = spread(model, sample)
    taken = -coefficients[~labelled]
    first = np.minimum(taken, costs / 2)
    alpha = np.concatenate([first, taken - first])
    K, sizes = sample.gram()
    across, size = K[np.ix_(~labelled, labelled)], sizes[np.ix_(~labelled, labelled)]
    pull, pull_size = across @ own, size @ own
    among = np.ix_(~labelled, ~labelled)
    field, field_size = K[among] @ taken, sizes[among] @ np.abs(taken)
    dual = program(
        no_matrix(alpha.size),
        [own.sum()],
        upper=np.tile(costs / 2, 2),
        linear=np.concatenate([-pull - 1.0, -pull + 1.0]),
    )
    terms = float(taken**2 @ np.diag(sizes[among]))
    multipliers = -model.intercept_
    truth = judge_gradient(
        dual, alpha, np.tile(field, 2), np.tile(field_size + pull_size, 2), terms, multipliers
    )
    facts = as_facts(
        truth, sample.definite, notes=offset_notes(truth, multipliers, SLACK * recipe.tol)
    )
    alone = np.ix_(labelled, labelled)
    constant = -0.5 * float(own @ K[alone] @ own)
    noise = 1e-12 * float(own @ sizes[alone] @ own)
    return replace(
        facts,
        objectives=tuple(each + constant for each in facts.objectives),
        objective_noise=facts.objective_noise + noise,
    )
