"""Nystroem: the model is a sum over landmarks, and its multipliers are not shown.

The weights are, and with them the primal objective and, for one class, the dual one:
``-1/2 |w|^2`` when the multipliers are feasible. For two classes `objective_` is taken at its word
as the dual value; weights that are not optimal for it show as a gap. A violation ``v`` explains a
gap of at most ``v / 2`` times the sum of all boxes.

The weights come out of the inverse of the landmarks' matrix, whose condition is up to 1e8, and are
less exact than a sum: `UNSURE` of the absolute terms is not known.
"""

import numpy as np

import scarce
from tests.attack.fitting import sample_of, with_known
from tests.attack.kernels import dense
from tests.attack.margins import kernel_parameters
from tests.attack.truth import SMALLEST_SCALE
from tests.attack.verdict import Facts

UNSURE = 2e-8


def approximated(recipe, sample):
    return {
        **kernel_parameters(recipe, sample),
        "approximation": "nystroem",
        "n_components": min(recipe.n, 5 + recipe.seed % 100),
        "random_state": recipe.seed,
    }


def read(model, sample):
    """Return scores of the rows, their noise, and the squared norm of the weights."""
    beta = dense(model.dual_coef_)[0]
    chosen = sample.rows[model.support_]
    K, sizes = sample.values(sample.rows, chosen)
    among, among_sizes = sample.values(chosen, chosen)
    scores, noise = K @ beta, UNSURE * (sizes @ np.abs(beta))
    squared = float(beta @ among @ beta)
    return scores, noise, squared, UNSURE * float(np.abs(beta) @ among_sizes @ np.abs(beta))


def best_threshold(scores, upper, mass):
    """Return the score that rows of the given mass lie below."""
    order = np.argsort(scores)
    place = np.searchsorted(np.cumsum(upper[order]), mass * (1 - 1e-12))
    return scores[order][min(place, len(order) - 1)]


def facts(primal, dual, noise, boxes, factor, terms, definite=None):
    gap = max(0.0, primal - dual - noise)
    scale = max(abs(primal), abs(dual), SMALLEST_SCALE * terms, 1e-300)
    return Facts(
        violation=2.0 * gap / boxes,
        relative_gap=gap / scale,
        objectives=(factor * dual, factor * primal),
        objective_noise=factor * noise,
        infeasibility=None,
        definite=definite,
    )


def nystroem_one_class_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.OneClassSVM(nu=recipe.share, **approximated(recipe, sample))
    return with_known(model, offset="training"), (sample.given,), {"sample_weight": recipe.weights}


def nystroem_one_class_svm_facts(recipe, model):
    sample = sample_of(recipe)
    scores, noise, squared, square_noise = read(model, sample)
    mass = recipe.share * sample.weights.sum()
    rho = best_threshold(scores, sample.weights, mass)
    slack = float(sample.weights @ np.maximum(rho - scores, 0.0))
    largest = max(sample.values(x, x)[1].item() for x in sample.rows[:, None, :])
    unsure = square_noise + float(sample.weights @ noise) + 1e-2 * UNSURE * mass**2 * largest
    return facts(
        0.5 * squared - mass * rho + slack,
        -0.5 * squared,
        unsure,
        float(sample.weights.sum()),
        mass**-2,
        squared,
    )


def nystroem_svc(recipe):
    sample = sample_of(recipe)
    model = scarce.SVC(C=recipe.cost, **approximated(recipe, sample))
    return model, (sample.given, recipe.labels), {"sample_weight": recipe.weights}


def nystroem_svc_facts(recipe, model):
    sample = sample_of(recipe)
    scores, noise, squared, square_noise = read(model, sample)
    y, costs = 2.0 * recipe.labels - 1.0, recipe.cost * sample.weights
    losses = hinge_losses(y - scores, scores, y, costs)
    unsure = square_noise + float(costs @ (noise + UNSURE))
    primal = 0.5 * squared + float(losses.min())
    return facts(primal, float(model.objective_), unsure, float(costs.sum()), 1.0, squared)


def hinge_losses(offsets, scores, y, costs):
    """Return the cost of all slacks for many offsets; the least is at a kink, ``y_i - s_i``."""
    return np.concatenate(
        [
            np.maximum(1.0 - y * (scores + some[:, None]), 0.0) @ costs
            for some in np.array_split(offsets, 1 + len(offsets) // 500)
        ]
    )
