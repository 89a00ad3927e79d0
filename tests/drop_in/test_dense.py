"""scikit-learn's tests of its support vector machines, run on ours."""

import pytest

from tests.drop_in.borrowing import NAMED_HERE, borrow

LIBLINEAR = "about LinearSVC or LinearSVR"
PROBABILITY = "about `probability`, which is deprecated; CalibratedClassifierCV replaces it"

NOT_APPLICABLE = {
    "test_linearsvr": LIBLINEAR,
    "test_linearsvr_fit_sampleweight": LIBLINEAR,
    "test_linearsvc": LIBLINEAR,
    "test_linearsvc_parameters": LIBLINEAR,
    "test_linearsvc_crammer_singer": LIBLINEAR,
    "test_linearsvc_fit_sampleweight": LIBLINEAR,
    "test_linearsvc_iris": LIBLINEAR,
    "test_linearsvc_verbose": LIBLINEAR,
    "test_linearsvm_liblinear_sample_weight": LIBLINEAR,
    "test_linear_svm_convergence_warnings": LIBLINEAR,
    "test_liblinear_set_coef": LIBLINEAR,
    "test_lsvc_intercept_scaling_zero": LIBLINEAR,
    "test_dense_liblinear_intercept_handling": LIBLINEAR,
    "test_crammer_singer_binary": LIBLINEAR,
    "test_dual_auto": LIBLINEAR,
    "test_dual_auto_edge_cases": LIBLINEAR,
    "test_probability": PROBABILITY,
    "test_hasattr_predict_proba": PROBABILITY,
    "test_probability_raises_futurewarning": PROBABILITY,
    "test_svc_nusvc_probA_probB_deprecated": PROBABILITY,
    "test_svr_errors": "ours refuses a kernel of the wrong shape in fit, not only in predict",
    # In test_two_classes.py, put so that they hold for more than LIBSVM:
    "test_tweak_params": "changes the private attribute `_dual_coef_` that LIBSVM's binding reads",
    "test_libsvm_convergence_warnings": "our solver needs no more than the two steps it allows",
    "test_custom_kernel_not_array_input": "its kernel is right only for a set of rows with itself",
}

if not NAMED_HERE:  # tests that have changed since
    NOT_APPLICABLE |= {
        "test_unicode_kernel": PROBABILITY,
        "test_svc_clone_with_callable_kernel": PROBABILITY,
        "test_consistent_proba": PROBABILITY,
        "test_negative_sample_weights_mask_all_samples": "another message for NuSVC",
    }

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # Random samples may lie around the origin, which our one-class machine says.
    pytest.mark.filterwarnings("ignore:The solution is trivial"),
]

globals().update(borrow("sklearn.svm.tests.test_svm", except_for=NOT_APPLICABLE))
