"""Threads of BLAS: they are found where they are loaded, and change no bit of an answer."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from scarce import SVC, OneClassSVM
from tests.solvers.internals import _threads

# Programs of 60 to 190 variables.
FITS = """
import hashlib
import numpy as np
from scarce import SVC, SVDD, GroupProbabilitySVM, NuSVC, OneClassSVM
from scarce.chunks import ArrayChunks

def digest(model):
    arrays = [np.asarray(value) for _, value in sorted(vars(model).items()) if _.endswith("_")]
    return hashlib.sha256(b"".join(each.tobytes() for each in arrays)).hexdigest()

for n, width in ((60, 300), (95, 16), (130, 4), (190, 40)):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, width))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, 1, -1)
    for model in (
        OneClassSVM(nu=0.1),
        OneClassSVM(nu=0.5, kernel="laplacian"),
        SVDD(nu=0.3, kernel="poly", coef0=1.0),
        SVC(C=10.0),
        SVC(C=0.1, kernel="linear"),
        NuSVC(nu=0.3),
    ):
        print(n, model, digest(model.fit(X, y)))

X = np.random.default_rng(0).normal(size=(4000, 3))
groups = np.repeat(np.arange(40), 100)
share = 1 / (1 + np.exp(-X[:, 0].reshape(40, -1).mean(axis=1) * 20))
model = GroupProbabilitySVM().fit(X, share[groups], groups=groups)
print(model, model.effective_labels_, model.decision_function(X[:50]).tobytes().hex())

X, y = np.random.default_rng(0).normal(size=(3000, 5)), np.arange(3000) % 2
landmarks = {"approximation": "nystroem", "n_components": 40, "random_state": 0}
for model in (OneClassSVM(nu=0.1, **landmarks), SVC(**landmarks)):
    model.fit(ArrayChunks(X + 0.5 * y[:, None], y=y, rows=500))
    print(model, model.decision_function(X[:50]).tobytes().hex())
"""


def answers(threads):
    ran = subprocess.run(
        [sys.executable, "-c", FITS],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": str(threads)},
    )
    return ran.stdout.splitlines()


def test_first_fits_do_not_depend_on_the_number_of_threads():
    one = answers(1)
    assert len(one) == 27
    assert one == answers(2)


def test_blas_is_found_as_threadpoolctl_finds_it():
    everything = ThreadpoolController().select(user_api="blas").lib_controllers
    ours = {library.filepath: library.num_threads for library in _threads._libraries()}
    # Of libraries that were loaded later, by other tests, nothing is known.
    assert ours
    assert ours.items() <= {each.filepath: each.num_threads for each in everything}.items()


@pytest.mark.parametrize("content", [None, "7f00-7f01 r--p 00000000 08:01 42  /usr/libc.so.6\n"])
def test_blas_is_found_where_nothing_is_listed(content, tmp_path, monkeypatch):
    """Another system has no list, and a list may name no BLAS: all libraries are looked at."""
    if content is not None:
        (tmp_path / "maps").write_text(content)
    expected = {library.filepath for library in _threads._libraries()}
    monkeypatch.setattr(_threads, "_LISTED", tmp_path / "maps")
    found = {library.filepath for library in _threads._libraries.__wrapped__()}
    assert found >= expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 9_999, 10_000, 159_999, 160_000])
def test_long_sums_of_squares_wake_no_thread(n, dtype, monkeypatch):
    """The threads would go on spinning, at the cost of whatever comes next."""
    held, vdot = [], np.vdot

    def watched(*arrays):
        held.append(arrays[0].size < 10_000 or _threads.single_threaded_blas._inside > 0)
        return vdot(*arrays)

    monkeypatch.setattr(_threads.np, "vdot", watched)
    values = np.random.default_rng(0).normal(size=n).astype(dtype)
    assert _threads.sum_of_squares(values) == pytest.approx(
        float(np.square(values).sum()), rel=1e-4
    )
    assert all(held)
    assert len(held) == (1 if n == 160_000 else max(1, -(-n // 9_999)))


def test_no_product_of_a_fit_is_left_to_threads(monkeypatch):
    """Neither the checks of the input nor the width nor the solver share anything out."""
    loose, vdot = [], np.vdot

    def watched(*arrays):
        if (
            max(each.size for each in arrays) >= 10_000
            and _threads.single_threaded_blas._inside == 0
        ):
            loose.append([each.shape for each in arrays])
        return vdot(*arrays)

    monkeypatch.setattr(np, "vdot", watched)
    X = np.random.default_rng(0).normal(size=(1000, 16))
    SVC().fit(X, X[:, 0] > 0).predict(X)
    OneClassSVM(nu=0.1).fit(X).predict(X)
    assert loose == []
