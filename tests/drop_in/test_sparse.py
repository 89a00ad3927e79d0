"""scikit-learn's tests of its support vector machines on sparse rows, run on ours."""

import pytest

from tests.drop_in.borrowing import NAMED_HERE, borrow
from tests.drop_in.test_dense import LIBLINEAR, PROBABILITY

# One of its samples lies around the origin, which our one-class machine says.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The solution is trivial"),
    pytest.mark.filterwarnings("ignore:kernel='sigmoid' is not positive semidefinite"),
]

NOT_APPLICABLE = {
    "test_linearsvc": LIBLINEAR,
    "test_linearsvc_iris": LIBLINEAR,
    "test_sparse_liblinear_intercept_handling": LIBLINEAR,
    # The rest of what these are about is in test_two_classes.py.
    "test_svc": PROBABILITY,
    "test_unsorted_indices": PROBABILITY,
    "test_sparse_svc_clone_with_callable_kernel": PROBABILITY,
    "test_timeout": "our solver needs no more than the one step it allows",
}

if not NAMED_HERE:
    NOT_APPLICABLE |= {"test_consistent_proba": PROBABILITY}

globals().update(borrow("sklearn.svm.tests.test_sparse", except_for=NOT_APPLICABLE))
