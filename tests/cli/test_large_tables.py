"""Tables of more rows than a fit should have: a random sample, and it is said."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce._model_files import read_card
from scarce.io import Sample, even_limits, open_table
from tests.cli.internals import tables
from tests.cli.processes import scarce


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(5000, 2)).round(4), columns=["a", "b"])
    table["known"] = np.where(np.arange(5000) % 500 == 3, "yes", "")
    table.loc[table["known"] == "yes", "a"] += 6
    table.to_csv(folder / "long.csv", index=False)
    table.to_parquet(folder / "long.parquet")
    return folder


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_sample_is_fitted_and_said(folder, ending):
    words = ["fit", f"long.{ending}", "--drop", "known", "--rows", "100", "--out"]
    out, _ = scarce(*words, f"{ending}.skops", cwd=folder)
    note = (
        f"note: 100 of the 5,000 rows of long.{ending} are learnt from, chosen at random by "
        "--seed. --rows all takes them all, and about 2,500 times as long"
    )
    assert note in out
    assert "learnt from 100 rows and 2 columns" in out
    assert read_card(folder / f"{ending}.skops")["fit"]["rows"] == 100
    out, _ = scarce("info", f"{ending}.skops", cwd=folder)
    assert "  rows: 100 of 5,000, chosen at random\n" in out
    other, _ = scarce(*words, "other.skops", "--seed", "1", "--force", cwd=folder)
    assert other.splitlines()[4] != out.splitlines()[4]


def test_all_rows_on_request_and_below_the_limit(folder):
    words = ["fit", "long.csv", "--label", "known", "--set", "n_bags=2", "--force"]
    for rows in (["--rows", "all"], []):
        out, _ = scarce(*words, *rows, "--out", "all.skops", cwd=folder)
        assert "learnt from 5,000 rows" in out
        assert "chosen at random" not in out
    _, error = scarce(*words, "--rows", "1", "--out", "x.skops", cwd=folder, code=2)
    assert "must be at least 2, got 1" in error


def test_the_few_labelled_rows_are_all_kept(folder):
    words = ["fit", "long.csv", "--label", "known", "--rows", "60", "--set", "n_bags=2"]
    out, _ = scarce(*words, "--out", "pu.skops", cwd=folder)
    area = float(re.search(r"area under the curve of (\S+)", out)[1])
    assert area > 0.9  # with ten labelled rows it is, with the one of 500 that chance leaves not
    assert "learnt from 60 rows" in out


def test_samples_are_uniform_and_know_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 3000)  # many batches
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": np.arange(2000) * 0.5, "b": "x"}).to_csv(path, index=False)
    counts = np.zeros(2000)
    for seed in range(200):
        rows = open_table(path).read(Sample(100, seed))
        places = np.round(rows.numbers("a") / 0.5).astype(int)
        assert len(rows) == 100
        assert rows.total == 2000
        assert (np.diff(places) > 0).all()
        np.testing.assert_array_equal(rows.row_names(None), places + 2)  # the header is row 1
        counts[places] += 1
    # Each row is chosen 10 times on average, with variance 200 x .05 x .95.
    chi = ((counts - 10) ** 2 / 9.5).sum()
    assert abs(chi - 2000) < 5 * np.sqrt(2 * 2000)
    halves = counts[:1000].sum()
    assert abs(halves - 10_000) < 5 * np.sqrt(200 * 100 * 0.25)


def test_rare_rows_get_up_to_half(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": np.arange(1000), "k": ["r"] * 300 + ["o"] * 700}).to_csv(path, index=False)
    for limit, expected in ((100, 50), (400, 200), (900, 300), (1000, 300), (None, 300)):
        sample = Sample(limit, 0, lambda rows: rows.texts("k") == "r")
        rows = open_table(path).read(sample)
        assert len(rows) == (limit or 1000)
        assert (rows.texts("k") == "r").sum() == expected
        assert rows.total == (1000 if len(rows) < 1000 else None)


@pytest.mark.parametrize(
    ("sizes", "total", "limits"),
    [
        ([5, 100], 60, [5, 55]),
        ([80, 100], 60, [30, 30]),
        ([3, 4], 60, [3, 4]),
        ([9, 2, 9], 8, [3, 2, 3]),
    ],
)
def test_limits(sizes, total, limits):
    assert even_limits(sizes, total) == limits


def test_progress_counts_fits_in_a_log(folder):
    code = (
        "import scarce.cli._outputs as p, sys\n"
        "p.EVERY = 0.05\n"
        "from scarce.cli import main\n"
        "raise SystemExit(main(sys.argv[1:]))"
    )
    import subprocess
    import sys

    words = ["fit", "long.csv", "--drop", "known", "--rows", "600", "--out", "p.skops"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("learning: ")]
    found = [re.fullmatch(r"learning: fit (\d+) of 11, \d+ s", line) for line in lines]
    assert len(lines) > 2
    assert all(found)
    numbers = [int(match[1]) for match in found]
    assert numbers == sorted(numbers)
    assert numbers[-1] > 1


# Not the process's resource usage, which on Linux begins with that of the process that started it.
WITH_PEAK = """
import sys
from pathlib import Path
from scarce.cli import main
code = main(sys.argv[1:])
Path("status.txt").write_text(Path("/proc/self/status").read_text())
sys.exit(code)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux has it")
def test_the_most_rows_that_are_fitted_take_less_than_500_megabytes(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(20_000, 10)).round(3), columns=list("abcdefghij"))
    noisy = table["a"] + table["b"] * table["c"] + 0.7 * random.normal(size=20_000)
    table["kind"] = np.where(noisy > 0, "good", "bad")
    table.to_csv(tmp_path / "long.csv", index=False)
    words = ["fit", "long.csv", "--label", "kind", "--kind", "classify", "--out", "m.skops"]
    done = subprocess.run(
        [sys.executable, "-c", WITH_PEAK, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "learnt from 20,000 rows" in done.stdout
    peak = re.search(r"VmHWM:\s+(\d+) kB", (tmp_path / "status.txt").read_text())
    assert int(peak[1]) * 1024 < 500e6
