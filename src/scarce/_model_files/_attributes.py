"""What the fitted attributes of this library's estimators must be, by name.

Sizes: n samples of the fit, d features, s support vectors, k lines of coefficients, c classes,
i intercepts, t tasks, m held-out samples, e estimators, l landmarks, r coordinates by them.
"""

from __future__ import annotations

from typing import Any

from scarce._model_files._rules import Rule, flag, floats, labels, number, places, rows, whole

ESTIMATORS = {
    "classifier_",
    "mapper_",
    "detector_",
    "bags_",
    "estimator_",
    "best_estimator_",
    "svc_",
}
LISTS_OF_ESTIMATORS = {"estimators_"}
# Of numbers, NaN where unknown.
PAIRS = {
    "probability_curve_",
    "class_prior_interval_",
    "accepted_share_interval_",
    "false_alarm_range_",
}

# In this order: earlier ones say the sizes that later ones are compared with.
ATTRIBUTES: dict[str, Rule | tuple[Rule, ...]] = {
    "classes_": labels("c"),
    "domains_": places("t", low=float("-inf")),
    "support_vectors_": rows("s", "d"),
    "dual_coef_": rows("k", "s"),
    "support_": places("*", below="n"),
    "_sparse": flag(),
    "_gamma": number(),
    "intercept_": floats("i"),
    "offset_": (number(), floats(1)),
    "_rounding": number(low=0),
    "_squared_norm": number(optional=True),
    "_n_support": places("*"),
    "class_weight_": floats("c"),
    "task_dual_coef_": floats("t", "s"),
    "task_offset_": floats("t"),
    "task_coef_": floats("t", "d"),
    "shifts_": rows("*", "d", optional=True),
    "radii_": floats("*", optional=True),
    "task_shift_": floats("t", "d", optional=True),
    "dropped_": places("*", below="n"),
    "_dropped_scores": floats("p"),
    "_dropped_weights": floats("p", low=0),
    "false_alarms_": number(low=0),
    "_of_sparse_rows": flag(),
    "_left_out_scores": floats("m"),
    "_left_out_weights": floats("m", low=0),
    "_left_out_places": places("*", low=-1, below="m"),
    "_part_of": places("m"),
    "_kept_rows": rows("n", "d"),
    "_kept_weights": floats("n", low=0),
    "_kept_targets": (places("n", below="c"), floats("n")),
    "_landmarks": (places("*", below="n"), rows("l", "d")),
    "_columns": places("*", optional=True),
    "_coef": floats("k", "d"),
    "common_dual_coef_": floats("k", "*"),
    "group_dual_coef_": floats("k", "*"),
    "intercept_spread_": floats("i"),
    "_source_share": number(),  # below zero where the source contradicts the proportions
    "_asks_source": flag(),
    "effective_labels_": number(low=0),
    "_cut": number(),
    "left_out_sizes_": floats("q", low=0),
    "left_out_shares_": floats(2, "q", "*"),
    "share_slope_": number(finite=False),
    "soft_label_gap_": number(finite=False),
    "feature_weights_": floats("d", optional=True),
    "_scale": floats("d"),
    "_standards": floats("*", 2),
    "_root": floats("l", "r"),
    "coef_": floats("*", "r"),
    "class_means_": rows("*", "d"),
    "target_rows_": rows("m", "d"),
    "target_clusters_": places("m", low=float("-inf")),
    "target_labels_": places("e", "m"),
    "_weights": floats("m"),
    "positive_features_": Rule("b", ("d",)),
    "direction_": floats("d"),
    "groups_": labels("g"),
    "models_": labels("g"),
    "n_rows_": places("g"),
    "transduction_": labels("n"),
    "threshold_": number(),
    "margin_": (number(), floats("*")),
    "epsilon_": number(),
    "n_iter_": (whole(), places("*")),
    "n_rounds_": whole(),
    "n_reads_": whole(),
    "round_kept_": whole(low=-1),
    "fit_status_": whole(),
    "converged_": flag(),
    "hard_margin_": flag(),
    "C_": number(),
    "gamma_": number(),
    "mean_distance_": number(),
    "mean_difference_": number(),
    "mapping_seconds_": number(),
    # What is told of a fit and enters no answer: NaN means unknown.
    **dict.fromkeys(
        (
            "objective_",
            "dual_gap_",
            "kkt_violation_",
            "class_prior_",
            "accepted_share_",
            "taken_back_",
            "held_out_recall_",
            "out_of_bag_auc_",
            "out_of_bag_auc_se_",
            "nu_",
        ),
        number(finite=False),
    ),
}

# Of `_unsettled`: what finds the held-out scores that the threshold did not need.
UNSETTLED: dict[str, Rule] = {
    "matrix": floats("u", "u"),
    "weights": floats("u", low=0),
    "linear": floats("u"),
    "alpha": floats("u"),
    "scores": floats("u"),
    "members": places("*", low=-1, below="u"),
    "known": Rule("b", ("u",)),
    "unit": number(),
}

# Of `trees_`, whose nodes are numbered through.
TREES: dict[str, Rule] = {
    "feature": places("v", low=-1, below="d"),
    "threshold": floats("v"),
    "value": floats("v", low=0),
    "left": places("v", below="v"),
    "right": places("v", below="v"),
    "root": places("*", below="v"),
}

# Containers, and what one rule cannot say: `_state` looks at these.
OTHERS = {
    "n_features_in_",
    "feature_names_in_",
    "shape_fit_",
    "tensor_shape_",
    "_sample_shape",
    "factors_",
    "calibration_",
    "source_calibration_",
    "pos_label_",
    "history_",
    "left_out_loss_",
    "cluster_probability_",
    "out_of_bag_scores_",
    "_unsettled",
    "probability_curve_interval_",
    "source_p_value_",
    "unknown_label_",
    "pooled_",
    "_share_lines",
    "trees_",
    *PAIRS,
    *ESTIMATORS,
    *LISTS_OF_ESTIMATORS,
}


def known(name: str) -> bool:
    """Say whether there is a rule for a fitted attribute."""
    return name in ATTRIBUTES or name in OTHERS


def rules(name: str) -> tuple[Any, ...]:
    """Return the rules of an attribute, of which one must hold."""
    rule = ATTRIBUTES[name]
    return rule if isinstance(rule, tuple) else (rule,)
