"""Every CPU level of this processor: as plain NumPy, and the same bits from AVX2 on."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scarce import _core
from tests.core.test_processes import FITS, run

ROOT = Path(__file__).parents[2]
ASKED = "from scarce import _core; print(_core.LEVEL)"
ANSWERS = """
import hashlib, json
import numpy as np
from tests.core.declared import FUNCTIONS, call
from tests.core.samples import arguments
from tests.core.test_references import SIZES, types

def digest(name, n, real, index):
    found = hashlib.sha256()
    for seed in range(3):
        given = arguments(name, n, np.random.default_rng([seed, n]), real, index)
        results, written = call(FUNCTIONS[name], given)
        for each in (*results, *written.values()):
            found.update(np.asarray(each).tobytes())
    return found.hexdigest()

print(json.dumps({
    f"{name} {n} {real}{index}": digest(name, n, real, index)
    for name in FUNCTIONS for real, index in types(name) for n in [*SIZES, 77, 200]
    if n or name not in {"pairwise_steps", "solve_small"}
}))
"""


@functools.cache
def levels():
    """Return the levels of this processor, the plain one first."""
    return [level for level in ("base", "v3", "v4") if run(ASKED, SCARCE_CPU=level) == f"{level}\n"]


def test_the_highest_level_is_the_usual_one():
    assert levels()[0] == "base"
    for asked in ("", "v4", "none such"):
        assert run(ASKED, SCARCE_CPU=asked).strip() == levels()[-1]


@pytest.mark.parametrize("level", ["base", "v3", "v4"])
def test_every_level_is_the_same_as_plain_numpy(level):
    if level not in levels() or level == _core.LEVEL:
        pytest.skip("a level that the processor does not have, or that of this process")
    files = [f"tests/core/{name}.py" for name in ("test_references", "test_verdict")]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SCARCE_CPU": level},
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("code", [ANSWERS, FITS], ids=["functions", "fits"])
def test_levels_with_fused_products_give_the_same_bits(code):
    if levels() != ["base", "v3", "v4"]:
        pytest.skip("the processor has no two such levels")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"
    one, other = (run(code, SCARCE_CPU=level) for level in ("v3", "v4"))
    if code.endswith(ANSWERS):
        one, other = json.loads(one), json.loads(other)
        assert len(one) > 250
        assert [case for case in one if one[case] != other[case]] == []
    assert one == other
