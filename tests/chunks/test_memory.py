"""Three million rows of a memory map: what a fit takes in memory beside them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

N, COLUMNS = 3_000_000, 20

# In a process of its own, since memory that other tests took would count.
CODE = """
import sys, threading
import numpy as np
from scarce import OneClassSVM

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1e3

def watch():
    while not done.wait(0.01):
        seen.append(anonymous())

settings = {"nu": 0.1, "approximation": "nystroem", "n_components": 20, "random_state": 0}
mapped = np.load(sys.argv[1], mmap_mode="r")
OneClassSVM(**settings).fit(np.array(mapped[:3000]))  # compiled code
before, seen, done = anonymous(), [], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
model = OneClassSVM(**settings).fit(mapped)
done.set()
watcher.join()
rejected = np.mean(model.predict(np.array(mapped[-100_000:])) == -1)
print(before, max(seen), model.n_reads_, model.dual_gap_, rejected)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_memory_map_of_three_million_rows(tmp_path):
    path = tmp_path / "rows.npy"
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(N, COLUMNS))
    random = np.random.default_rng(0)
    for first in range(0, N, 100_000):
        rows[first : first + 100_000] = random.standard_normal((100_000, COLUMNS), np.float32)
    del rows
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", CODE, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=here,
    )
    before, largest, reads, gap, rejected = map(float, found.stdout.split())
    assert largest < 500.0
    assert (largest - before) * 1e6 < 60 * N
    assert reads >= 4
    assert gap <= 1e-3
    assert rejected == pytest.approx(0.1, abs=0.01)
