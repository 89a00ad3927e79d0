"""The width called "scale" of sparse rows: by moments around zero it loses its digits."""

import numpy as np
import pytest
from scipy import sparse

from scarce.kernels import scale_gamma


@pytest.mark.parametrize("value", [0.1, 1.1, 1 / 3, 123.456, 1e5 / 7])
def test_weighted_constant_data_give_one(value):
    for shape in ((7, 1), (10, 3), (100, 2), (1000, 7)):
        for seed in range(5):
            weights = np.random.default_rng(seed).uniform(0.1, 3.0, size=shape[0])
            assert scale_gamma(sparse.csr_array(np.full(shape, value)), weights) == 1.0
        assert scale_gamma(sparse.csr_array(np.full(shape, value))) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4])
def test_sparse_data_far_from_the_origin(dtype, offset):
    X = (np.random.default_rng(0).normal(size=(500, 3)) + offset).astype(dtype)
    exact = 1.0 / (3 * X.astype(np.float64).var())
    assert scale_gamma(sparse.csr_array(X)) == pytest.approx(exact, rel=1e-6)
