"""Overlapping classes at nu = 0.01, where LIBSVM divides by the rounding error of a margin."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel

from scarce import NuSVC
from tests.oracles.classification import nu_svc
from tests.positive_unlabeled.samples import of_the_paper, two_gaussians

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")

STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

# rows per class, kernel, distance, shared rows; the accuracy that the classes allow
TABLE = {
    "linear, distance 0.8": (60, "linear", 0.8, 0, 0.6),
    "40 rows, 1 shared": (40, "rbf", 6.0, 1, 0.98),
    "400 rows, 1 shared": (400, "rbf", 6.0, 1, 0.99),
    "400 rows, 5 shared": (400, "rbf", 6.0, 5, 0.98),
    "distance 3": (400, "rbf", 3.0, 0, 0.92),
    "distance 2": (400, "rbf", 2.0, 0, 0.83),
}
# By the rule of thumb that m shared rows meet once 2 m >= nu n.
USED = {"40 rows, 1 shared": 0.05, "400 rows, 1 shared": 0.01, "400 rows, 5 shared": 0.02}


def guarded(classifier, X, y, tol=1e-5):
    """Return a fit that trains once, on all rows of the second class as negatives."""
    return of_the_paper(
        mapper=np.ones(len(y), bool), classifier=classifier, drop_shared=False, keep="all", tol=tol
    ).fit(X, y)


@pytest.mark.filterwarnings("ignore:nu raised")
@pytest.mark.parametrize("kind", [NuSVC, svm.NuSVC], ids=["scarce", "sklearn"])
@pytest.mark.parametrize("case", TABLE)
def test_nu_is_raised_until_there_is_a_margin(case, kind):
    n, kernel, distance, shared, accuracy = TABLE[case]
    X, y = two_gaussians(n, distance, shared)
    # LIBSVM at its default tolerance, as in the table; a tighter one takes millions of steps.
    tol = 1e-3 if kind is svm.NuSVC else 1e-5
    model = guarded(kind(nu=0.01, kernel=kernel, gamma=0.5), X, y, tol)
    assert model.history_["nu"][0] == model.classifier_.nu
    assert np.mean(model.predict(X) == y) >= accuracy
    assert model.history_["nu"][0] == USED.get(case, model.history_["nu"][0])
    assert (model.history_["guard"] == ["nu raised"]) == (case != "400 rows, 1 shared")
    # Decisions have a size that means something.
    assert np.abs(model.decision_function(X)).max() < 1e4


@pytest.mark.filterwarnings("ignore:nu raised")
@pytest.mark.parametrize("distance", [0.8, 2.0])
def test_the_value_used_is_the_first_with_a_margin(distance):
    X, y = two_gaussians(60, distance)
    radius = np.linalg.norm(X, axis=1).max()
    margins = {}
    for nu in STEPS:
        primal = nu_svc(X, 2.0 * y - 1, nu)
        primal.solve()
        norm, margin = np.linalg.norm(primal.weights.value), primal.offsets.value[1]
        margins[nu] = norm >= 1e-2 * nu * radius or margin >= 1e-4 * nu * radius**2
    first = next(nu for nu in STEPS if margins[nu])
    assert first > 0.01
    model = guarded(NuSVC(nu=0.01, kernel="linear", tol=1e-8), X, y)
    assert model.history_["nu"] == [first]


def test_libsvm_alone_fails_on_these_rows():
    # What the guard is for. Whether an error is raised or nonsense returned depends on rounding.
    failed = 0
    for n, kernel, distance, shared, accuracy in TABLE.values():
        X, y = two_gaussians(n, distance, shared)
        try:
            model = svm.NuSVC(nu=0.01, kernel=kernel, gamma=0.5, tol=1e-3).fit(X, y)
        except ValueError:
            failed += 1
        else:
            failed += model.score(X, y) < accuracy - 0.1
    assert failed >= 3


@pytest.mark.filterwarnings("error")
def test_nothing_is_raised_where_the_margin_is_small_but_real():
    X, y = two_gaussians(400, 6.0, 1)
    model = guarded(NuSVC(nu=0.01, gamma=0.5), X, y)
    assert model.history_["guard"] == [""]
    K = rbf_kernel(X, gamma=0.5)
    dual = np.zeros(800)
    dual[model.support_] = model.dual_coef_[0]
    margin = 0.01 / np.abs(dual).sum()
    primal = margin**2 * dual @ K @ dual / 2 - 0.01 * margin
    slack = np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(X))
    assert model.objective_ == pytest.approx(primal + margin * slack.mean(), rel=1e-3)
