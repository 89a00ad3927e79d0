"""Every public estimator passes scikit-learn's own estimator checks."""

from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import scarce

NU_INFEASIBLE = "the smaller class has less than nu / 2 = 1/4 of the rows, so NuSVC's nu is infeasible"

# No check is expected to fail; NuSVC alone may name checks whose class sizes contradict its nu.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {"NuSVC": {}}


def public_estimators() -> list[Any]:
    classes = [getattr(scarce, name) for name in scarce.__all__]
    return [kind() for kind in classes if isinstance(kind, type) and issubclass(kind, BaseEstimator)]


@parametrize_with_checks(
    public_estimators(),
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
