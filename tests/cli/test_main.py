"""What every command has: one line for an error, exit codes, quick help."""

import os
import re
import subprocess
import sys

import pytest

from scarce.cli import main


def test_an_error_is_one_line_and_exit_code_1(capsys, monkeypatch):
    def fail(arguments):
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr("scarce.cli._demo.run", fail)
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == "scarce: error: first line second line\n"


def test_an_error_without_text_is_named(capsys, monkeypatch):
    def fail(arguments):
        raise MemoryError

    monkeypatch.setattr("scarce.cli._demo.run", fail)
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == "scarce: error: MemoryError\n"


def test_traceback_on_request(capsys, monkeypatch):
    def fail(arguments):
        raise ValueError("reason")

    monkeypatch.setattr("scarce.cli._demo.run", fail)
    assert main(["--traceback", "demo"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith("ValueError: reason\n")


def test_interrupted(capsys, monkeypatch):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("scarce.cli._demo.run", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "scarce: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "required"),
        (["nonsense"], "invalid choice"),
        (["fit", "t.csv", "--out", "m", "--seed", "x"], "not a whole number: 'x'"),
        (["fit", "t.csv", "--out", "m", "--seed", "-1"], "must be at least 0, got -1"),
    ],
)
def test_wrong_usage_is_exit_code_2(capsys, arguments, reason):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert reason in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert re.fullmatch(r"scarce \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def test_is_a_module_to_run_too():
    ours = [sys.executable, "-m", "scarce", "--version"]
    assert subprocess.run(ours, capture_output=True, text=True, check=True).stdout.startswith(
        "scarce "
    )


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from scarce.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "finally:\n"
        "    heavy = {'numpy', 'sklearn', 'pandas', 'pyarrow', 'rich'}\n"
        "    print(heavy & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == "set()\n"
    assert "demo" in done.stdout


def test_an_output_without_the_signs_of_the_tables_is_no_error():
    code = (
        "import scarce.cli._demo\n"
        "from scarce.cli import main\n"
        "scarce.cli._demo.run = lambda arguments: print('1.0 \\u00b1 0.5 \\u25b2')\n"
        "raise SystemExit(main(['demo']))"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1.0 ? 0.5 ?\n", "")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at the first line"])
def test_a_closed_pipe_is_no_error(unbuffered):
    code = (
        "import scarce.cli._demo\n"
        "from scarce.cli import main\n"
        "scarce.cli._demo.run = lambda arguments: [print('line') for _ in range(10_000)]\n"
        "raise SystemExit(main(['demo']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
