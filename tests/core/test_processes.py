"""What holds of whole processes: CPU levels, Ctrl-C, the same bits whatever ran before."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import scarce

FITS = """
import hashlib, json, os, sys
import numpy as np
import scarce
from scarce import SVC, SVDD, SVR, NuSVC, OneClassSVM, _core

def arrays(model):
    return [np.asarray(value) for key, value in sorted(vars(model).items()) if key.endswith("_")]

def digest(model):
    return hashlib.sha256(b"".join(each.tobytes() for each in arrays(model))).hexdigest()

random = np.random.default_rng(0)
def models():
    for n, width in ((40, 3), (130, 40), (300, 5)):
        random = np.random.default_rng(n)
        X = random.normal(size=(n, width))
        y = np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, 1, -1)
        classes = np.digitize(X[:, 1], [-0.5, 0.5])
        yield OneClassSVM(nu=0.2).fit(X), X
        yield SVDD(nu=0.3, kernel="poly", coef0=1.0).fit(X), X
        yield SVC(C=10.0).fit(X, y), X
        yield SVC(kernel="laplacian").fit(X, classes), X
        yield NuSVC(nu=0.2).fit(X, y), X
        yield SVR(epsilon=0.2).fit(X, X[:, 1]), X

before = sys.argv[1] if len(sys.argv) > 1 else ""
if before == "others":  # other fits first, small and large, in another order
    for n in (700, 35, 64):
        X = random.normal(size=(n, 4))
        OneClassSVM(nu=0.3).fit(X)
        SVC(C=100.0).fit(X, X[:, 0] > 0)
if before == "values":
    print(json.dumps([_core.LEVEL] + [
        np.ravel(model.decision_function(X) if hasattr(model, "decision_function")
                 else model.predict(X)).tolist() for model, X in models()]))
else:
    for model, _ in models():
        print(model, digest(model))
"""


def run(code, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_bits_whatever_ran_before_and_in_any_number_of_threads():
    wanted = run(FITS, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert len(wanted.splitlines()) >= 18
    assert run(FITS, "others", OMP_NUM_THREADS="1") == wanted
    assert run(FITS, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2") == wanted


def test_the_base_level_gives_the_same_answers_to_rounding():
    level, *usual = json.loads(run(FITS, "values", SCARCE_CPU=""))
    base, *plain = json.loads(run(FITS, "values", SCARCE_CPU="base"))
    assert base == "base"
    assert len(plain) == len(usual)
    for one, other in zip(usual, plain, strict=True):
        scale = max(1.0, np.abs(one).max())
        # Solutions are exact to the tolerance of the solver at the latest, mostly to rounding.
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-3 * scale)
    close = [
        np.abs(np.subtract(one, other)).max() <= 1e-9 * max(1.0, np.abs(one).max())
        for one, other in zip(usual, plain, strict=True)
    ]
    assert np.mean(close) > 0.8, (level, close)


CALLS = """
import signal, sys, time
import numpy as np
from scarce import _core

def boxes(y, C):
    return np.minimum(C * y, 0), np.maximum(C * y, 0), np.full(y.size, C), np.array([0, y.size])

def steps(n, most):
    \"\"\"Return the arguments of steps that do not come to an end for a very long time.\"\"\"
    K, y = sample(n, 0.1)
    none = np.zeros(0, np.int64)
    return (K, np.arange(n), np.ones((1, 1)), np.zeros(n), np.ones(n), *boxes(y, 1e4),
            np.zeros((0, 0)), none, none, np.zeros(0), -y, np.zeros(n), 1e-12, most,
            np.full(3, -1), 0)

def small(n):
    K, y = sample(n, 0.3)
    rows, zero = np.arange(n), np.zeros(n)
    return (K, rows, rows[:0], np.ones(n), np.ones(n), zero, -y, *boxes(y, 10.0), np.zeros(1),
            np.ones((1, 1)), np.zeros(n, np.int64), np.zeros((1, 1)), np.zeros(n),
            np.zeros(n * n), np.zeros(n), np.zeros(1), 1e-9, 10**6, 0)

def sample(n, gamma):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    squares = (X**2).sum(axis=1)
    K = np.exp(-gamma * (squares[:, None] + squares - 2 * X @ X.T))
    return K, np.sign(random.normal(size=n))
"""
WAITING = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has it ignored
arguments = steps(800, 10**12)
print("begun", flush=True)
_core.pairwise_steps(*arguments)
print("ended")
"""
TIMED = """
function, make = {
    "pairwise_steps": (_core.pairwise_steps, lambda: steps(800, 150_000)),
    "solve_small": (_core.solve_small, lambda: small(3000)),
}[sys.argv[1]]
arguments = make()
begun = time.process_time()
function(*arguments)
whole = time.process_time() - begun
arguments = make()
signal.signal(signal.SIGPROF, signal.default_int_handler)
begun = time.process_time()
signal.setitimer(signal.ITIMER_PROF, 0.2 * whole)
try:
    function(*arguments)
except KeyboardInterrupt:
    print((time.process_time() - begun) / whole)
"""


def test_models_and_rows_in_buffers_with_a_header_are_read():
    """So distributed sends them: arrays apart from their objects, at any place of memory."""
    X = np.random.default_rng(0).normal(size=(700, 4)) + 1.0
    model = scarce.OneClassSVM(nu=0.2).fit(X)
    apart = []
    body = pickle.dumps((model, X), protocol=5, buffer_callback=apart.append)
    headed = [memoryview(bytearray(b"h" + bytes(each.raw())))[1:] for each in apart]
    other, rows = pickle.loads(body, buffers=headed)
    assert not rows.flags.aligned
    assert not other.support_vectors_.flags.aligned
    np.testing.assert_array_equal(other.decision_function(rows), model.decision_function(X))
    again = scarce.OneClassSVM(nu=0.2).fit(rows)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.skipif(os.name == "nt", reason="no such signal for one process")
def test_ctrl_c_ends_a_long_call():
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", CALLS + WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.3)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert output == ""


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="no timer of processor time")
@pytest.mark.parametrize("name", ["pairwise_steps", "solve_small"])
def test_a_call_ends_soon_after_a_signal(name):
    """Of the time of the whole call, after a signal at a fifth of it."""
    share = float(run(CALLS + TIMED, name, OPENBLAS_NUM_THREADS="1"))
    assert 0.2 <= share + 0.01
    assert share < 0.8
