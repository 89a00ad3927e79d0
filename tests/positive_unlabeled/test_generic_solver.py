"""The loop against a literal transcription on a generic solver, the strong negatives given."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from scarce import SVC, NuSVC
from tests.oracles.classification import c_svc, nu_svc
from tests.oracles.convex import feature_map
from tests.positive_unlabeled.samples import disc_in_a_square, of_the_paper, overlapping

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")

Array = NDArray[Any]

GAMMA = 0.3
NU = 0.15
C = 3.0


def trained(features: Array, labels: Array, learner: str) -> tuple[Array, float, Array]:
    """Return weights, offset, and which rows lie on or inside the margin."""
    if learner == "nu":
        primal = nu_svc(features, labels, NU)
        primal.solve()
        offset, margin = primal.offsets.value
    else:
        primal = c_svc(features, labels, np.full(len(labels), C))
        primal.solve()
        offset, margin = primal.offsets.value[0], 1.0
    weights = primal.weights.value
    edge = labels * (features @ weights + offset)
    return weights / margin, offset / margin, edge <= margin * (1 + 1e-5)


def transcription(
    features: Array, positives: Array, unlabelled: Array, strong: Array, keep: str, learner: str
) -> tuple[list[set[int]], Array, float]:
    """Return the rows rejected in each round, and the plane of the last classifier."""
    new, possible = set(unlabelled[strong].tolist()), set(unlabelled[~strong].tolist())
    negatives: set[int] = set()
    rejected = []
    while True:
        negatives |= new
        rows = np.array([*positives, *sorted(negatives)])
        labels = np.repeat([1.0, -1.0], [len(positives), len(negatives)])
        weights, offset, support = trained(features[rows], labels, learner)
        decisions = features @ weights + offset
        new = {row for row in possible if decisions[row] < 0}
        possible -= new
        rejected.append(new)
        if keep == "support":
            negatives = set(rows[support & (labels < 0)].tolist())
        if not new:
            return rejected, weights, offset


@pytest.mark.parametrize("keep", ["support", "all"])
@pytest.mark.parametrize("learner", ["nu", "c"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("make", [disc_in_a_square, overlapping])
def test_same_rounds_and_same_model(make, seed, learner, keep):
    X, y = make(seed, n_unlabelled=90)
    features = feature_map(rbf_kernel(X, gamma=GAMMA))
    positives, unlabelled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    mask = np.linalg.norm(X, axis=1) > 4.5
    expected, weights, offset = transcription(
        features, positives, unlabelled, mask[unlabelled], keep, learner
    )
    machine = NuSVC(nu=NU, gamma=GAMMA) if learner == "nu" else SVC(C=C, gamma=GAMMA)
    model = of_the_paper(mapper=mask, classifier=machine, keep=keep, tol=1e-8).fit(X, y)
    assert model.history_["rejected"] == [len(rows) for rows in expected]
    assert model.n_rounds_ > 1
    decisions = features @ weights + offset
    scale = np.abs(decisions).max()
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-4 * scale)
    accepted = unlabelled.size - mask[unlabelled].sum() - sum(map(len, expected))
    assert model.history_["accepted_share"][-1] == pytest.approx(accepted / unlabelled.size)
    assert model.class_prior_ == pytest.approx(np.mean(decisions[unlabelled] >= 0))
