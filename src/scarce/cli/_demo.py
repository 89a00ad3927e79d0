"""`scarce demo`: our estimators beside scikit-learn's of the same name."""

from scarce.cli import _speed


def run(rows: int) -> None:
    """Compare our fits with scikit-learn's.

    Parameters
    ----------
    rows : int
        Number of rows of the generated data that fits are timed on.
    """
    _speed.run(rows)
