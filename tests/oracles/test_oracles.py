"""The references agree with each other before they judge anything: primal against dual."""

import numpy as np
import pytest

from .program import dual_optimum
from .reductions import REDUCTIONS, build_case


@pytest.mark.parametrize(("kind", "kernel"), [("gaussian", "rbf"), ("flat", "linear")])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_primal_equals_dual(name, kind, kernel):
    case = build_case(name, kind, kernel, seed=3)
    value, alpha = dual_optimum(case.program)
    optimum = case.primal.solve()
    assert optimum == pytest.approx(case.constant - value, rel=1e-7, abs=1e-8)
    weights, offsets = case.primal.weights.value, case.primal.offsets.value
    scores = case.primal.scores.value
    np.testing.assert_allclose(case.weights(alpha), weights, atol=1e-4)
    assert case.primal.value_at(weights, offsets) == pytest.approx(optimum, rel=1e-7, abs=1e-8)
    assert np.isfinite(scores).all()
