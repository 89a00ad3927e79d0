"""Weights mean repetition."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scarce.testing._subject import Subject
from scarce.testing._suite import assert_same_decisions, check


@check("kernel", "weights")
def weights_equal_repetition(subject: Subject) -> None:
    X, y = subject.make(60)
    counts = np.random.default_rng(0).integers(0, 4, size=60)
    assert {0, 1, 2, 3} <= set(counts)
    repeated = np.repeat(np.arange(60), counts)
    for kernel in ("rbf", "linear", "poly"):
        for container in (np.asarray, sparse.csr_array):
            rows = container(X)
            once = subject.new(kernel=kernel).fit(rows, y, sample_weight=counts)
            often = subject.new(kernel=kernel).fit(
                rows[repeated], None if y is None else y[repeated]
            )
            assert_same_decisions(often, once, rows, 1e-6)
            if "regressor" not in subject.traits:  # labels
                np.testing.assert_array_equal(often.predict(rows), once.predict(rows))
            np.testing.assert_allclose(often.objective_, once.objective_, rtol=1e-6)


@check("class_weight", "weights")
def balanced_classes_count_weights(subject: Subject) -> None:
    X, y = subject.make(60)
    assert y is not None
    counts = np.where(y == 1, 3, 1)
    repeated = np.repeat(np.arange(60), counts)
    once = subject.new(class_weight="balanced").fit(X, y, sample_weight=counts)
    often = subject.new(class_weight="balanced").fit(X[repeated], y[repeated])
    np.testing.assert_allclose(once.class_weight_, [2.0, 2.0 / 3.0])
    assert_same_decisions(often, once, X, 1e-6)


@check("weights")
def weights_may_be_fractions(subject: Subject) -> None:
    # A row split into parts is the same row.
    X, y = subject.make(40)
    parts = np.random.default_rng(1).uniform(0.1, 0.9, size=40)
    whole = subject.new().fit(X, y)
    split = subject.new().fit(
        np.r_[X, X],
        None if y is None else np.r_[y, y],
        sample_weight=np.r_[parts, 1.0 - parts],
    )
    assert_same_decisions(whole, split, X, 1e-6)
