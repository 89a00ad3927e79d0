"""Bad input is refused: the message names the argument, what was seen and what is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from scarce.testing._subject import Subject
from scarce.testing._suite import check, raises


def spoiled(X: Any, value: float) -> Any:
    X = X.copy()
    X[3, 1] = value
    return X


@check()
def rows_that_are_not_finite(subject: Subject) -> None:
    X, y = subject.make(30)
    model = subject.new().fit(X, y)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        for call in (lambda rows: subject.new().fit(rows, y), model.predict):
            with raises(ValueError, f"Input X contains {word}"):
                call(spoiled(X, value))


@check()
def rows_of_wrong_shape(subject: Subject) -> None:
    X, y = subject.make(30)
    with raises(ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"):
        subject.new().fit(X[:0], None if y is None else y[:0])
    with raises(ValueError, r"0 feature\(s\) \(shape=\(30, 0\)\)"):
        subject.new().fit(X[:, :0], y)
    with raises(ValueError, "Expected 2D array, got 1D array"):
        subject.new().fit(X[:, 0], y)
    if "tensors" not in subject.traits:
        with raises(ValueError, "dim 3"):
            subject.new().fit(X[:, :, None], y)
    model = subject.new().fit(X, y)
    with raises(ValueError, f"X has 2 features, but {subject.name} is expecting 3"):
        model.predict(X[:, :2])
    with raises(NotFittedError, f"This {subject.name} instance is not fitted yet"):
        subject.new().predict(X)


@check("weights")
def weights_of_wrong_shape_or_value(subject: Subject) -> None:
    X, y = subject.make(30)
    for weights, words in (
        (np.ones(29), r"sample_weight.*\(29,\).*\(30,\)"),
        (np.ones((30, 2)), "Sample weights must be 1D array or scalar, got 2D array"),
        (np.r_[np.nan, np.ones(29)], "Input sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(29)], "Input sample_weight contains infinity"),
        (np.zeros(30), "all samples have zero or negative weights"),
        (np.full(30, -1.0), "all samples have zero or negative weights"),
    ):
        with raises(ValueError, words):
            subject.new().fit(X, y, sample_weight=weights)


@check()
def parameters_out_of_range(subject: Subject) -> None:
    X, y = subject.make(30)
    bad: dict[str, list[Any]] = {
        "tol": [0.0, -1.0, "small"],
        "kernel": ["cubic", 3],
        "gamma": [-1.0, "wide"],
        "nu": [0.0, 1.5],
        "C": [0.0, -1.0],
        "degree": [-1, 2.5],
        "cache_size": [0],
        "max_iter": [-2, 1.5],
        "approximation": ["fourier"],
        "n_components": [0],
        "warm_start": ["yes"],
        "class_weight": ["even"],
        "false_alarms": [0.0, 1.0],
        "n_bags": [-1, 2.5],
        "min_rows": [0, 2.5],
    }
    tried = 0
    for name in bad.keys() & subject.traits:
        for value in bad[name]:
            words = f"The '{name}' parameter of {subject.name} must be .* Got {value!r} instead"
            with raises(ValueError, words):
                subject.new(**{name: value}).fit(X, y)
            tried += 1
    assert tried > 0


@check("classifier", "weights")
def labels_that_do_not_fit(subject: Subject) -> None:
    X, y = subject.make(30)
    assert y is not None
    with raises(ValueError, r"inconsistent numbers of samples: \[30, 29\]"):
        subject.new().fit(X, y[:-1])
    if "several labels" not in subject.traits:
        with raises(ValueError, f"3 classes.*OneVs(One|Rest)Classifier\\({subject.name}"):
            subject.new().fit(X, np.arange(30) % 3)
    with raises(ValueError, "The number of classes has to be greater than one; got 1"):
        subject.new().fit(X, np.zeros(30))
    with raises(ValueError, "Unknown label type"):
        subject.new().fit(X, np.linspace(0.0, 1.0, 30))
    with raises(ValueError, "samples with positive weights belong to the same class"):
        subject.new().fit(X, y, sample_weight=y)


@check("two labels", "nu")
def infeasible_nu(subject: Subject) -> None:
    X, _ = subject.make(40)
    with raises(ValueError, r"infeasible: nu=0.5.*0 < nu <= 0.3"):
        subject.new(nu=0.5).fit(X, np.arange(40) < 6)
    with raises(ValueError, r"nu=0.3 leaves no margin"):
        subject.new(nu=0.3).fit(np.ones((40, 3)), np.arange(40) % 2)


@check("kernel")
def precomputed_kernels_of_wrong_shape(subject: Subject) -> None:
    X, y = subject.make(30)
    K = X @ X.T
    with raises(ValueError, r"must be a square matrix\. Input is a 30x29 matrix"):
        subject.new(kernel="precomputed").fit(K[:, :-1], y)
    model = subject.new(kernel="precomputed").fit(K, y)
    with raises(ValueError, f"X has 29 features, but {subject.name} is expecting 30"):
        model.predict(K[:, :-1])


@check("kernel", "approximation")
def approximation_without_a_formula(subject: Subject) -> None:
    X, y = subject.make(30)
    for kernel, seen in (("precomputed", "'precomputed'"), (lambda a, b: a @ b.T, "<function")):
        rows = X @ X.T if kernel == "precomputed" else X
        with raises(ValueError, f"approximation.*linear, poly, rbf.*got kernel={seen}"):
            subject.new(kernel=kernel, approximation="nystroem").fit(rows, y)


@check("kernel")
def callable_kernels_that_return_nonsense(subject: Subject) -> None:
    X, y = subject.make(30)
    with raises(ValueError, r"kernel must return an array of shape \(\d+, \d+\), got"):
        subject.new(kernel=lambda a, b: a).fit(X, y)
    with raises(ValueError, r"not finite|NaN"):
        subject.new(kernel=lambda a, b: np.full((len(a), len(b)), np.nan)).fit(X, y)


@check("weights")
def a_failed_fit_leaves_no_trace(subject: Subject) -> None:
    X, y = subject.make(30)
    for model in (subject.new(), subject.new().fit(X, y)):
        before = dict(vars(model))
        with raises(ValueError, "weight"):
            model.fit(np.c_[X, X], y, sample_weight=np.zeros(30))
        assert vars(model) == before
