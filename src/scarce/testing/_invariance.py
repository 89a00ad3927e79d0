"""What must not change the answer: order, labels, type and place of data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import assert_same_decisions, check, raises, required, warns


@check("weights")
def order_of_rows(subject: Subject) -> None:
    X, y = subject.make(80)
    order = np.random.default_rng(0).permutation(80)
    weights = np.linspace(0.5, 2.0, 80)
    one = subject.new().fit(X, y, sample_weight=weights)
    other = subject.new().fit(
        X[order], None if y is None else y[order], sample_weight=weights[order]
    )
    assert_same_decisions(one, other, X, 1e-6)
    if "regressor" not in subject.traits:  # labels
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@check("classifier", "always a class")
def labels_may_be_anything(subject: Subject) -> None:
    X, y = subject.make(50)
    assert y is not None
    plain = subject.new().fit(X, y)
    codings: list[list[Any]] = [[-1, 1], [False, True], ["no", "yes"], [2.0, 7.0]]
    for coding in codings:
        labels = np.array(coding)[y]
        model = subject.new().fit(X, labels)
        np.testing.assert_array_equal(model.classes_, np.array(coding))
        np.testing.assert_array_equal(scores_of(model, X), scores_of(plain, X))
        predicted = model.predict(X)
        assert predicted.dtype == labels.dtype
        np.testing.assert_array_equal(predicted, np.array(coding)[plain.predict(X)])


@check("classifier", "always a class")
def swapped_labels_turn_the_sign(subject: Subject) -> None:
    X, y = subject.make(50)
    assert y is not None
    same_class = {"pos_label": 0} if "one label" in subject.traits else {}
    one, other = subject.new().fit(X, y), subject.new(**same_class).fit(X, 1 - y)
    expected = scores_of(one, X)
    np.testing.assert_allclose(scores_of(other, X), -expected, atol=1e-6)


@check()
def single_precision_equals_double(subject: Subject) -> None:
    for n in (100, 1500):  # below and above the size from which solving itself is in single
        X, y = subject.make(n)
        single = X.astype(np.float32)
        narrow = subject.new().fit(single, y)
        wide = subject.new().fit(single.astype(np.float64), y)
        if "kernel" in subject.traits:
            assert narrow.support_vectors_.dtype == np.float32
            assert wide.support_vectors_.dtype == np.float64
        values = scores_of(narrow, single)
        assert values.dtype == np.float64
        assert_same_decisions(wide, narrow, single.astype(np.float64), 1e-4, new=single)


@check()
def single_precision_far_from_the_origin(subject: Subject) -> None:
    X, y = subject.make(100)
    far = (X + 1000.0).astype(np.float32)
    narrow, wide = subject.new().fit(far, y), subject.new().fit(far.astype(np.float64), y)
    assert_same_decisions(wide, narrow, far.astype(np.float64), 1e-3, new=far)


@check("weights")
def place_and_layout_of_the_data(subject: Subject) -> None:
    X, y = subject.make(60)
    weights = np.linspace(0.5, 2.0, 60)
    model = subject.new().fit(X, y, sample_weight=weights)
    expected = scores_of(model, X)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        frozen = X.copy()
        wide = np.zeros((60, 2 * X.shape[1]))
        wide[:, ::2] = X
        for rows in (mapped, frozen, np.asfortranarray(X), wide[:, ::2]):
            labels = None if y is None else y.copy()
            masses = weights.copy()
            for array in (rows, labels, masses):
                if array is not None:
                    array.setflags(write=False)
            found = scores_of(subject.new().fit(rows, labels, sample_weight=masses), rows)
            np.testing.assert_array_equal(found, expected)
        del mapped, rows


@check("sparse")
def sparse_rows_that_cannot_be_written(subject: Subject) -> None:
    X, y = subject.make(60)
    csr = sparse.csr_array(X)
    expected = scores_of(subject.new().fit(csr, y), csr)
    for array in (csr.data, csr.indices, csr.indptr):
        array.setflags(write=False)
    np.testing.assert_array_equal(scores_of(subject.new().fit(csr, y), csr), expected)


@check("weights")
def data_are_not_changed(subject: Subject) -> None:
    X, y = subject.make(60)
    weights = np.linspace(0.0, 2.0, 60)
    given = X.copy(), None if y is None else y.copy(), weights.copy()
    subject.new().fit(X, y, sample_weight=weights).predict(X)
    for before, after in zip(given, (X, y, weights), strict=True):
        np.testing.assert_array_equal(before, after)


@check("weights")
def pandas_input_and_feature_names(subject: Subject) -> None:
    pd = required("pandas", "test")
    X, y = subject.make(60)
    weights = np.linspace(0.5, 2.0, 60)
    index = np.random.default_rng(0).permutation(60)  # must not be used to line anything up
    names = ["width", "height", "depth"]
    frame = pd.DataFrame(X, columns=names, index=index)
    labels = None if y is None else pd.Series(y, index=index[::-1])
    masses = pd.Series(weights)
    model = subject.new().fit(frame, labels, sample_weight=masses)
    assert list(model.feature_names_in_) == names
    plain = subject.new().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(scores_of(model, frame), scores_of(plain, X))
    with raises(ValueError, "feature names"):
        model.predict(frame[names[::-1]])
    with warns(UserWarning, "does not have valid feature names"):
        model.predict(X)


@check("kernel", "nu", "one-class")
def at_most_nu_is_rejected(subject: Subject) -> None:
    # Rows on the boundary count as inside, however rounding errors fall.
    for n in (20, 100):
        X, _ = subject.make(n)
        for nu in (0.1, 0.25, 0.5, 1.0):
            for dtype in (np.float32, np.float64):
                for kernel in ("rbf", "linear", "poly"):
                    rows = X.astype(dtype)
                    model = subject.new(kernel=kernel, nu=nu, **subject.cut_at_training_rows)
                    model.fit(rows)
                    assert np.mean(model.predict(rows) < 0) <= nu + 1e-12
                    assert model.support_.size >= nu * n - 1e-9


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
