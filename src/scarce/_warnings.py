"""Warnings of this library."""

from __future__ import annotations


class ScarceDataWarning(UserWarning):
    """The data are too few, or too poor, for what was asked of them."""


class UnrelatedSourceWarning(ScarceDataWarning):
    """A source is too unlike the target to help."""


class NarrowWidthWarning(UserWarning):
    """A narrow kernel is cut by the offset of its own training rows."""
