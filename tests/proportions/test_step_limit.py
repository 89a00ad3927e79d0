"""A last limit on the pairwise steps, for rows of a scale that leaves the kernel few digits."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scarce import GroupProbabilitySVM
from tests.versions import NEEDS_CALLBACKS


class Blocks:
    """A callback that counts the solver's blocks and ends a fit of too many."""

    def __init__(self, most):
        self.most, self.seen = most, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.seen += context.task_name == "block"
        assert self.seen <= self.most, f"no end after {self.seen} blocks"


def cubic(A, B):
    """A kernel that is not known to be definite, so that no interior method may end the crawl."""
    return (A @ B.T + 1.0) ** 3


@NEEDS_CALLBACKS
def test_steps_without_end_are_ended():
    random = np.random.default_rng(0)
    X = 100.0 * random.normal(size=(40, 3))
    y = random.integers(2, size=40)
    # A block has some 20,000 steps, the limit is two million of them.
    blocks = Blocks(most=200)
    model = GroupProbabilitySVM(kernel=cubic).set_callbacks(blocks)
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        model.fit(X, y)
    assert model.n_iter_ == 2_000_000
    assert blocks.seen > 50
    assert model.fit_status_ == 1
    assert model.kkt_violation_ > model.tol
