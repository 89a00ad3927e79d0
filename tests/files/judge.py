"""What becomes of a changed file, in a process that may end: batches, verdicts, counts."""

import json
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import scarce
from scarce._model_files import ModelFileError
from tests.files.mutants import mutant
from tests.files.victims import answers, run

SECONDS = 10  # of the processor that a mutant may take; one takes hundredths of one
MEMORY = 8 << 30  # bytes of addresses; more is an error and not the end of the process
FAILURES = ("process ended", "too slow", "NaN", "unclear error")
MEANT = (
    "ModelFileError",
    "CommandError",
    "UsageError",
    "NoAnswerError",
    "DriftError",
    "TableError",
)
CLEAR = (ValueError, TypeError, AttributeError, KeyError, IndexError)


def judged(content, rows, folder):
    """Return the verdict on a file, and what there is to say of it."""
    path = Path(folder) / "mutant.skops"
    path.write_bytes(content)
    if isinstance(rows[0], str):
        return _judged_by_command(path, rows, Path(folder))
    try:
        model = scarce.load(path)
    except ModelFileError as error:
        return "refused", str(error)
    except Exception as error:
        return "unclear error", f"load: {type(error).__name__}: {error}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = answers(model, rows[0], asked=rows[1])
    except CLEAR as error:
        return "error later", f"{type(error).__name__}: {error}"
    except Exception as error:
        return "unclear error", f"{type(error).__name__}: {error}"
    bad = [name for name, each in found.items() if each.dtype.kind == "f" and np.isnan(each).any()]
    if bad:
        return "NaN", f"of {bad}"
    silent = sorted(set(rows[1]) - found.keys())
    return ("answers", "") if not silent else ("error later", f"no longer has {silent}")


def _judged_by_command(path, table, folder):
    (folder / table[0]).write_bytes(table[1])
    rows, out = str(folder / table[0]), folder / "scores.csv"
    for asked in (["info", str(path)], ["score", str(path), rows, "--out", str(out), "--force"]):
        code, _, err = run(["--traceback", *asked])
        if code:
            kind = err.splitlines()[-1].partition(":")[0].rpartition(".")[2]
            if kind in MEANT:
                return "refused", err[-300:]
            clear = kind in [each.__name__ for each in CLEAR]
            return ("error later" if clear else "unclear error"), err[-300:]
    text = out.read_text().lower()
    return ("NaN", text[:80]) if "nan" in text else ("answers", "")


def batch(files, work, log):
    """Judge mutants one after another; what is written to the log has ended well."""
    with tempfile.TemporaryDirectory() as folder, Path(log).open("a", buffering=1) as told:
        for place, seed in work:
            _, content, rows = files[place]
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # ends the process
            changed, change = mutant(content, np.random.default_rng(seed))
            verdict, why = judged(changed, rows, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            told.write(json.dumps([verdict, change, why[:300]]) + "\n")


def attack(files, work):
    """Judge mutants in processes that may end; return counts, failures and errors of answers.

    Parameters
    ----------
    files : list of tuple
        Names, contents and rows.
    work : list of tuple
        Places in `files`, and seeds of mutants.
    """
    counts, failures, late = Counter(), [], []
    while work:
        verdicts, code = _process(files, work)
        if len(verdicts) < len(work):
            place, seed = work[len(verdicts)]
            _, change = mutant(files[place][1], np.random.default_rng(seed))
            slow = code == -signal.SIGPROF
            verdicts.append(["too slow" if slow else "process ended", change, f"code {code}"])
        for (place, seed), (verdict, *rest) in zip(work, verdicts, strict=False):
            counts[verdict] += 1
            line = (files[place][0], seed, verdict, *rest)
            if verdict in FAILURES:
                failures.append(line)
            elif verdict == "error later":
                late.append(line)
        work = work[len(verdicts) :]
    return counts, failures, late


def _process(files, work):
    with tempfile.TemporaryDirectory() as folder:
        given, log = Path(folder) / "work.pickle", Path(folder) / "log.jsonl"
        given.write_bytes(pickle.dumps((files, work)))
        log.touch()
        command = [sys.executable, "-W", "ignore", "-m", "tests.files.judge", str(given), str(log)]
        code = subprocess.run(command, check=False).returncode
        return [json.loads(line) for line in log.read_text().splitlines()], code


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    given, log = sys.argv[1:]
    batch(*pickle.loads(Path(given).read_bytes()), log)
