"""The command as a user runs it: a process of its own."""

import os
import resource
import subprocess
import sys
import time

COMMAND = [sys.executable, "-m", "scarce"]


def scarce(*arguments, cwd, code=0, **options):
    """Run the command, and return what it printed, first on the screen and then of errors."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def cpu_seconds(*arguments, cwd, code):
    """Return what the command takes, and its line of error; the better of two runs."""
    best = float("inf")
    for _ in range(2):
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)], cwd=cwd, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == code
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def started(*arguments, cwd, **options):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def small_disk(n_bytes):
    """Return what makes a process unable to write files of more than some bytes."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    return limit


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
