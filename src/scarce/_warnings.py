"""Warnings about the data."""


class ScarceDataWarning(UserWarning):
    """The data are too few, or too poor, for what was asked of them."""
