"""The README's Python example runs, and its shell blocks are where CI looks for them."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code):
    exec(code, {})


def test_first_two_shell_blocks_run_the_demo_and_the_tests():
    run, test, *_ = blocks("shell")
    assert run.splitlines()[-1].startswith("scarce ")
    assert test.splitlines()[-1] == "pytest"
