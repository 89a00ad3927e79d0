"""Factors to begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from scarce._arrays import Array
from scarce.tensor._contractions import Tensors

Factors = list[Array]
Random = Callable[[], np.random.RandomState]  # made when it is first asked for

N_RESTARTS = 300  # cheap random starts tried when nothing else leads away from zero


def starts(
    tensors: Tensors,
    coefficients: Array,
    rank: int,
    n_init: int,
    random: Random,
    grown: Callable[[], Iterator[Factors]],
    softened: Callable[[Factors], Iterator[Factors]],
) -> Iterator[Iterator[Factors]]:
    """Return `n_init` lists of starts; of each the first counts that does not lead to zero.

    ``grown`` are starts from a lower rank, ``softened`` from easier problems. With one mode there
    is one solution, and one start.
    """
    yield fixed_start(tensors, coefficients, rank, random, grown, softened)
    if tensors.order > 1:
        for _ in range(n_init - 1):
            yield iter([random_factors(tensors, rank, random)])


def fixed_start(
    tensors: Tensors,
    coefficients: Array,
    rank: int,
    random: Random,
    grown: Callable[[], Iterator[Factors]],
    softened: Callable[[Factors], Iterator[Factors]],
) -> Iterator[Factors]:
    """Return the fixed start, and what to try in turn when it leads to zero.

    Ones are the paper's start. Equal columns would stay equal, so that they are for rank one only.
    The sign of a factor does not matter: the next half-step turns it. A random start that leads to
    zero costs one half-step.
    """
    if rank == 1:
        yield [np.ones((size, 1)) for size in tensors.shape]
    else:
        yield from grown()
    leading = leading_of_sum(tensors, coefficients, rank, random)
    yield leading
    yield leading_of_sample(tensors, rank, random)
    yield from softened(leading)
    for _ in range(N_RESTARTS):
        yield random_factors(tensors, rank, random)


def leading_of_sum(tensors: Tensors, coefficients: Array, rank: int, random: Random) -> Factors:
    """Return the leading left singular vectors of the unfoldings of ``sum_i coefficients_i X_i``.

    ``coefficients`` are the weights, signed by class for two classes: the weight tensor of a
    model that is all slack.
    """
    total = tensors.combine(coefficients)
    grams = []
    for mode, size in enumerate(tensors.shape):
        unfolded = np.moveaxis(total, mode, 0).reshape(size, -1)
        grams.append(unfolded @ unfolded.T)
    return [_leading(gram, rank, random) for gram in grams]


def leading_of_sample(tensors: Tensors, rank: int, random: Random) -> Factors:
    """Return the leading left singular vectors of the unfoldings ``[X_1 ... X_n]``."""
    grams = [tensors.unfolding_gram(mode) for mode in range(tensors.order)]
    return [_leading(gram, rank, random) for gram in grams]


def random_factors(tensors: Tensors, rank: int, random: Random) -> Factors:
    """Return random columns; their length has no effect."""
    return [random().normal(size=(size, rank)) for size in tensors.shape]


def _leading(gram: Array, rank: int, random: Random) -> Array:
    """Return the eigenvectors of the largest eigenvalues, and random columns if there are few."""
    vectors = np.linalg.eigh(gram)[1][:, ::-1][:, :rank]
    if vectors.shape[1] == rank:
        return np.asarray(vectors)
    extra = random().normal(size=(len(gram), rank - vectors.shape[1]))
    return np.concatenate([vectors, extra], axis=1)
