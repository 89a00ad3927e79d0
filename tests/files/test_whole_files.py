"""Files appear whole or not at all."""

import os
import subprocess
import sys

import numpy as np
import pytest

from scarce._model_files import write_whole

WRITES = """
import sys
from scarce._model_files import write_whole
contents = [letter * 3_000_000 for letter in "ab"]
print("ready", flush=True)
while True:
    for content in contents:
        write_whole(sys.argv[1], content)
"""


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("b" * 3_000_000)
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    random = np.random.default_rng(0)
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True, env=here
        )
        assert process.stdout.readline() == "ready\n"
        for _ in range(int(random.integers(1, 5000))):
            path.stat()
        process.kill()
        process.communicate()
        content = path.read_text()
        assert content in ("a" * 3_000_000, "b" * 3_000_000)
    write_whole(path, "new")
    assert os.listdir(tmp_path) == ["file"]  # drafts of the killed ones are gone


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
