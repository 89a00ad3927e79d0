"""Long tables: time and memory of fits and of scores; and commands killed on the way.

    python -m benchmarks.tables --rows 300000 10000000
    python -m benchmarks.tables --megabytes 2000 --kills 50

With `--rows`, a CSV of so many rows and ten columns is fitted and scored, as any user would: a fit
of many rows is one of a sample, and the list of scores is sorted.

Every run is a process of its own, so that its peak memory is its own. The bare read parses the same
columns with pyarrow and does nothing with them. After a kill the file that was there must be there
unchanged, or the new one whole.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = ("age", "income", "debt", "visits", "town")
READ = """
import sys
import pyarrow as pa, pyarrow.csv as csv
columns = {c: pa.string() if c == "town" else pa.float64() for c in sys.argv[2].split(",")}
options = csv.ConvertOptions(include_columns=list(columns), column_types=columns)
blocks = csv.ReadOptions(use_threads=False, block_size=1_000_000)
rows = 0
for batch in csv.open_csv(sys.argv[1], convert_options=options, read_options=blocks):
    rows += batch.num_rows
print(rows)
"""


def rows(n, seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(n, 4)) @ generator.normal(size=(4, 4))
    frame = pd.DataFrame(values.round(4), columns=COLUMNS[:4])
    frame["town"] = generator.choice(["Bonn", "Ulm", "Rom"], n)
    frame.insert(0, "id", np.arange(n) + 1_000_000 * seed)
    return frame


def write(path, megabytes):
    block = rows(100_000, 1).to_csv(index=False).encode()
    header, body = block.split(b"\n", 1)
    with path.open("wb") as file:
        file.write(header + b"\n")
        while file.tell() < megabytes * 1e6:
            file.write(body)


def measured(command):
    """Return CPU and wall seconds, and peak memory in MB, of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:4]} ended with {process.returncode}")
    seconds = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024


def scarce(*arguments):
    return [sys.executable, "-m", "scarce", *map(str, arguments)]


def stream(folder, megabytes):
    table, model = folder / "long.csv", folder / "model.skops"
    rows(300, 2).to_csv(folder / "good.csv", index=False)
    subprocess.run(scarce("fit", folder / "good.csv", "--out", model), check=True)
    write(table, megabytes)
    print(f"\n{table.stat().st_size / 1e6:.0f} MB of CSV, {len(COLUMNS)} columns and an id")
    print(f"{'':28}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}")
    names = ",".join(COLUMNS)
    empty = measured([sys.executable, "-c", "import pyarrow.csv"])
    bare = measured([sys.executable, "-c", READ, str(table), names])
    rest = ["--out", folder / "scores.csv", "--force"]
    whole = measured(scarce("score", model, table, *rest))
    for name, found in (("start of Python", empty), ("bare read", bare), ("score", whole)):
        print(f"{name:28}{found[0]:8.1f}{found[1]:8.1f}{found[2]:9.0f}")
    print(f"score takes {whole[0] / bare[0]:.1f} times the CPU time of the bare read")


def fits(folder, numbers, *, scored):
    """Fit, and score, tables of ten columns, all rows of one class, and a few of them labelled."""
    print(f"{'rows':>12}{'MB':>7}  {'':24}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}")
    for n_rows in numbers:
        table = folder / f"{n_rows}.csv"
        write_rows(table, n_rows)
        size = table.stat().st_size / 1e6
        one, pu, out = folder / "one.skops", folder / "pu.skops", folder / "scores.csv"
        commands = {
            "fit, one class": ("fit", table, "--drop", "known", "--out", one),
            "fit, some labelled": ("fit", table, "--label", "known", "--out", pu),
            "score, sorted": ("score", one, table, "--out", out),
            "score, 200 explained": (
                "score",
                pu,
                table,
                "--top",
                200,
                "--explain",
                2,
                "--out",
                out,
            ),
        }
        for name, command in commands.items():
            if name.startswith("score") and not scored:
                continue
            found = measured(scarce(*command, "--force"))
            print(
                f"{n_rows:12,}{size:7.0f}  {name:24}{found[0]:8.1f}{found[1]:8.1f}{found[2]:9.0f}",
                flush=True,
            )
        table.unlink()


def write_rows(path, n_rows):
    generator = np.random.default_rng(0)
    mixed = generator.normal(size=(10, 10))
    with path.open("w") as file:
        for start in range(0, n_rows, 100_000):
            n = min(100_000, n_rows - start)
            values = (generator.normal(size=(n, 10)) @ mixed).round(3)
            frame = pd.DataFrame(values, columns=[f"column{place}" for place in range(10)])
            frame["known"] = np.where(generator.random(n) < 200 / n_rows, "yes", "")
            frame.loc[frame["known"] == "yes", "column0"] += 8.0
            frame.to_csv(file, index=False, header=start == 0)


def kills(folder, number):
    rows(40, 2).to_csv(folder / "good.csv", index=False)
    rows(20_000, 3).to_csv(folder / "new.csv", index=False)
    model, scores, kept = folder / "m.skops", folder / "s.csv", folder / "kept.skops"
    commands = {
        model: scarce("fit", folder / "good.csv", "--out", model, "--force"),
        scores: scarce("score", kept, folder / "new.csv", "--out", scores, "--force"),
    }
    subprocess.run(scarce("fit", folder / "good.csv", "--out", kept), check=True)
    took, outcomes = {}, {"old": 0, "new": 0, "ended": 0}
    for out, command in commands.items():
        took[out] = measured(command)[1]
    whole = {out: out.rename(out.with_stem("whole")) for out in commands}
    for kill in range(number):
        out = list(commands)[kill % 2]
        out.write_bytes(b"old")
        process = subprocess.Popen(commands[out], stdout=subprocess.DEVNULL)
        time.sleep(random.random() * took[out] * 1.1)
        ended = process.poll() is not None
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = "old" if out.read_bytes() == b"old" else "new"
        if found == "new" and not is_whole(out, whole[out]):
            raise SystemExit(f"kill {kill} left a part of {out}")
        outcomes["ended" if ended else found] += 1
    for command in commands.values():
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    left = [path.name for path in folder.iterdir() if path.name.endswith(".draft")]
    print(f"{number} kills: {outcomes}; drafts left after the next run: {left}")


def is_whole(path, whole):
    """Return whether a file is the one that a run without a kill writes.

    Model files have checksums, which loading verifies, and note the time.
    """
    if path.suffix == ".skops":
        import scarce

        scores = scarce.load(path).left_out_scores_
        return np.allclose(scores, scarce.load(whole).left_out_scores_, rtol=1e-6)
    return path.read_bytes() == whole.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[])
    parser.add_argument("--fits-only", action="store_true", help="with --rows: score nothing")
    parser.add_argument("--megabytes", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fits(Path(folder), options.rows, scored=not options.fits_only)
        if options.megabytes:
            stream(Path(folder), options.megabytes)
        if options.kills:
            kills(Path(folder), options.kills)


if __name__ == "__main__":
    main()
