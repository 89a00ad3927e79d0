"""Marks of tests of what older versions of scikit-learn do not have."""

import pytest
import sklearn
from packaging.version import Version

from scarce._sklearn import HAS_CALLBACKS

NEEDS_CALLBACKS = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="scikit-learn has callbacks from 1.9 on"
)
BEFORE_1_7 = Version(sklearn.__version__) < Version("1.7")
BEFORE_1_8 = Version(sklearn.__version__) < Version("1.8")
SINCE_1_7 = pytest.mark.skipif(BEFORE_1_7, reason="scikit-learn 1.7 says this")
SINCE_1_8 = pytest.mark.skipif(BEFORE_1_8, reason="scikit-learn 1.8 says this")
