"""Every example runs without a warning, and leaves no file behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    # Showing a figure does nothing but warn where figures are only drawn in memory.
    command = [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive"]
    run = subprocess.run(
        [*command, str(path)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.iterdir()) == []


def test_there_are_examples():
    assert EXAMPLES
