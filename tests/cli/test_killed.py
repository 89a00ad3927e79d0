"""Commands that are killed leave the old file or the whole new one."""

import subprocess
import sys

import pytest

import scarce
from scarce.cli import main
from tests.cli.tables import customers

# Stops where it is told: in the middle of a draft, before it takes its name, or right after.
STOPS = """
import os, sys, time
from pathlib import Path
from scarce.cli import main
where = sys.argv.pop(1)
replace, fsync = os.replace, os.fsync
def wait():
    print("here", flush=True)
    time.sleep(60)
def stopped_replace(*names):
    if where == "before":
        wait()
    replace(*names)
    if where == "after":
        wait()
def stopped_fsync(number):
    if where == "draft":
        wait()
    fsync(number)
os.replace, os.fsync = stopped_replace, stopped_fsync
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    customers(20).to_csv(folder / "good.csv", index=False)
    assert main(["fit", str(folder / "good.csv"), "--out", str(folder / "model.skops")]) == 0
    return folder


@pytest.mark.parametrize("where", ["draft", "before", "after"])
@pytest.mark.parametrize("command", ["fit", "score"])
def test_old_or_whole(folder, command, where):
    out = folder / f"{command}-{where}{'.skops' if command == 'fit' else '.csv'}"
    out.write_bytes(b"old")
    model = [str(folder / "model.skops")] if command == "score" else []
    words = [command, *model, str(folder / "good.csv"), "--out", str(out), "--force"]
    with subprocess.Popen(
        [sys.executable, "-c", STOPS, where, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert any(line == "here\n" for line in process.stdout)
        process.kill()
    if where == "after":
        assert out.read_bytes() != b"old"
    else:
        assert out.read_bytes() == b"old"
        assert len(list(folder.glob(f".{out.name}.*.draft"))) == 1
    assert main(words) == 0
    assert not list(folder.glob(f".{out.name}.*.draft"))  # the next run cleans up
    if command == "fit":
        assert scarce.load(out).offset_ == scarce.load(folder / "model.skops").offset_
    else:
        assert len(out.read_text().splitlines()) == 21
