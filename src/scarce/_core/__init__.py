"""Loops compiled ahead of time: steps, scans, exact step, verdict, kernel values.

Flat functions on arrays, written in C, one file a noun. `functions.def` declares them; arguments
are checked against that, and the GIL is released. Nothing is written or compiled at run time.
"""

from __future__ import annotations

from pathlib import Path

try:
    from scarce._core import _library
except ImportError as error:
    raise ImportError(
        f"the compiled part of scarce cannot be loaded ({error}). Install it again: "
        "'python -m pip install --force-reinstall scarce', or in a clone "
        "'python -m pip install --editable .'"
    ) from error
from scarce._core._library import *  # noqa: F403  (the stub has the names)

_FOLDER = Path(__file__).parent

if (_FOLDER / "module.c").exists():  # a clone, not an installed wheel
    from scarce._core._fingerprint import fingerprint

    if fingerprint(_FOLDER) != _library.SOURCES:
        raise ImportError(
            "the compiled part of scarce is older than its sources in src/scarce/_core. Build it "
            "again: 'python build_core.py', or 'python -m pip install --editable .'"
        )
