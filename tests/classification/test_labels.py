"""Labels of any type: words and whole numbers are labels, other numbers are not."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from scarce import SVC, SVR
from tests.versions import SINCE_1_7, SINCE_1_8

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, np.uint16, "U1"])
def test_labels_of_any_type_give_the_same_model(kind):
    expected, found = SVC().fit(X, y), SVC().fit(X, y.astype(kind))
    assert found.dual_coef_.tobytes() == expected.dual_coef_.tobytes()
    assert found.classes_.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X).astype(kind))


@pytest.mark.parametrize("value", [0.5, 1e300])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_fractions_are_no_labels(value):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SVC().fit(X, np.where(y == 0, value, y))


@SINCE_1_8
def test_words_that_nearly_all_differ_are_doubted():
    with pytest.warns(UserWarning, match="greater than 50%"):
        SVC().fit(X[::5], np.arange(30).astype("U2"))


@SINCE_1_7
def test_bytes_are_no_labels():
    with pytest.raises(TypeError, match="bytes"):
        SVC().fit(X, y.astype("S1"))


def test_words_are_no_values():
    with pytest.raises(ValueError, match="could not convert string to float"):
        SVR().fit(X, np.where(y == 0, "low", "high"))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_are_finite(value):
    with pytest.raises(ValueError, match="Input y contains"):
        SVC().fit(X, np.where(y == 0, value, y))
