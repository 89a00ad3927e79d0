"""The project's own checks on every public estimator."""

import subprocess
import sys

import pytest

from scarce._sklearn import HAS_CALLBACKS
from scarce.testing import Check, Subject, all_checks, checks_for
from tests.subjects import SUBJECTS, public_estimators

# Samples of a handful of rows, of which little can be promised.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")

CASES = [(subject, each) for subject in SUBJECTS for each in checks_for(subject)]


@pytest.mark.parametrize(
    ("subject", "check"), CASES, ids=[f"{subject.name}-{each.name}" for subject, each in CASES]
)
def test_check(subject: Subject, check: Check) -> None:
    check.run(subject)


def test_every_public_estimator_is_checked() -> None:
    machines = set(public_estimators().values())
    assert {type(subject.estimator) for subject in SUBJECTS} == machines


def test_every_check_runs_on_some_estimator() -> None:
    known = {each.name for each in all_checks() if HAS_CALLBACKS or "callbacks" not in each.needs}
    assert known == {each.name for _, each in CASES}


def test_importing_changes_no_setting() -> None:
    program = """
import os, warnings
import numpy, sklearn, scipy.sparse
import threadpoolctl
def settings():
    return (
        sklearn.get_config(), numpy.geterr(), numpy.get_printoptions(), list(warnings.filters),
        dict(os.environ), [pool["num_threads"] for pool in threadpoolctl.threadpool_info()],
        numpy.random.get_state()[1].tolist(),
    )
before = settings()
import scarce
assert settings() == before, [pair for pair in zip(before, settings()) if pair[0] != pair[1]]
"""
    subprocess.run([sys.executable, "-c", program], check=True)
