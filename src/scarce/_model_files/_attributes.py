"""What the fitted attributes of this library's estimators must be: type, shape and range.

Sizes: n samples of the fit, d features, s support vectors, k lines of coefficients, c classes,
i intercepts, t tasks, m held-out samples, e estimators, l landmarks, r coordinates by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import check_sparse


class StateError(ValueError):
    """Something that a model holds does not fit the rest of it."""


class Sizes:
    """Sizes by name, such as the number of features, each with the attribute that first said it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}

    def get(self, name: str) -> int | None:
        """Return a size, None if nothing said it."""
        return self._known[name][0] if name in self._known else None

    def fit(self, where: str, shape: tuple[int, ...], expected: tuple[Any, ...]) -> None:
        """Compare a shape with names of sizes; unknown ones are learnt, "*" is any."""
        if len(shape) != len(expected):
            raise StateError(f"{where} has shape {shape}, expected {len(expected)} dimensions")
        for axis, (seen, name) in enumerate(zip(shape, expected, strict=True)):
            if name == "*":
                continue
            if isinstance(name, int):
                wanted, reason = name, ""
            else:
                wanted, teller = self._known.setdefault(name, (seen, where))
                reason = f", as {teller} says"
            if seen != wanted:
                raise StateError(
                    f"{where} has shape {shape}, expected {wanted} along axis {axis}{reason}"
                )

    def learn(self, name: str, value: int, where: str) -> None:
        """Keep a size, or compare it with the one that is known."""
        self.fit(where, (value,), (name,))


@dataclass(frozen=True)
class Rule:
    """What an attribute must be."""

    kinds: str  # kinds of NumPy's types that are accepted
    shape: tuple[Any, ...] | None  # names of sizes, numbers, "*"; None for a single number
    finite: bool = True  # whether every number must be finite
    optional: bool = False  # whether None is accepted
    low: float = -np.inf  # the least value that is accepted
    below: str = ""  # name of the size that values must be below
    rows: bool = False  # whether it may be CSR

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value that breaks the rule."""
        if value is None and self.optional:
            return
        if self.shape is None:
            self._check_number(where, value)
            return
        if self.rows and sparse.issparse(value):
            if value.format != "csr":
                raise StateError(f"{where} is in {value.format} format, expected CSR")
            check_sparse(value, where)
            sizes.fit(where, value.shape, self.shape)
            value = value.data
        else:
            if not isinstance(value, np.ndarray):
                raise StateError(f"{where} is {_named(value)}, expected an array")
            sizes.fit(where, value.shape, self.shape)
        self._check_values(where, value, sizes)

    def _check_number(self, where: str, value: Any) -> None:
        boolean = isinstance(value, bool | np.bool_)
        whole = isinstance(value, Integral) and not boolean
        if not (boolean if self.kinds == "b" else whole if self.kinds == "i" else _is_real(value)):
            expected = {"b": "True or False", "i": "a whole number"}.get(self.kinds, "a number")
            raise StateError(f"{where} is {_named(value)}, expected {expected}")
        if self.finite and not np.isfinite(float(value)):
            raise StateError(f"{where} is {value}, expected a finite number")
        if value < self.low:
            raise StateError(f"{where} is {value}, expected at least {self.low:g}")

    def _check_values(self, where: str, values: Any, sizes: Sizes) -> None:
        if values.dtype.kind not in self.kinds or not values.dtype.isnative:
            raise StateError(f"{where} is of type {values.dtype.str}, expected {self._types()}")
        if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
            raise StateError(f"{where} is of type {values.dtype}, expected float32 or float64")
        if values.size == 0 or values.dtype.kind not in "iuf":
            return
        if self.finite and not np.isfinite(values).all():
            raise StateError(f"{where} holds NaN or infinite values, expected finite ones")
        if values.min() < self.low:
            raise StateError(f"{where} holds {values.min()}, expected at least {self.low:g}")
        limit = sizes.get(self.below)
        if limit is not None and values.max() >= limit:
            raise StateError(f"{where} holds {values.max()}, expected values below {limit}")

    def _types(self) -> str:
        names = {"f": "floating point", "i": "whole numbers", "b": "booleans", "U": "texts"}
        return " or ".join(names[kind] for kind in self.kinds if kind in names) + " of this system"


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _named(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def number(*, finite: bool = True, optional: bool = False, low: float = -np.inf) -> Rule:
    """Return the rule of one number."""
    return Rule("f", None, finite=finite, optional=optional, low=low)


def whole(low: float = 0) -> Rule:
    """Return the rule of one whole number."""
    return Rule("i", None, low=low)


def flag() -> Rule:
    """Return the rule of a boolean."""
    return Rule("b", None)


def floats(*shape: Any, optional: bool = False, low: float = -np.inf) -> Rule:
    """Return the rule of an array of finite floating point numbers."""
    return Rule("f", shape, optional=optional, low=low)


def rows(*shape: Any, optional: bool = False) -> Rule:
    """Return the rule of rows of data, dense or CSR."""
    return Rule("f", shape, optional=optional, rows=True)


def places(*shape: Any, below: str = "", low: float = 0, optional: bool = False) -> Rule:
    """Return the rule of an array of whole numbers."""
    return Rule("i", shape, low=low, below=below, optional=optional)


def labels(*shape: Any) -> Rule:
    """Return the rule of labels: numbers, booleans or texts, not NaN."""
    return Rule("biufUO", shape)


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
    # What is reported of a fit and enters no answer: NaN means unknown.
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
