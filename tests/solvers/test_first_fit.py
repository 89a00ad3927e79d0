"""A new process: the first small fits do without the compiler, and find the same."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

FITS = """
import json, sys
import numpy as np
from scarce import SVC, NuSVC, OneClassSVM
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 4))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=100) > 0, 1, -1)
models = [OneClassSVM(nu=0.1), SVC(), SVC(C=100.0, kernel="poly"), NuSVC(nu=0.3)]
found = [[float(m.fit(X, y).objective_), m.decision_function(X[:20]).tolist()] for m in models]
"""


@pytest.fixture(scope="module")
def first():
    code = FITS + "print(json.dumps([found, 'numba' in sys.modules]))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return json.loads(ran.stdout)


def test_the_compiler_is_not_loaded(first):
    assert first[1] is False


def test_the_answers_are_those_of_the_compiled_steps(first):
    import scarce.solvers._compiled  # noqa: F401

    space = {}
    exec(FITS, space)
    for (objective, decisions), (expected, compiled) in zip(first[0], space["found"], strict=True):
        assert objective == pytest.approx(expected, rel=1e-4)
        np.testing.assert_allclose(decisions, compiled, atol=5e-3 * np.ptp(compiled))
