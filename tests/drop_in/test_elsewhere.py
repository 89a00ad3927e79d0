"""scikit-learn's tests of other tools that use its support vector machines, run on ours."""

from collections.abc import Callable

import pytest

from tests.drop_in import borrowing

TESTS = {
    "sklearn.model_selection.tests.test_search": [
        "test_grid_search_one_grid_point",
        "test_grid_search_bad_param_grid",
        "test_grid_search_precomputed_kernel",
        "test_grid_search_precomputed_kernel_error_nonsquare",
        "test_predict_proba_disabled",
    ],
    "sklearn.model_selection.tests.test_validation": [
        "test_cross_val_score_predict_groups",
        "test_cross_val_score_mask",
        "test_cross_val_score_precomputed",
        "test_validation_curve_cv_splits_consistency",
        "test_learning_curve_some_failing_fits_warning",
        "test_cross_val_predict_sparse_prediction",
    ],
    "sklearn.feature_selection.tests.test_rfe": [
        "test_rfe_features_importance",
        "test_RFE_fit_score_params",
        "test_rfe_percent_n_features",
        "test_rfe_estimator_tags",
        "test_number_of_subsets_of_features",
        "test_rfecv_std_and_mean",
        "test_rfe_with_sample_weight",
    ],
    "sklearn.ensemble.tests.test_bagging": ["test_gridsearch"],
    "sklearn.tests.test_multiclass": [
        "test_ovr_fit_predict_sparse",
        "test_ovr_fit_predict_svc",
        "test_ovr_multilabel_decision_function",
        "test_ovr_single_label_decision_function",
        "test_pairwise_indices",
        "test_pairwise_tag",
        "test_pairwise_cross_val_score",
    ],
    "sklearn.tests.test_pipeline": [
        "test_pipeline_invalid_parameters",
        "test_pipeline_get_tags_none",
    ],
    "sklearn.tests.test_base": [
        "test_get_params",
        "test_is_classifier",
        "test_is_regressor",
        "test_set_params",
        "test_set_params_updates_valid_params",
    ],
    "sklearn.linear_model.tests.test_sgd": [
        "test_ocsvm_vs_sgdocsvm",
        "test_sgd_oneclass_vs_linear_oneclass",
    ],
    "sklearn.utils.tests.test_multiclass": ["test_safe_split_with_precomputed_kernel"],
    "sklearn.utils.tests.test_estimator_checks": ["test_check_estimator_pairwise"],
}


def borrowed() -> dict[str, Callable[..., None]]:
    tests = {}
    for module, names in TESTS.items():
        found = borrowing.functions_of(module)
        for name in names:
            if name not in found and not borrowing.NAMED_HERE:
                continue  # an older or newer scikit-learn has it not
            about = module.rpartition("test_")[2]
            tests[f"test_{about}__{name.removeprefix('test_')}"] = found[name]
    return tests


pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.EfficiencyWarning"),
]

globals().update(borrowed())
