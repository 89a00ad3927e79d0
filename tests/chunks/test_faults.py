"""An interrupted driver and chunks that cannot be read: nothing half-fitted is left."""

import numpy as np
import pytest

from scarce import SVC, SVMC, OneClassSVM, PositiveUnlabeledSVC
from scarce.chunks import ArrayChunks, ChunkError, Part

X = np.random.default_rng(0).normal(size=(900, 3)) + 1.0
Y = (np.arange(900) % 10 == 0).astype(int)
MACHINES = [
    OneClassSVM(nu=0.2, kernel="linear", offset="left_out"),
    SVC(approximation="nystroem", n_components=10, random_state=0),
    SVMC(gamma=1.0, learner="csvc", max_rounds=2, diagnose=False),
    PositiveUnlabeledSVC(n_bags=3, random_state=0),
]


class Failing(ArrayChunks):
    """Rows whose chunk 1 fails when it is read for the n-th time."""

    def __init__(self, error, at):
        super().__init__(X, rows=300, y=Y)
        self.error, self.at, self.reads = error, at, 0

    def read(self, index) -> Part:
        if index == 1:
            self.reads += 1
            if self.reads == self.at:
                raise self.error
        return super().read(index)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MACHINES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_nothing_half_fitted_is_left(model, at):
    with pytest.raises(KeyboardInterrupt):
        model.fit(Failing(KeyboardInterrupt(), at))
    assert set(vars(model)) == set(model.get_params())
    with pytest.raises(ChunkError, match=r"chunk 1 \(rows 300 to 599\) .*OSError: disk on fire"):
        model.fit(Failing(OSError("disk on fire"), at))
    assert set(vars(model)) == set(model.get_params())
