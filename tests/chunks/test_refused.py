"""Estimators that cannot be fitted by chunks say so, and which can."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import scarce
from scarce import baselines
from scarce.chunks import ArrayChunks

BY_CHUNKS = {
    "GroupProbabilitySVM",
    "MappingConvergence",
    "NuSVC",
    "OneClassSVM",
    "PositiveUnlabeledSVC",
    "SVC",
    "SVMC",
    "TransferGroupProbabilitySVM",
    "TransferOneClassSVM",
    "UOCTSVM",
}


def estimators():
    for module in (scarce, baselines):
        for name in sorted(dir(module)):
            kind = getattr(module, name)
            if inspect.isclass(kind) and issubclass(kind, BaseEstimator):
                yield kind


@pytest.mark.parametrize("kind", sorted(set(estimators()), key=lambda kind: kind.__name__))
def test_rows_in_chunks_are_fitted_or_refused_with_what_can(kind):
    chunks = ArrayChunks(np.random.default_rng(0).normal(size=(40_000, 5)), rows=10_000)
    y = {"y": None} if "y" in inspect.signature(kind.fit).parameters else {}
    if kind.__name__ not in BY_CHUNKS:
        message = rf"{kind.__name__}.fit needs its rows in memory, 2 MB for 40000 rows of 5 .*"
        with pytest.raises(TypeError, match=message + 'approximation="nystroem" or kernel="linear'):
            kind().fit(chunks, **y)
        return
    with pytest.raises(ValueError, match=r"chunks|needs y, one label per row"):
        kind().fit(chunks, **y)


def test_cells_are_not_offered():
    message = r"approximation.* must be .*'nystroem'.*\"cells\" is not offered.*Got 'cells'"
    with pytest.raises(ValueError, match=message):
        scarce.OneClassSVM(approximation="cells").fit(np.zeros((5, 2)))
