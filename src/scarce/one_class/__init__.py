"""One-class machines."""

from scarce.one_class._one_class_svm import OneClassSVM

__all__ = ["OneClassSVM"]
