"""Constant data have no variance, whatever rounding errors leave of one."""

import numpy as np
import pytest
from scipy import sparse

from scarce.kernels import scale_gamma


@pytest.mark.parametrize("value", [0.1, 1.1, 1 / 3, 123.456, 1e5 / 7])
def test_weighted_constant_data_give_one(value):
    for shape in ((7, 1), (10, 3), (100, 2), (1000, 7)):
        for seed in range(5):
            weights = np.random.default_rng(seed).uniform(0.1, 3.0, size=shape[0])
            assert scale_gamma(np.full(shape, value), weights) == 1.0
            # The mean of stored values is off by a digit, which leaves a variance.
            assert scale_gamma(sparse.csr_array(np.full(shape, value)), weights) == 1.0
        assert scale_gamma(np.full(shape, value)) == 1.0


def test_heavy_rows_far_from_the_first():
    # The first rows say nothing of where the weight is: the variance is that of two rows.
    X = np.r_[np.full(70, 1e6), [0.0, 1.0]][:, None]
    weights = np.r_[np.full(70, 1e-30), [1.0, 1.0]]
    assert scale_gamma(X, weights) == pytest.approx(4.0, rel=1e-12)
