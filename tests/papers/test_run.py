"""A run goes on where it stopped, and its tables depend on nothing but the seed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from joblib import parallel_config

from tests.papers.toy import explode, run_toy, toy

ROOT = Path(__file__).parents[2]


def cell_files(out):
    return sorted((out / "cells").rglob("*.json"))


def test_one_file_for_each_cell(tmp_path):
    run_toy(tmp_path)
    assert len(cell_files(tmp_path)) == 3 * 6
    content = json.loads((tmp_path / "cells/toy/sizes/size-5/002.json").read_text())
    assert content["setting"] == "size 5"
    assert content["arguments"]["size"] == 5
    assert {o["method"] for o in content["outcomes"]} == {"plain", "better"}


def test_each_figure_can_be_traced_to_its_files(tmp_path):
    table = run_toy(tmp_path).tables[0]
    for score in table.scores:
        found = []
        for path in sorted((tmp_path / score.cells).glob("*.json")):
            for outcome in json.loads(path.read_text())["outcomes"]:
                if (outcome["method"], outcome["protocol"]) == (score.method, score.protocol):
                    found.append(outcome["values"][score.metric])
        assert len(found) == score.n
        assert sum(found) / len(found) == pytest.approx(score.mean, rel=1e-12)


def test_finished_cells_are_not_run_again(tmp_path):
    first = run_toy(tmp_path)
    # Were a cell run again, this one would fail.
    again = run_toy(tmp_path, toy(run=explode))
    assert again.tables == first.tables


def test_time_of_a_run_that_goes_on_is_not_known(tmp_path):
    assert run_toy(tmp_path).seconds > 0
    assert run_toy(tmp_path).seconds is None


def test_a_changed_argument_runs_the_cell_again(tmp_path):
    run_toy(tmp_path)
    changed = toy(settings={"size 3": {"size": 30}})
    means = [score.mean for score in run_toy(tmp_path, changed).tables[0].scores]
    assert min(means) > 28


def test_another_seed_is_another_run(tmp_path):
    assert run_toy(tmp_path).tables != run_toy(tmp_path, seed=1).tables


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1}', "null"])
def test_a_damaged_file_is_run_again(tmp_path, damage):
    whole = run_toy(tmp_path)
    cell_files(tmp_path)[4].write_text(damage)
    assert run_toy(tmp_path).tables == whole.tables
    assert json.loads(cell_files(tmp_path)[4].read_text())["outcomes"]


def test_one_and_two_jobs_agree(tmp_path):
    one, two = run_toy(tmp_path / "one"), run_toy(tmp_path / "two", n_jobs=2)
    assert one.tables == two.tables


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_backends_of_joblib_agree(tmp_path, backend):
    """Multiprocessing's has, like Ray's, which is derived from it, no results one by one."""
    quiet = toy(settings={f"size {size}": {"size": size} for size in (3, 5)})
    with parallel_config(backend=backend):
        found = run_toy(tmp_path / "other", quiet, n_jobs=2)
    assert len(cell_files(tmp_path / "other")) == 12
    assert found.tables == run_toy(tmp_path / "one", quiet).tables


def test_an_error_names_its_cell_and_keeps_the_others(tmp_path):
    with pytest.raises(RuntimeError, match="sizes, size 3, repetition 0: no such luck"):
        run_toy(tmp_path, toy(settings={"size 3": {}}, run=explode))


def test_progress_is_reported(tmp_path):
    seen = []
    run_toy(tmp_path, report=lambda *step: seen.append(step))
    assert seen == [("toy", done, 18) for done in range(19)]


def test_quick_run_says_what_it_left_out(tmp_path):
    result = run_toy(tmp_path, full=False)
    assert result.tables[0].settings == ("size 3", "size 7")
    assert {score.n for score in result.tables[0].scores} == {2}
    assert any("2 of 6 repetitions" in reason for reason in result.skipped)
    assert any("size 5" in reason for reason in result.skipped)


def test_a_quick_run_may_have_fewer_methods(tmp_path):
    paper = toy(quick_methods=("plain",))
    quick = run_toy(tmp_path, paper, full=False)
    assert {score.method for score in quick.tables[0].scores} == {"plain"}
    assert any("columns: better (quick run)" in reason for reason in quick.skipped)
    # What somebody asks for by name is run.
    named = run_toy(tmp_path, paper, full=False, methods=["better"])
    assert {score.method for score in named.tables[0].scores} == {"better"}
    one = run_toy(tmp_path, paper, full=False, only="sizes/size 3")
    assert {score.method for score in one.tables[0].scores} == {"plain", "better"}


def test_cells_of_another_version_are_told(tmp_path):
    run_toy(tmp_path)
    path = cell_files(tmp_path)[0]
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"version": "0.0.1"}))
    assert "run by another version of scarce, 0.0.1 (1 cells)" in run_toy(tmp_path).remarks


def test_fewer_repetitions_are_the_first_ones(tmp_path):
    few = run_toy(tmp_path, repetitions=3)
    assert {score.n for score in few.tables[0].scores} == {3}
    assert any("3 of 6 repetitions" in reason for reason in few.skipped)
    whole = run_toy(tmp_path)
    assert {score.n for score in whole.tables[0].scores} == {6}
    assert len(cell_files(tmp_path)) == 18


def test_what_is_on_file_is_put_together_and_nothing_is_run(tmp_path):
    whole = run_toy(tmp_path, repetitions=2)
    part = toy(run=explode)
    assert run_toy(tmp_path, part, on_file=True).tables == whole.tables
    for path in cell_files(tmp_path):
        if "size-5" in str(path):
            path.unlink()
    rest = run_toy(tmp_path, part, on_file=True)
    assert rest.tables[0].settings == ("size 3", "size 7")
    assert rest.skipped == ("Sizes: size 5",)
    other = toy(run=explode, methods=("plain", "better", "new"))
    assert "Sizes, columns: new" in run_toy(tmp_path, other, on_file=True).skipped
    assert run_toy(tmp_path / "empty", part, on_file=True).skipped == ("Sizes: not run",)


def test_missing_data_is_left_out_with_the_reason(tmp_path):
    paper = toy(
        settings={"size 3": {"size": 3, "data": "letter"}, "size 5": {"size": 5, "data": "sonar"}}
    )
    absent = {"letter": "letter.csv.gz is nowhere"}
    result = run_toy(tmp_path, paper, missing=absent.get)
    assert result.tables[0].settings == ("size 5",)
    assert result.skipped == ("Sizes, size 3: letter.csv.gz is nowhere",)
    result = run_toy(tmp_path, toy(needs=("letter",)), missing=absent.get)
    assert result.tables == ()
    assert result.skipped == ("Sizes: letter.csv.gz is nowhere",)


def test_warnings_are_counted_not_lost(tmp_path):
    assert run_toy(tmp_path).remarks == ("UserWarning: seed # is odd (6 cells)",)
    assert run_toy(tmp_path).remarks == ("UserWarning: seed # is odd (6 cells)",)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes to kill")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path, jobs):
    """Killed again and again, each time a little later, until a run comes through."""
    killed = 0
    for attempt in range(60):
        command = [sys.executable, "-m", "tests.papers.toy", str(tmp_path / "cut"), str(jobs)]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
        before = len(cell_files(tmp_path / "cut"))
        while process.poll() is None and len(cell_files(tmp_path / "cut")) < before + 5:
            time.sleep(0.003 * (1 + attempt % 5))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
    assert process.returncode == 0
    assert killed >= 2
    resumed = run_toy(tmp_path / "cut", toy(pause=0.02, run=explode))
    assert resumed.tables == run_toy(tmp_path / "whole", toy(pause=0.02)).tables


def test_all_figures_of_a_table_are_in_one_file(tmp_path):
    result = run_toy(tmp_path)
    lines = pd.read_csv(tmp_path / "cells" / "toy" / "sizes.csv")
    assert len(lines) == 3 * 6 * 3  # settings, repetitions, a method with two protocols and one
    chosen = lines[(lines.setting == "size 5") & (lines.protocol == "best of grid")]
    assert set(chosen.parameters) == {'{"c": 2}'}
    (score,) = (
        s for s in result.tables[0].scores if s.setting == "size 5" and s.protocol == "best of grid"
    )
    assert chosen.value.mean() == pytest.approx(score.mean)


def test_a_run_begins_with_the_tables_of_an_earlier_one(tmp_path):
    whole = run_toy(tmp_path / "first")
    cells = tmp_path / "first" / "cells"
    # Were a cell run again, this one would fail.
    again = run_toy(tmp_path / "second", toy(run=explode), earlier=cells)
    assert again.tables == whole.tables
    assert again.remarks == ("taken over from the tables of an earlier run (18 cells)",)
    other = toy(methods=("plain",))
    run_toy(tmp_path / "third", other, repetitions=2)
    joined = run_toy(tmp_path / "third", toy(run=explode), earlier=cells)
    assert joined.tables == whole.tables
    assert run_toy(tmp_path / "none", earlier=tmp_path).tables == whole.tables
