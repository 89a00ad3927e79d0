"""Warnings of this library."""

from __future__ import annotations


class ScarceDataWarning(UserWarning):
    """The data are too few, or too poor, for what was asked of them."""
