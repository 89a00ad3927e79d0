"""Claims where rounding is as large as what is claimed, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import scarce
from tests.attack.fitting import fit
from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import Recipe

FAR_APART = Recipe(seed=4, n=4, d=20, cluster=0.25, distance=10.0**4.5, tight=1e-3, place="first",
                   decades=16.0, single=True, ties=True, kernel="poly", gamma=0.01, share=0.01,
                   cost=100.0)  # fmt: skip


def exact_gap(K, y, alpha, upper):
    """Return the least relative gap to the dual points ``t alpha``, over constants and ``t``."""
    n = len(alpha)
    own = [y[i] * sum(y[j] * K[i][j] * alpha[j] for j in range(n)) for i in range(n)]
    quadratic = sum(alpha[i] * own[i] for i in range(n))
    value = quadratic / 2 - sum(alpha)

    def gap(t, beta):
        reduced = [t * own[i] - 1 + y[i] * beta for i in range(n)]
        return (1 - t) ** 2 * quadratic / 2 + sum(
            alpha[i] * max(reduced[i], 0) + (upper[i] - alpha[i]) * max(-reduced[i], 0)
            for i in range(n)
        )

    factors = [Fraction(1), *(1 + Fraction(10.0**power) for power in np.arange(-14.0, -1.0, 0.25))]
    least = min(gap(t, y[i] * (1 - t * own[i])) for t in factors for i in range(n))
    return float(least / max(abs(value), abs(value - least)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_slopes_of_rounding_over_wide_boxes(seed, C):
    # Multipliers of 1e-11 in boxes of 1: slopes below the last digit of kernel values of 1e18 are
    # worth more than the whole objective.
    random = np.random.default_rng(seed)
    X, y = 1e4 + random.normal(size=(4, 20)), np.array([0, 1, 0, 1])
    model = scarce.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=C)
    warned = fit(model, X, y)
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    K = [[(1 + sum(a * b for a, b in zip(r, s, strict=True))) ** 2 for s in rows] for r in rows]
    alpha = [Fraction(0)] * 4
    for place, value in zip(model.support_, model.dual_coef_[0].tolist(), strict=True):
        alpha[place] = abs(Fraction(value))
    true = exact_gap(K, [2 * int(label) - 1 for label in y], alpha, [Fraction(C)] * 4)
    assert warned or true <= model.tol * (1 + 1e-6)
    # What is known of slopes to a factor is no more exact in the gap.
    assert model.dual_gap_ >= 0.1 * min(true, 1.0) - 0.01 * model.tol


def test_an_intercept_that_is_the_margin_but_for_rounding():
    # Class 1 scores 3 and class 0 scores 9e17 on its edge: the intercept, half their difference
    # over half their sum, is 1 - 7e-18, whose nearest number is 1.
    X, y = FAR_APART.rows, FAR_APART.labels
    model, arguments, keywords = MACHINES["NuSVC"].make(FAR_APART)
    assert not fit(model, *arguments, **keywords)
    rows = [[Fraction(value) for value in row] for row in X.astype(float).tolist()]
    gamma, edges = Fraction(FAR_APART.gamma), []
    terms = list(zip(model.support_, model.dual_coef_[0].tolist(), strict=True))
    for row in 0, 1:  # free, one in each class
        products = [gamma * sum(a * b for a, b in zip(rows[row], r, strict=True)) for r in rows]
        edges.append(sum(Fraction(value) * products[place] ** 3 for place, value in terms))
    assert y[:2].tolist() == [0, 1]
    intercept = (-edges[0] - edges[1]) / (edges[1] - edges[0])
    assert 0 < 1 - intercept < Fraction(1e-16)
    assert float(intercept) == model.intercept_[0] == 1.0


def test_a_heavy_row_of_a_ball():
    # All of the mass but 6e-9 is on the first row, the others are full: the optimum. Slopes are
    # known to the last digit of 1e15, and the box of the first row is 3e7 wide.
    recipe = Recipe(seed=4, n=4, d=1, place="first", offset=1e4, decades=16.0, ties=True,
                    kernel="linear", share=0.3, cost=100.0, tol=1e-5)  # fmt: skip
    model, arguments, keywords = MACHINES["SVDD"].make(recipe)
    assert not fit(model, *arguments, **keywords)
    mass = recipe.share * recipe.weights.sum()
    x, upper = ([Fraction(value) for value in each] for each in (recipe.rows[:, 0], recipe.weights))
    alpha = [Fraction(mass * value) for value in model.dual_coef_[0].tolist()]
    centre = sum(a * z for a, z in zip(alpha, x, strict=True))
    slopes = [z * centre - Fraction(mass) / 2 * z**2 for z in x]
    gap = sum(
        a * max(slope - slopes[0], 0) + max(u - a, 0) * max(slopes[0] - slope, 0)
        for a, u, slope in zip(alpha, upper, slopes, strict=True)
    )
    assert gap == 0
    assert attack(MACHINES["SVDD"], recipe).complaints == []


def test_landmarks_of_sparse_rows_with_large_costs():
    # What is kept is a combination of landmarks: values that are off by 1e-8 would be multiplied by
    # boxes of 1e10.
    random = np.random.default_rng(0)
    X = (1e4 + random.normal(size=(120, 5))).astype(np.float32)
    y = (X[:, 0] + random.normal(size=120) > 1e4).astype(int)
    weights = 10.0 ** random.uniform(-8, 8, size=120)
    model = scarce.SVC(
        C=100.0, gamma=0.1, approximation="nystroem", n_components=11, random_state=0
    )
    warned = fit(model, sparse.csr_array(X), y, sample_weight=weights)
    rows, signs = X.astype(float), 2.0 * y - 1.0
    K = np.exp(-0.1 * cdist(rows, rows[model.support_], "sqeuclidean"))
    beta = model.dual_coef_.toarray()[0]
    scores = K @ beta
    slacks = np.maximum(1.0 - signs * (scores + (signs - scores)[:, None]), 0.0)
    primal = 0.5 * beta @ K[model.support_] @ beta + 100.0 * (slacks @ weights).min()
    gap = (primal - model.objective_) / primal
    assert warned or gap <= model.tol * (1 + 1e-6)
    assert model.dual_gap_ >= gap - 0.01 * model.tol


# Cases in which the attack itself was wrong: its own sums, or its own idea of what can be known.


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        (
            "NuSVC",  # a multiplier of 3 beside one of 9e17: their sum and difference are stored
            FAR_APART,
        ),
        (
            "NuSVC",  # boxes from 1e-7 to 1e7: slopes that are summed up lose the small ones
            Recipe(seed=4486, n=14, d=1, cluster=0.05, distance=1.0, tight=1e-3, offset=1e6,
                   place="scattered", decades=16.0, single=True, csr=True, kernel="linear",
                   share=0.01, tol=1e-5),
        ),
        (
            "OneClassSVM",  # an optimum of zero: a row of zeros has no noise, its multiplier has
            Recipe(seed=586, n=210, d=1, cluster=0.5, distance=100.0, tight=1e-3, offset=100.0,
                   place="first", single=True, ties=True, kernel="linear"),
        ),
        (
            "OneClassSVM, nystroem",  # the same through landmarks, the first row being zero
            Recipe(seed=7478, n=12, d=1, cluster=0.1, distance=1.0, tight=1e-3, offset=0.0,
                   decades=4.0, ties=True, kernel="linear", cost=0.01, tol=1e-2),
        ),
        (
            "NuSVR",  # every row has both of its multipliers, and only differences are stored
            Recipe(seed=9479, n=242, d=1, cluster=0.05, distance=1e4, tight=0.1, offset=100.0,
                   decades=1.0, ties=True, kernel="poly", gamma=0.3, coef0=1.0, share=0.3,
                   cost=100.0, tol=1e-5),
        ),
        (
            "GroupProbabilitySVM",  # the same, of kernel values of 1e28
            Recipe(seed=8651, n=30, d=1, cluster=0.25, distance=1e5, tight=0.1, offset=0.0,
                   place="scattered", decades=16.0, single=True, ties=True, kernel="poly",
                   gamma=1.0, coef0=1.0, share=0.9, cost=0.01, tol=1e-2),
        ),
        (
            "TransductiveSVM",  # a multiplier of 1e-6 in a box of 3e7 is not at its bound
            Recipe(seed=1394, n=4, d=20, cluster=0.01, distance=1e6, tight=0.1, place="first",
                   offset=1e4, decades=16.0, single=True, csr=True, kernel="linear"),
        ),
    ],
)  # fmt: skip
def test_what_the_attack_cannot_know(name, recipe):
    assert attack(MACHINES[name], recipe).complaints == []
