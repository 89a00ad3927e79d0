"""One-class machines of several tasks and of rows that move."""

import numpy as np

import scarce
from tests.attack.fitting import STEPS, judged, sample_of, with_known
from tests.attack.kernels import dense
from tests.attack.verdict import SLACK
from tests.oracles.program import program


def sample_domain(recipe):
    """Return one to three tasks, the target's rows among the others."""
    random = recipe.random(6)
    n_tasks = 1 + recipe.seed % 3
    tasks = random.integers(n_tasks, size=recipe.n)
    tasks[:n_tasks] = np.arange(n_tasks)
    return tasks - 1


def radius(recipe):
    """Rows move where they can: under a kernel with a gradient, dense ones."""
    moves = recipe.seed % 2 == 0 and recipe.kernel in ("rbf", "poly") and not recipe.csr
    return 0.2 if moves else 0.0


def keywords(recipe):
    return {"sample_weight": recipe.weights, "sample_domain": sample_domain(recipe)}


def shared_parameters(recipe, sample):
    return {
        "kernel": sample.kernel,
        "tol": recipe.tol,
        "max_iter": STEPS,
        "radius": radius(recipe),
        "max_rounds": 5,
        **recipe.parameters,
    }


def transfer_one_class_svm(recipe):
    sample = sample_of(recipe)
    model = scarce.TransferOneClassSVM(
        nu=recipe.share,
        source_nu=0.3,
        coupling=recipe.cost,
        source_weight=2.0,
        relation="keep",  # sources as they are: what is judged is the published program
        **shared_parameters(recipe, sample),
    )
    return with_known(model, offset="original"), (sample.given,), keywords(recipe)


def transfer_one_class_svm_facts(recipe, model):
    sizes, tasks = task_sizes(recipe)
    n_sources = len(sizes) - 1
    masses = np.array([1.0] + n_sources * [2.0])
    costs = 1.0 / (np.array([recipe.share] + n_sources * [0.3]) * sizes)
    own = np.full(len(sizes), recipe.cost)
    return facts(recipe, model, tasks, masses, costs, own)


def uoct_svm(recipe):
    sample = sample_of(recipe)
    sizes, _ = task_sizes(recipe)
    model = scarce.UOCTSVM(
        C_target=1.0 / (recipe.share * sizes[0]),
        C_source=1.0 / (0.3 * sizes[1:].min()) if len(sizes) > 1 else 1.0,
        **shared_parameters(recipe, sample),
    )
    return with_known(model, offset="original"), (sample.given,), keywords(recipe)


def uoct_svm_facts(recipe, model):
    sizes, tasks = task_sizes(recipe)
    costs = np.array([model.C_target] + (len(sizes) - 1) * [model.C_source])
    own = costs if len(sizes) == 2 else costs / len(sizes)
    return facts(recipe, model, tasks, np.ones(len(sizes)), costs, own)


def task_sizes(recipe):
    tasks = sample_domain(recipe) + 1
    return np.bincount(tasks, sample_of(recipe).weights), tasks


def facts(recipe, model, tasks, masses, costs, own):
    """Judge in the scale of the derivation; violations are claimed in that of `OneClassSVM`."""
    sample = sample_of(recipe)
    rows = sample.rows
    if model.shifts_ is not None:
        rows = dense((recipe.rows + model.shifts_).astype(recipe.rows.dtype))
    K, sizes = sample.gram(rows)
    mixing = 0.5 * (1.0 + np.diag(1.0 / own))
    places = tasks[model.support_]
    alpha = np.zeros(recipe.n)
    lines = np.asarray(model.task_dual_coef_)
    alpha[model.support_] = lines[places, np.arange(len(places))] / mixing[places, places]
    dual = program(
        K,
        masses,
        groups=tasks,
        coupling=mixing,
        upper=(masses * costs)[tasks] * sample.weights,
    )
    unit = 1.0 / float((masses * costs).min())
    # The offsets are those of the recorded rows: multipliers of this program if none has moved,
    # and in an interval with two ends if not every multiplier is at its bound.
    bounded = (costs * np.bincount(tasks, sample.weights) > 1.0 + 1e-9).all()
    offsets = -model.task_offset_ if model.shifts_ is None and bounded else None
    room = SLACK * recipe.tol / unit
    return judged(dual, alpha, sizes, sample, unit=unit, offsets=offsets, room=room)
