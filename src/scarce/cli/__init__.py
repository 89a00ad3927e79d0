"""The `scarce` command."""

from scarce.cli._main import main

__all__ = ["main"]
