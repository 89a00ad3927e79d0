"""Samples of tensors, and the problem of one half-step written out for a generic solver."""

import string

import cvxpy as cp
import numpy as np

from tests.oracles.convex import minimise


def spec_matrices(mean=0.6):
    """Eight 4 x 3 matrices whose objectives at nu = 0.4 are a matter of record."""
    return np.random.default_rng(0).normal(size=(8, 4, 3)) + mean


def one_class_tensors(shape, n=12, seed=0, mean=0.6):
    return np.random.default_rng(seed).normal(size=(n, *shape)) + mean


def two_class_tensors(shape, n=20, seed=0):
    random = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    return random.normal(size=(n, *shape)) + 0.4 * signs.reshape(-1, *(1 for _ in shape)), signs


def random_factors(shape, rank, seed=1):
    """Mostly positive, as the samples are: else a one-class half-step is likely to be zero."""
    random = np.random.default_rng(seed)
    return [random.normal(size=(size, rank)) + 1.0 for size in shape]


def tensor_of(factors):
    """``sum_r u_r^(1) o ... o u_r^(N)``, by one einsum."""
    letters = string.ascii_lowercase[: len(factors)]
    return np.einsum(",".join(f"{c}z" for c in letters) + "->" + letters, *factors)


def weights_in(factors, mode):
    """The weight tensor, flattened, as a linear expression in the factor of one mode.

    Built entry by entry from the definition, so that it shares nothing with Khatri-Rao products,
    roots or unfoldings.
    """
    free = cp.Variable(factors[mode].shape)
    basis = []
    for index in np.ndindex(*factors[mode].shape):
        unit = [factor.copy() for factor in factors]
        unit[mode] = np.zeros_like(factors[mode])
        unit[mode][index] = 1.0
        # Only the column of the unit entry is left of the other factors' sum.
        basis.append(tensor_of(unit).ravel())
    return np.array(basis).T @ cp.reshape(free, (free.size,), order="C")


def one_class_value(tensors, factors, mode, nu):
    """Optimum of the one-class problem in the factor of one mode and rho, and its weights."""
    weights = weights_in(factors, mode)
    rho = cp.Variable()
    scores = tensors.reshape(len(tensors), -1) @ weights
    slack = cp.sum(cp.pos(rho - scores)) / (nu * len(tensors))
    value = minimise(cp.sum_squares(weights) / 2 - rho + slack)
    return value, np.asarray(weights.value)


def binary_value(tensors, signs, factors, mode, cost):
    """Optimum of the binary problem in the factor of one mode and b, and its weights."""
    weights = weights_in(factors, mode)
    b = cp.Variable()
    scores = tensors.reshape(len(tensors), -1) @ weights
    slack = cost * cp.sum(cp.pos(1 - cp.multiply(signs, scores + b)))
    value = minimise(cp.sum_squares(weights) / 2 + slack)
    return value, np.asarray(weights.value)
