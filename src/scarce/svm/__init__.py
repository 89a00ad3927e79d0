"""The names of `sklearn.svm`: change ``from sklearn import svm`` to ``from scarce import svm``.

`LinearSVC`, `LinearSVR` and `l1_min_c` are scikit-learn's own.
"""

# Imported `as` themselves: what is public here are the replacements.
from sklearn.svm import LinearSVC as LinearSVC
from sklearn.svm import LinearSVR as LinearSVR
from sklearn.svm import l1_min_c as l1_min_c

from scarce.classification import SVC, NuSVC
from scarce.one_class import OneClassSVM
from scarce.regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
