"""Checks for models written on `scarce.solvers`, and for this library's own.

They need neither pytest nor any other test framework; two of them need pandas and skops.
"""

from scarce.testing._check_estimator import check_estimator

__all__ = ["check_estimator"]
