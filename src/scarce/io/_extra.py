"""Libraries that come with the extra `cli`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def tables_library(name: str) -> Any:
    """Return a module of pyarrow or pandas, or say which extra brings it."""
    try:
        return import_module(name)
    except ImportError as error:
        library = name.split(".")[0]
        message = f"tables need {library}: python -m pip install 'scarce[cli]'"
        raise ImportError(message) from error
