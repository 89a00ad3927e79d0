"""The category of warnings about too little, or too poor, data."""


class ScarceDataWarning(UserWarning):
    """The data are too few, or too poor, for what was asked of them."""
