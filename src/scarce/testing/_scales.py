"""Scales, offsets and kernel widths far from the usual give finite answers."""

from __future__ import annotations

import numpy as np

from scarce.testing._expect import raises
from scarce.testing._finite import assert_finite, fitted, fitted_if_possible
from scarce.testing._subject import Subject
from scarce.testing._suite import assert_same_decisions, check


@check("kernel", "gamma")
def extreme_scales_of_the_default_kernel(subject: Subject) -> None:
    # gamma="scale" undoes any scale.
    X, y = subject.make(40)
    plain = subject.new().fit(X, y)
    for scale in (1e150, 1e-150):
        model = fitted(subject.new(), scale * X, y)
        assert_same_decisions(plain, model, X, 1e-6, new=scale * X)
    for scale in (1e15, 1e-15, 1e30, 1e-30):
        rows = (scale * X).astype(np.float32)
        model = fitted(subject.new(), rows, y)
        assert_same_decisions(plain, model, X, 1e-3, new=rows)


@check("kernel", "gamma")
def extreme_scales_of_other_kernels(subject: Subject) -> None:
    X, y = subject.make(40)
    for kernel in ("linear", "poly"):
        for scale in (1e150, 1e-100):
            model = fitted(subject.new(kernel=kernel), scale * X, y)
            assert_finite(subject, model, scale * X)
        for scale in (1e18, 1e-18):
            rows = (scale * X).astype(np.float32)
            narrow = subject.new(kernel=kernel, gamma="auto")
            if scale < 1 and "one label" in subject.traits:  # all kernel values may be zero
                narrow = fitted_if_possible(subject, narrow, rows, y)
            else:
                fitted(narrow, rows, y)
            if narrow is not None:
                assert_finite(subject, narrow, rows)
    with raises(ValueError, r"not finite.*kernel overflows: gamma=1, degree=3"):
        fitted(subject.new(kernel="poly", gamma=1.0), 1e150 * X, y)


@check("kernel", "gamma")
def a_width_far_from_the_data(subject: Subject) -> None:
    # Every row is far from, or next to, every other.
    X, y = subject.make(40)
    for gamma in (1e-12, 1e12, 1e100):
        model = subject.new(gamma=gamma)
        if gamma < 1 and "one label" in subject.traits:  # all kernel values are equal
            model = fitted_if_possible(subject, model, X, y)
        else:
            fitted(model, X, y)
        if model is not None:
            assert_finite(subject, model, X)
    spread = fitted(subject.new(gamma="auto"), 1e9 * X, y)
    assert_finite(subject, spread, 1e9 * X)
    assert spread.fit_status_ == 0


@check("kernel")
def an_offset_that_drowns_the_data(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new().fit(X, y)
    assert_same_decisions(plain, fitted(subject.new(), X + 1e6, y), X, 1e-6, new=X + 1e6)
    model = fitted_if_possible(subject, subject.new(kernel="linear"), X + 1e8, y)
    if model is not None:
        assert_finite(subject, model, X + 1e8)


@check("gamma")
def constant_columns(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new(gamma=0.5).fit(X, y)
    wide = np.c_[X, np.zeros(40), np.full(40, 7.0)]
    assert_same_decisions(plain, fitted(subject.new(gamma=0.5), wide, y), X, 1e-9, new=wide)
    assert_finite(subject, fitted(subject.new(), wide, y), wide)


@check()
def columns_of_very_different_scale(subject: Subject) -> None:
    X, y = subject.make(40)
    mixed = X * [1e100, 1.0, 1e-100]
    assert_finite(subject, fitted(subject.new(), mixed, y), mixed)


@check()
def values_whose_squares_overflow(subject: Subject) -> None:
    X, y = subject.make(20)
    if getattr(subject.estimator, "normalize", False):  # of rows of norm one nothing overflows
        plain, model = subject.new().fit(X, y), fitted(subject.new(), 1e160 * X, y)
        return assert_same_decisions(plain, model, X, 1e-6, new=1e160 * X)
    with raises(ValueError, r"not finite.*X holds \d.*e\+16.*overflows"):
        fitted(subject.new(), 1e160 * X, y)
