"""A gap is relative to the objectives, however large the kernel's values are beside them.

Rows far from the origin have large inner products, which cancel in a model of two classes.
"""

import numpy as np
import pytest

import scarce
from tests.attack.fitting import fit


@pytest.mark.parametrize(("offset", "C"), [(1e3, 1e2), (1e4, 1e2), (1e5, 1e2), (1e6, 1e4)])
def test_linear_rows_far_from_the_origin(offset, C):
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int)
    signs = 2.0 * y - 1.0
    X[:, 0] += 0.2 * signs
    X += offset
    model = scarce.SVC(kernel="linear", C=C, tol=0.1)
    warned = fit(model, X, y)
    signed = np.zeros(200)
    signed[model.support_] = model.dual_coef_[0]
    # The coefficients sum to zero: moving the rows changes nothing but the offset, and is exact to
    # the last digit of the rows.
    moved = X - offset
    scores = moved @ (moved.T @ signed)
    slacks = np.maximum(1.0 - signs * (scores + (signs - scores)[:, None]), 0.0)
    squared = float(signed @ scores)
    primal = 0.5 * squared + C * float(slacks.sum(axis=1).min())
    dual = np.abs(signed).sum() - 0.5 * squared
    relative = (primal - dual) / max(abs(primal), abs(dual))
    assert model.dual_gap_ >= relative - 0.01 * model.tol
    assert warned or relative <= model.tol * (1 + 1e-6)
