"""Every example runs without a warning, and leaves no file behind."""

import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("plot_*.py"))


# Showing a figure does nothing but warn where figures are only drawn in memory.
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    with plt.rc_context():
        plt.switch_backend("agg")
        try:
            runpy.run_path(str(path), run_name="__main__")
        finally:
            plt.close("all")
    assert list(tmp_path.iterdir()) == []


def test_there_are_examples():
    assert EXAMPLES
