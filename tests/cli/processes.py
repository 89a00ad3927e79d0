"""The command as a user runs it: a process of its own."""

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from functools import cache, partial

from threadpoolctl import threadpool_limits

from scarce.cli import main
from tests.cli.tables import customers

COMMAND = [sys.executable, "-m", "scarce"]


def scarce(*arguments, cwd, code=0, before=None):
    """Run the command, and return what it printed, first on the screen and then of errors.

    It is a process of its own, forked from this one: what is imported here need not be again.
    """
    _import_all()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads that are waiting
            child = os.fork()
        if child == 0:
            _run(list(map(str, arguments)), cwd, out.fileno(), error.fileno(), before)
        _, status = os.waitpid(child, 0)
        printed = []
        for file in (out, error):
            file.seek(0)
            printed.append(file.read().decode())
    assert os.waitstatus_to_exitcode(status) == code, printed[1]
    assert "Traceback" not in printed[1]
    return printed[0], errors_of(printed[1])


@cache
def _import_all():
    """Import, and compile, what commands need, by running them once in this process."""
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        table, model, scores = (f"{name}/{file}" for file in ("t.csv", "m.skops", "s.csv"))
        customers(12).to_csv(table, index=False)
        main(["fit", table, "--out", model])
        main(["score", model, table, "--out", scores, "--explain", "1"])


def errors_of(text):
    """Return what was printed, without the lines that say how far a slow command has come."""
    shown = ("learning: ", "scoring: ", "explaining: ")
    return "".join(line for line in text.splitlines(True) if not line.startswith(shown))


def _run(arguments, cwd, out, error, before):
    code = 70
    try:
        os.chdir(cwd)
        os.dup2(out, 1)
        os.dup2(error, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
        warnings.resetwarnings()
        # Threads of OpenMP do not survive a fork: who asks for more than one waits for ever.
        threadpool_limits(1)
        if before is not None:
            before()
        code = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)


def packages_loaded(*arguments, cwd, code):
    """Return the packages that the command loads in a new process."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert done.returncode == code, lines[-1]
    return {line.split("|")[-1].strip().split(".")[0] for line in lines if "import time" in line}


def started(*arguments, cwd, **options):
    if os.name == "posix":  # Ctrl-C reaches it also where a shell has it ignored, in the background
        options.setdefault("preexec_fn", partial(signal.signal, signal.SIGINT, signal.SIG_DFL))
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
