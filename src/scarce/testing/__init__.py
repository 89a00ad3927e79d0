"""Checks for models written on `scarce.solvers`, and for this library's own.

They need neither pytest nor any other test framework; two of them need pandas and skops.
"""

from scarce.testing._check_estimator import check_estimator
from scarce.testing._running import Recorder as Recorder
from scarce.testing._subject import Subject as Subject
from scarce.testing._subject import one_sample as one_sample
from scarce.testing._subject import positive_and_unlabelled as positive_and_unlabelled
from scarce.testing._subject import scores_of as scores_of
from scarce.testing._subject import two_classes as two_classes
from scarce.testing._suite import Check as Check
from scarce.testing._suite import all_checks as all_checks
from scarce.testing._suite import checks_for as checks_for
from scarce.testing._suite import raises as raises
from scarce.testing._suite import required as required
from scarce.testing._suite import warns as warns

# Imported `as` themselves: for the library's own tests, no part of what is public.
__all__ = ["check_estimator"]
