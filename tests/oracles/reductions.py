"""The table of reductions: each method's dual as arrays beside its primal as an oracle.

Every builder takes a random generator, a function that draws rows and a function that turns rows
into a kernel matrix, and returns a `Case`.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from . import classification, one_class, proportions, tensor
from .convex import Primal, feature_map
from .program import Program, program
from .samples import gram as kernel_matrix
from .samples import labels, rows


@dataclass(frozen=True)
class Case:
    """A dual program, its primal, and the map from one's solution to the other's."""

    program: Program
    primal: Primal
    weights: Callable  # multipliers alpha -> primal weights
    offsets: Callable = np.negative  # multipliers of the equalities -> primal offsets
    constant: float = 0.0  # primal optimum = constant - dual optimum


def _identity(beta):
    return beta


def one_class_svm(rng, draw, gram, n=24):
    """One-class SVM with one cost per row (weights times C), feasible by construction."""
    kernel = gram(draw(n))
    features = feature_map(kernel)
    costs = rng.uniform(0.2, 2.0, size=n)
    costs *= rng.uniform(1.2, 8.0) / costs.sum()
    primal = one_class.one_class(features, costs)
    return Case(program(kernel, [1.0], upper=costs), primal, lambda a: features.T @ a)


def shifted_one_class_svm(rng, draw, gram, n=20):
    """UOC-SVM inner step: the same problem on points moved within their radius."""
    points = draw(n)
    points = points + 0.3 * rng.normal(size=points.shape)
    kernel = gram(points)
    features = feature_map(kernel)
    cost = 1.0 / (0.4 * n)
    primal = one_class.one_class(features, np.full(n, cost))
    return Case(program(kernel, [1.0], upper=cost), primal, lambda a: features.T @ a)


def multitask_one_class_svm(rng, draw, gram, sizes=(12, 7, 9)):
    """TLOC / UOCT inner step: one equality per task, kernel scaled by the pair of tasks."""
    tasks = np.repeat(np.arange(len(sizes)), sizes)
    kernel = gram(draw(len(tasks)))
    features = feature_map(kernel)
    stiffness = rng.uniform(0.1, 3.0, size=len(sizes))
    costs = (rng.uniform(1.1, 4.0, size=len(sizes)) / sizes)[tasks]
    primal = one_class.multitask_one_class(features, tasks, stiffness, costs)

    def weights(alpha):
        own = [features[tasks == t].T @ alpha[tasks == t] for t in range(len(sizes))]
        return np.vstack(
            [sum(own) / 2, *(v / (2 * m) for v, m in zip(own, stiffness, strict=True))]
        )

    coupling = 0.5 * (1.0 + np.diag(1.0 / stiffness))
    dual = program(kernel, np.ones(len(sizes)), groups=tasks, upper=costs, coupling=coupling)
    return Case(dual, primal, weights)


def _svc(kernel, y, primal, features, **parts):
    """All two-class duals with one equality: they differ in box and diagonal."""
    dual = program(kernel, [0.0], signs=y, kernel_signs=y, linear=-1.0, **parts)
    return Case(dual, primal, lambda a: features.T @ (y * a), _identity)


def c_svc(rng, draw, gram, n=26):
    """C-SVC with individual costs."""
    kernel, y = gram(draw(n)), labels(rng, n)
    features, costs = feature_map(kernel), rng.uniform(0.05, 5.0, size=n)
    return _svc(kernel, y, classification.c_svc(features, y, costs), features, upper=costs)


def hard_margin_svc(rng, draw, gram, n=14):
    """C-SVC with infinite costs on classes that a margin separates, in an added direction."""
    points, y = draw(n), labels(rng, n)
    kernel = gram(points) + np.outer(y, y)
    features = feature_map(kernel)
    return _svc(kernel, y, classification.hard_margin_svc(features, y), features)


def c_svc_squared(rng, draw, gram, n=26, cost=1.7):
    """C-SVC with squared slacks: no box, curvature on the diagonal."""
    kernel, y = gram(draw(n)), labels(rng, n)
    features = feature_map(kernel)
    primal = classification.c_svc_squared(features, y, cost)
    return _svc(kernel, y, primal, features, diagonal=1.0 / cost)


def nu_svc(rng, draw, gram, n=26):
    """nu-SVC: one equality per class; both offsets from the two multipliers."""
    kernel, y = gram(draw(n)), labels(rng, n)
    features = feature_map(kernel)
    nu = rng.uniform(0.3, 0.95) * 2 * min((y > 0).sum(), (y < 0).sum()) / n
    positive = (y > 0).astype(int)
    dual = program(kernel, [nu / 2] * 2, groups=positive, kernel_signs=y, upper=1.0 / n)

    def offsets(beta):
        return np.array([(beta[1] - beta[0]) / 2, -(beta[0] + beta[1]) / 2])

    primal = classification.nu_svc(features, y, nu)
    return Case(dual, primal, lambda a: features.T @ (y * a), offsets)


def _group_means(draw, sizes):
    """Rows in groups and the matrix that averages them."""
    members = np.repeat(np.arange(len(sizes)), sizes)
    return draw(len(members)), (members == np.arange(len(sizes))[:, None]) / np.array(sizes)[
        :, None
    ]


def _calibrate(rng, n_groups):
    """Wanted mean scores and tube widths from shares of positives."""
    share = np.clip(rng.integers(0, 9, size=n_groups) / 8, 0.0625, 0.9375)
    return np.log(share / (1 - share)), rng.choice([0.0, 0.02, 0.2]) / (share * (1 - share))


def inverse_calibration_svm(rng, draw, gram, sizes=(4, 3, 5, 1, 4, 2, 6)):
    """IC-SVM: regression of wanted scores on group means, two multipliers per group."""
    points, average = _group_means(draw, sizes)
    kernel = average @ gram(points) @ average.T
    features = feature_map(kernel)
    wanted, tube = _calibrate(rng, len(sizes))
    cost = rng.uniform(0.1, 3.0)
    side = np.repeat([1.0, -1.0], len(sizes))
    dual = program(
        np.tile(kernel, (2, 2)),
        [0.0],
        signs=side,
        kernel_signs=side,
        linear=np.concatenate([tube - wanted, tube + wanted]),
        upper=cost,
    )
    primal = proportions.inverse_calibration_svm(features, wanted, tube, cost)
    return Case(dual, primal, lambda a: np.vstack([features] * 2).T @ (side * a), _identity)


def transfer_group_probability(rng, draw, gram, n_common=6, sizes=(4,) * 7, n_source=9):
    """TGPLM-CD: free multipliers for common rows, half-lines for the two sides of each group."""
    points, average = _group_means(draw, sizes)
    everything = np.vstack([draw(n_common), points, draw(n_source)])
    kernel = gram(everything)
    features = feature_map(kernel)
    source_coef, source_offset = rng.normal(size=n_source), rng.normal()
    wanted, tube = _calibrate(rng, len(sizes))
    cost_common, cost_group = rng.uniform(0.3, 4.0, size=2)
    transfer = rng.choice([0.0, 0.7, 20.0])
    shrink = 1.0 / (1.0 + transfer)

    n_groups = len(sizes)
    reduce = np.zeros((n_common + n_groups, len(everything)))
    reduce[:n_common, :n_common] = np.eye(n_common)
    reduce[n_common:, n_common : n_common + len(points)] = average
    source_score = reduce @ kernel[:, -n_source:] @ source_coef  # w_s.phi, offset left out
    blocks = reduce @ kernel @ reduce.T
    used = np.concatenate([np.arange(n_common + n_groups), n_common + np.arange(n_groups)])
    side = np.repeat([1.0, 1.0, -1.0], [n_common, n_groups, n_groups])
    pull = transfer * shrink * source_score[n_common:]
    dual = program(
        blocks[np.ix_(used, used)],
        [0.0],
        signs=side,
        kernel_signs=side,
        coupling=[[shrink]],
        linear=np.concatenate(
            [
                -shrink * source_score[:n_common] - source_offset,
                tube - wanted + pull,
                tube + wanted - pull,
            ]
        ),
        diagonal=np.repeat([1 / cost_common, 1 / cost_group], [n_common, 2 * n_groups]),
        lower=np.repeat([-np.inf, 0.0], [n_common, 2 * n_groups]),
    )
    reduced = reduce @ features
    source_weights = features[-n_source:].T @ source_coef
    primal = proportions.transfer_group_probability(
        reduced[:n_common],
        reduced[n_common:],
        (source_weights, source_offset),
        wanted,
        tube,
        (cost_common, cost_group),
        transfer,
    )

    def weights(beta):
        return shrink * (transfer * source_weights + reduced[used].T @ (side * beta))

    constant = transfer * shrink / 2 * source_weights @ source_weights
    return Case(dual, primal, weights, _identity, constant)


def one_class_tensor(rng, draw, gram, n=12, left=4):
    """OC-STM half-step; linear by nature, so the kernel asked for is not used."""
    tensors = draw(n * left).reshape(n, left, -1)
    factor = rng.normal(size=left)
    inputs, mu = np.einsum("imk,m->ik", tensors, factor), factor @ factor
    cost = 1.0 / (0.4 * n)
    dual = program(inputs @ inputs.T, [1.0], coupling=[[1.0 / mu]], upper=cost)
    primal = tensor.one_class_half_step(tensors, factor, cost)
    return Case(dual, primal, lambda a: inputs.T @ a / mu)


def binary_tensor(rng, draw, gram, n=16, left=3):
    """STM half-step; linear by nature, so the kernel asked for is not used."""
    tensors = draw(n * left).reshape(n, left, -1)
    factor, y, cost = rng.normal(size=left), labels(rng, n), rng.uniform(0.1, 2.0)
    inputs, mu = np.einsum("imk,m->ik", tensors, factor), factor @ factor
    primal = tensor.binary_half_step(tensors, y, factor, cost)
    return _svc(inputs @ inputs.T, y, primal, inputs / mu, coupling=[[1.0 / mu]], upper=cost)


def projected_means_svc(rng, draw, gram, n_source=18, n_target=11):
    """LMPROJ: C-SVC with the kernel deflated along the difference of the domain means."""
    kernel, y = gram(np.vstack([draw(n_source), draw(n_target) + 0.5])), labels(rng, n_source)
    cost, penalty = rng.uniform(0.1, 5.0), rng.uniform(0.5, 10.0)
    contrast = np.repeat([1.0 / n_source, -1.0 / n_target], [n_source, n_target])
    along = kernel[:n_source] @ contrast
    strength = penalty / (1.0 + penalty * contrast @ kernel @ contrast)
    deflated = kernel[:n_source, :n_source] - strength * np.outer(along, along)

    features = feature_map(kernel)
    shift = features.T @ contrast
    primal = classification.projected_means_svc(
        features[:n_source], y, np.full(n_source, cost), shift, penalty
    )
    bend = features[:n_source] - strength * np.outer(along, shift)
    return _svc(deflated, y, primal, bend, upper=cost)


def transductive_svc(rng, draw, gram, n=14, n_unlabelled=12):
    """TSVM with labels fixed: C-SVC whose costs depend on where a label comes from."""
    kernel = gram(draw(n + n_unlabelled))
    y, guesses = labels(rng, n), labels(rng, n_unlabelled)
    cost, cost_minus, cost_plus = 2.0, 1e-3, 0.4
    features = feature_map(kernel)
    primal = classification.transductive_svc(
        features[:n], y, features[n:], guesses, cost, cost_minus, cost_plus
    )
    costs = np.concatenate([np.full(n, cost), np.where(guesses > 0, cost_plus, cost_minus)])
    return _svc(kernel, np.concatenate([y, guesses]), primal, features, upper=costs)


REDUCTIONS = {
    build.__name__: build
    for build in (
        one_class_svm,
        shifted_one_class_svm,
        multitask_one_class_svm,
        c_svc,
        hard_margin_svc,
        c_svc_squared,
        nu_svc,
        inverse_calibration_svm,
        transfer_group_probability,
        one_class_tensor,
        binary_tensor,
        projected_means_svc,
        transductive_svc,
    )
}


def build_case(name, kind, kernel, seed):
    """One random instance of a row of the table; the same arguments give the same instance."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return REDUCTIONS[name](rng, partial(rows, rng, kind=kind), partial(kernel_matrix, name=kernel))
