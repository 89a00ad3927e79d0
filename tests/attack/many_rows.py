"""Thousands of rows: the same facts as of few, from sums by blocks in extended precision."""

import numpy as np

from tests.attack.fitting import (
    as_facts,
    judged_by_blocks,
    no_matrix,
    offset_notes,
    sample_of,
    spread,
)
from tests.attack.regression import EPSILON, targets
from tests.attack.truth import judge_gradient
from tests.attack.verdict import SLACK
from tests.oracles.program import program


def one_class_svm_facts(recipe, model):
    sample = sample_of(recipe)
    mass = recipe.share * sample.weights.sum()
    dual = program(no_matrix(recipe.n), [mass], upper=sample.weights)
    return judged_by_blocks(
        dual,
        spread(model, sample),
        sample,
        factor=mass**-2,
        offsets=-model.offset_,
        room=SLACK * recipe.tol,
    )


def svc_facts(recipe, model):
    sample = sample_of(recipe)
    y = 2.0 * recipe.labels - 1.0
    dual = program(
        no_matrix(recipe.n),
        [0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=recipe.cost * sample.weights,
    )
    alpha, room = y * spread(model, sample), SLACK * recipe.tol
    return judged_by_blocks(dual, alpha, sample, offsets=model.intercept_, room=room)


def svr_facts(recipe, model):
    sample = sample_of(recipe)
    theta, n = spread(model, sample), recipe.n
    upper = recipe.cost * sample.weights
    sides = np.repeat([1.0, -1.0], n)
    dual = program(
        no_matrix(2 * n),
        [0.0],
        signs=sides,
        kernel_signs=sides,
        upper=np.tile(upper, 2),
        linear=EPSILON - sides * np.tile(targets(recipe), 2),
    )
    field, size = sample.sums(theta)
    terms = float(theta**2 @ sample.norms())
    alpha = np.maximum(sides * np.tile(theta, 2), 0.0)
    truth = judge_gradient(
        dual, alpha, sides * np.tile(field, 2), np.tile(size, 2), terms, model.intercept_
    )
    notes = offset_notes(truth, model.intercept_, SLACK * recipe.tol)
    return as_facts(truth, sample.definite, notes=notes)
