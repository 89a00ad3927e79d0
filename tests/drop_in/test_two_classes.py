"""What scikit-learn's tests say of more than two classes, `probability` or LIBSVM, for our classes.

Each stands for a borrowed test that does not apply as it is written.
"""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from scarce import SVC, NuSVC

IRIS = load_iris()
OVERLAPPING = IRIS.target > 0  # versicolor and virginica
X, Y = IRIS.data[OVERLAPPING], IRIS.target_names[IRIS.target[OVERLAPPING]]

KERNELS = ["linear", "poly", "rbf", "sigmoid"]


def dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_decision_function_is_what_the_attributes_say(kind: Any, container: Any) -> None:
    rows = container(X)
    linear = kind(kernel="linear").fit(rows, Y)
    by_hand = dense(rows @ linear.coef_.T).ravel() + linear.intercept_
    np.testing.assert_allclose(linear.decision_function(rows), by_hand, atol=1e-12)
    np.testing.assert_array_equal(linear.predict(rows), linear.classes_[(by_hand > 0).astype(int)])
    curved = kind(gamma=0.3).fit(rows, Y)
    values = rbf_kernel(rows, curved.support_vectors_, gamma=0.3)
    by_hand = values @ dense(curved.dual_coef_)[0] + curved.intercept_
    np.testing.assert_allclose(curved.decision_function(rows), by_hand, atol=1e-12)


def test_balanced_class_weights_help_the_smaller_class() -> None:
    kept = np.r_[0:50, 50:100:3]
    labels = (Y == "virginica").astype(int)
    plain, balanced = (
        SVC(kernel="linear", class_weight=weight).fit(X[kept, :2], labels[kept])
        for weight in (None, "balanced")
    )
    assert balanced.class_weight_.argmax() == 1
    before, after = (f1_score(labels, model.predict(X[:, :2])) for model in (plain, balanced))
    assert after > before


@pytest.mark.filterwarnings("ignore:kernel=.* is not positive semidefinite")
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.lil_array])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_sparse_rows_give_the_same_model(kind: Any, kernel: str, container: Any) -> None:
    rows, labels = make_blobs(n_samples=80, centers=2, random_state=0)
    rows = rows - rows.mean(axis=0)
    parameters = {"gamma": 0.1, "kernel": kernel}
    plain = kind(**parameters).fit(rows[:60], labels[:60])
    same = kind(**parameters).fit(container(rows[:60]), labels[:60])
    assert sparse.issparse(same.support_vectors_)
    assert sparse.issparse(same.dual_coef_)
    np.testing.assert_array_equal(plain.support_, same.support_)
    np.testing.assert_allclose(plain.dual_coef_, same.dual_coef_.toarray(), rtol=1e-6)
    expected = plain.decision_function(rows[60:])
    for new in (rows[60:], container(rows[60:])):
        np.testing.assert_allclose(same.decision_function(new), expected, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match=f"cannot use sparse input in '{kind.__name__}' trained"):
        plain.predict(container(rows[60:]))


def test_order_of_sparse_indices_does_not_matter() -> None:
    rows, labels = load_digits(n_class=2, return_X_y=True)
    ordered = sparse.csr_array(rows[:100])
    turned = ordered.copy()
    for start, stop in zip(turned.indptr, turned.indptr[1:], strict=False):
        turned.indices[start:stop] = turned.indices[start:stop][::-1].copy()
        turned.data[start:stop] = turned.data[start:stop][::-1].copy()
    turned.has_sorted_indices = False
    first, second = (SVC(kernel="linear").fit(part, labels[:100]) for part in (ordered, turned))
    tolerances = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(first.coef_.toarray(), second.coef_.toarray(), **tolerances)
    np.testing.assert_allclose(
        first.decision_function(ordered), first.decision_function(turned), **tolerances
    )


@pytest.mark.parametrize("container", [np.asarray, sparse.lil_array, sparse.csr_matrix])
def test_callable_kernel_equals_the_built_in_one(container: Any) -> None:
    own = SVC(kernel=lambda left, right: left @ right.T).fit(container(X), Y)
    built_in = SVC(kernel="linear").fit(X, Y)
    given = container(X)
    np.testing.assert_allclose(own.decision_function(given), built_in.decision_function(X))
    np.testing.assert_array_equal(own.support_, built_in.support_)


def test_callable_kernel_of_what_is_no_number() -> None:
    words = ["A A", "A", "B", "B B", "A B"]
    counts = np.array([[word.count(letter) for letter in "AB"] for word in words])
    labels = [1, 1, 2, 2, 1]

    def common_letters(left: Any, right: Any) -> Any:
        return np.array([[sum(a.count(c) * b.count(c) for c in "AB") for b in right] for a in left])

    own = SVC(kernel=common_letters).fit(words, labels)
    same = SVC(kernel="linear").fit(counts, labels)
    np.testing.assert_allclose(own.decision_function(words), same.decision_function(counts))
    given = SVC(kernel="precomputed").fit(linear_kernel(counts), labels)
    values = given.decision_function(linear_kernel(counts))
    np.testing.assert_allclose(own.decision_function(words), values)


def test_coefficients_are_what_predictions_are_made_from() -> None:
    model = SVC(kernel="linear").fit([[-1.0, -1.0], [1.0, 1.0]], [1, 2])
    assert model.predict([[-0.1, -0.1]]) == [1]
    model.dual_coef_ = np.array([[0.0, 1.0]])
    model.intercept_ = np.array([1.0])
    assert model.predict([[-0.1, -0.1]]) == [2]


def test_a_fit_that_max_iter_ends_says_so_in_the_same_words() -> None:
    rows, labels = make_blobs(n_samples=100, centers=2, cluster_std=4.0, random_state=0)
    words = (
        r"Solver terminated early \(max_iter=2\).  Consider pre-processing your data with "
        r"StandardScaler or MinMaxScaler."
    )
    with pytest.warns(ConvergenceWarning, match=words) as caught:
        model = SVC(max_iter=2).fit(rows, labels)
    assert caught[0].filename == __file__
    assert (model.n_iter_ == 2).all()
    assert model.fit_status_ == 1
