"""The history of benchmarks: what is added can be read and drawn, and every drawn case is there."""

import matplotlib.pyplot as plt

from benchmarks.history import PANELS, draw_history, keep_line, read_lines


def test_a_line_a_run(tmp_path):
    path = tmp_path / "history.jsonl"
    keep_line("small", {"SVC C 1, 100": 1.23456}, load=0.21, clock="process_time", path=path)
    keep_line("engine", {}, load=None, clock="perf_counter", path=path)
    first, second = read_lines(path)
    assert first["ratios"] == {"SVC C 1, 100": 1.23}
    assert (first["benchmark"], first["load"], first["clock"]) == ("small", 0.2, "process_time")
    assert second["load"] is None
    assert first["date"] <= second["date"]


def test_every_line_that_is_drawn_was_measured():
    lines = read_lines()
    for benchmark, cases in PANELS.values():
        ratios = [line["ratios"] for line in lines if line["benchmark"] == benchmark]
        for case in cases:
            assert any(case in each for each in ratios), case
    figure = draw_history(lines)
    for axes, (benchmark, cases) in zip(figure.axes, PANELS.values(), strict=True):
        for (case, label), drawn in zip(cases.items(), axes.lines, strict=False):
            assert drawn.get_label() == label
            assert list(drawn.get_ydata()) == [
                line["ratios"][case]
                for line in lines
                if line["benchmark"] == benchmark and case in line["ratios"]
            ]
    plt.close(figure)
