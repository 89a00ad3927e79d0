"""A page that a person likes to look at: what was learnt from a table."""

from __future__ import annotations

from typing import Any

__all__ = ["report_page", "write_stories"]


def __getattr__(name: str) -> Any:
    """Load what draws when it is asked for: the commands' help needs none of it."""
    from importlib import import_module

    if name in __all__:
        return getattr(import_module("scarce.cli.report._page"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
