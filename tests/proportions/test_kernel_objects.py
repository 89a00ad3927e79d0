"""A kernel matrix is one by what the kernel says of itself, not by its name."""

import numpy as np

from scarce import GroupProbabilitySVM
from scarce.kernels import PrecomputedKernel


def test_an_object_for_precomputed_values_is_the_name():
    random = np.random.default_rng(0)
    X, groups = random.normal(size=(240, 3)), np.arange(240) // 12
    shares = np.repeat([np.mean(X[groups == g, 0] > 0) for g in range(20)], 12)
    K = X @ X.T
    # Twenty groups: some are left out, and their part of the matrix is taken.
    named = GroupProbabilitySVM(kernel="precomputed").fit(K, shares, groups)
    given = GroupProbabilitySVM(kernel=PrecomputedKernel()).fit(K, shares, groups)
    assert given.left_out_loss_ == named.left_out_loss_
    np.testing.assert_array_equal(given.predict_proba(K), named.predict_proba(K))
