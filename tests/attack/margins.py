"""One-class, C- and nu-SVC, alone and in the baselines: models and the facts about them."""

import numpy as np

import scarce
from tests.attack.fitting import STEPS, halves_room, judged, sample_of, spread, with_known
from tests.attack.verdict import SLACK
from tests.oracles.program import program


def kernel_parameters(recipe, sample):
    return {"kernel": sample.kernel, "tol": recipe.tol, "max_iter": STEPS, **recipe.parameters}


def one_class_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.OneClassSVM(nu=recipe.share, **kernel_parameters(recipe, sample))
    return with_known(model, offset="training"), (sample.given,), {"sample_weight": recipe.weights}


def one_class_svm_facts(recipe, model):
    sample = sample_of(recipe)
    K, sizes = sample.gram()
    mass = recipe.share * sample.weights.sum()
    dual = program(K, [mass], upper=sample.weights)
    alpha = spread(model, sample)
    offsets = -model.offset_ if recipe.share < 1 else None
    return judged(
        dual, alpha, sizes, sample, factor=mass**-2, offsets=offsets, room=SLACK * recipe.tol
    )


def svdd(recipe):
    sample = sample_of(recipe)
    model = scarce.SVDD(nu=recipe.share, **kernel_parameters(recipe, sample))
    return with_known(model, offset="training"), (sample.given,), {"sample_weight": recipe.weights}


def svdd_facts(recipe, model):
    """Judge ``1/2 a'Ka - mass / 2 sum_i a_i k_ii`` for ``a = mass`` times the coefficients."""
    sample = sample_of(recipe)
    K, sizes = sample.gram()
    mass = recipe.share * sample.weights.sum()
    dual = program(K, [mass], upper=sample.weights, linear=-0.5 * mass * np.diag(K))
    alpha = mass * spread(model, sample)
    offsets, room = -0.5 * mass * model.offset_, SLACK * recipe.tol
    return judged(dual, alpha, sizes, sample, factor=2 * mass**-2, offsets=offsets, room=room)


def svc(recipe):
    sample = sample_of(recipe)
    model = scarce.SVC(C=recipe.cost, **kernel_parameters(recipe, sample))
    return model, (sample.given, recipe.labels), {"sample_weight": recipe.weights}


def c_svc_facts(recipe, sample, y, alpha, upper, sizes, K, intercept):
    dual = program(K, [0.0], signs=y, kernel_signs=y, linear=-1.0, upper=upper)
    return judged(dual, alpha, sizes, sample, offsets=intercept, room=SLACK * recipe.tol)


def svc_facts(recipe, model):
    sample = sample_of(recipe)
    y = 2.0 * recipe.labels - 1.0
    alpha = y * spread(model, sample)
    K, sizes = sample.gram()
    upper = recipe.cost * sample.weights
    return c_svc_facts(recipe, sample, y, alpha, upper, sizes, K, model.intercept_)


def nu_svc(recipe):
    sample = sample_of(recipe)
    y = recipe.labels
    smaller = min(sample.weights[y == 0].sum(), sample.weights[y == 1].sum())
    # All of the smaller class may be needed, but no more.
    nu = 0.999 * recipe.share * 2.0 * smaller / sample.weights.sum()
    model = scarce.NuSVC(nu=nu, **kernel_parameters(recipe, sample))
    return model, (sample.given, y), {"sample_weight": recipe.weights}


def nu_svc_facts(recipe, model):
    sample = sample_of(recipe)
    y = 2.0 * recipe.labels - 1.0
    alpha = y * spread(model, sample) * model.margin_
    K, sizes = sample.gram()
    total = sample.weights.sum()
    dual = program(
        K,
        [model.nu * total / 2] * 2,
        groups=recipe.labels,
        kernel_signs=y,
        upper=sample.weights,
    )
    # margin = -(beta_+ + beta_-) / 2 and constant = (beta_+ - beta_-) / 2.
    constant = float(model.intercept_[0]) * model.margin_
    offsets = np.array([-model.margin_ - constant, -model.margin_ + constant])
    room = SLACK * recipe.tol + halves_room(model.margin_, constant)
    return judged(dual, alpha, sizes, sample, factor=total**-2, offsets=offsets, room=room)


def transductive_svm(recipe):
    sample = sample_of(recipe)
    known = recipe.random(4).random(recipe.n) < 0.5
    known[:2] = True
    y = np.where(known, recipe.labels, -1)
    model = scarce.TransductiveSVM(
        C=recipe.cost, C_unlabeled=0.3, unlabeled=-1, **kernel_parameters(recipe, sample)
    )
    return model, (sample.given, y), {"sample_weight": recipe.weights}


def transductive_svm_facts(recipe, model):
    sample = sample_of(recipe)
    (_, given), y = transductive_svm(recipe)[1], 2.0 * model.transduction_ - 1.0
    last = model.history_["negative_cost"][-1], model.history_["positive_cost"][-1]
    guessed = np.where(y > 0, last[1], last[0])
    if (given >= 0).all():
        guessed[:] = recipe.cost
    upper = sample.weights * np.where(given >= 0, recipe.cost, guessed)
    K, sizes = sample.gram()
    alpha = y * spread(model, sample)
    return c_svc_facts(recipe, sample, y, alpha, upper, sizes, K, model.intercept_)


def projection_mmd_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.ProjectionMMDSVM(
        C=recipe.cost, shift_penalty=2.0, **kernel_parameters(recipe, sample)
    )
    keywords = {"sample_weight": recipe.weights, "sample_domain": domains(recipe)}
    return model, (sample.given, recipe.labels), keywords


def domains(recipe):
    """Return a source (0) and a target (-1), both with rows of both labels."""
    target = recipe.random(5).random(recipe.n) < 0.4
    target[:2] = False
    target[-1] = True
    return np.where(target, -1, 0)


def projection_mmd_svm_facts(recipe, model):
    sample = sample_of(recipe)
    source = domains(recipe) >= 0
    y = 2.0 * recipe.labels - 1.0
    ours, theirs = sample.weights * source, sample.weights * ~source
    shift = ours / ours.sum() - theirs / theirs.sum()
    K, sizes = sample.gram()
    along, along_sizes = K @ shift, sizes @ np.abs(shift)
    squared = float(shift @ along)  # below 0 for a kernel that is none
    strength = model.shift_penalty / (1.0 + model.shift_penalty * max(squared, 0.0))
    # ``w = sum_i a_i y_i phi_i - penalty (w'd) d``: the stored coefficients hold both terms.
    part = model.shift_penalty * model.mean_difference_
    plain = spread(model, sample) + part * shift
    deflated = K - strength * np.outer(along, along)
    reach = sizes + strength * np.outer(along_sizes, along_sizes)
    alpha, among = (y * plain)[source], np.ix_(source, source)
    upper = (recipe.cost * sample.weights)[source]
    lost = 1e-14 * np.abs(np.abs(plain).max() + np.abs(part * shift))[source]
    alpha = np.where(alpha < lost, 0.0, np.where(np.abs(alpha - upper) < lost, upper, alpha))
    return c_svc_facts(
        recipe, sample, y[source], alpha, upper, reach[among], deflated[among], model.intercept_
    )
