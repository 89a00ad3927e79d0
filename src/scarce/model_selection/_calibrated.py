"""A threshold that holds on new rows, for any detector (docs/theory/false_alarms.md)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import (
    HasMethods,
    StrOptions,
    checked_weights,
    collected_notes,
    fit_frame,
    num_samples,
    pass_on,
    plain_weights,
    validate_data,
)
from scarce._kernel_sum import closeness, distance_ratios_at, log_scores_and_offset
from scarce._predictions import OneClassPredictions, no_nan
from scarce._warnings import NarrowWidthWarning, ScarceDataWarning
from scarce.held_out import HeldOutScores, TrimmedOffset
from scarce.model_selection._detector import (
    FitData,
    equal_rows,
    is_kernel_machine,
    last_step,
    note_once,
    parts_to_leave_out,
    refuse_upside_down,
    rows_for,
    score_scale,
    scores,
    weights_for,
)
from scarce.model_selection._kept_rows import RowsKept
from scarce.model_selection._trimming import Trimming
from scarce.one_class import OneClassSVM


class CalibratedOneClass(
    RowsKept, TrimmedOffset, OneClassPredictions, MetaEstimatorMixin, OutlierMixin, BaseEstimator
):
    """Novelty detector with a threshold for a chosen rate of false alarms on new rows.

    The threshold is an order statistic of held-out scores: each row is scored by a detector fitted
    without it. So about the proportion `false_alarms` of new rows of the class is rejected.
    `p_values` (conformal p-values) and `select` (false discovery rate) use the same scores.

    Scalers and other steps that are fitted to the rows belong into `estimator`, as a pipeline: with
    few rows, a scaler fitted to all of them makes the rate far too high. Rows must be exchangeable:
    near-duplicates, groups and time order need a splitter that keeps them together.

    Parameters
    ----------
    estimator : estimator instance or None, default=None
        A detector with `score_samples` or `decision_function`, higher for more normal rows, or a
        pipeline that ends with one. None is a `StandardScaler` and
        ``OneClassSVM(gamma="neighbors", nu=0.1)``, for sparse rows the latter alone. Its own
        offset is not used. Scores of pyod's detectors, higher for odd rows, are negated.
        Detectors that score a row by those it comes with (ECOD, COPOD) get one row at a time.
    false_alarms : float, default=0.1
        Proportion of new rows of the class that may be rejected. From n rows no less than
        ``1 / (n + 1)`` is attainable.
    contamination : float or "auto", default=0.0
        Proportion of the training rows that may not belong to the class. Twice that proportion,
        the rows with the lowest held-out scores, takes no part in the fit; the threshold comes from
        the held-out scores of all rows. Kernel models of this library find these rows with a wide
        kernel, and nearly equal rows that are odd when they are held out together; other detectors
        find them as they are. "auto", for kernel models, leaves out such groups, and of 50 and more
        rows those that look odd to the wide kernel only.
    cv : int, splitter, iterable or None, default=None
        How rows are held out; every row must be held out exactly once. None is leave-one-out up to
        50 distinct rows, and ten folds above.
    method : {"one_model", "cv+"}, default="one_model"
        "one_model" compares the score of a new row by the model of all rows with the scores of rows
        held out. "cv+" compares it, row by row, by the model that has not seen that row: slower,
        and the rate can be proven to be at most twice the wanted one.
    window : int or None, default=None
        How many rows `partial_fit` keeps, the newest; None keeps all.

    Attributes
    ----------
    estimator_ : estimator instance
        The detector, fitted to all rows.
    estimators_ : list of estimator instances
        For ``method="cv+"``: the detectors, each fitted without a part.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    left_out_scores_ : ndarray of shape (n_samples,)
        Score of every row by a detector fitted without it; below `offset_` it is odd among the
        others. NaN for rows of a source or of weight 0.
    false_alarms_ : float
        The proportion that was asked for.
    false_alarm_range_ : tuple of float
        90 % range, approximate, of the proportion of new rows rejected.
    dropped_ : ndarray of shape (n_dropped,)
        Rows that took no part in the fit because of `contamination`.
    n_features_in_ : int
        Number of features seen during fit, if the detector knows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    OneClassSVM : Has the same built in, ``false_alarms=0.1``.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import CalibratedOneClass
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = CalibratedOneClass(false_alarms=0.1).fit(X)
    >>> model.predict([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    array([ 1, -1])
    >>> model.p_values([[9.0, 9.0, 9.0]]).round(3)
    array([0.024])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **TrimmedOffset._allowed_values,
        **RowsKept._allowed_values,
        "estimator": [
            HasMethods(["fit", "score_samples"]),
            HasMethods(["fit", "decision_function"]),
            None,
        ],
        "cv": ["cv_object"],
        "method": [StrOptions({"one_model", "cv+"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        false_alarms: float = 0.1,
        contamination: float | str = 0.0,
        cv: Any = None,
        method: str = "one_model",
        window: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.false_alarms = false_alarms
        self.contamination = contamination
        self.cv = cv
        self.method = method
        self.window = window

    _offset_rule: ClassVar[str] = "left_out"

    @property
    def _detector(self) -> Any:
        detector = OneClassSVM(gamma="neighbors", nu=0.1)
        if self.estimator is not None or getattr(self, "_of_sparse_rows", False):
            return detector if self.estimator is None else self.estimator
        scaler = StandardScaler()
        if get_config()["enable_metadata_routing"]:
            scaler.set_fit_request(sample_weight=True)
        return make_pipeline(scaler, detector)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        seen = last_step(self._detector) if self.estimator is None else self._detector
        inner = get_tags(seen).input_tags
        tags.input_tags.sparse, tags.input_tags.three_d_array = inner.sparse, inner.three_d_array
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what is passed on: to `fit` of the detector, and to `split` of the splitter.

        Returns
        -------
        MetadataRouter
            As scikit-learn's routing asks for it.
        """
        router = MetadataRouter(owner=self).add(
            estimator=self._detector,
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )
        if self.cv is not None and hasattr(self.cv, "split"):
            router.add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        return router

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the detector to all rows and without each part, and set the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Rows of the class, at least two distinct ones.
        y : array-like, default=None
            Passed on.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for every step whose `fit` takes them; they also count the rows: a row of weight
            2 is the same as the row given twice, and a row of weight 0 takes no part.
        **params : dict
            Values per row for the detector's `fit`, such as `sample_domain`, of which only the
            target's rows are left out; `groups` is for the splitter.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._drop_rows()
        self._of_sparse_rows = sparse.issparse(X)
        rows = rows_for(self.estimator, X)
        if sample_weight is not None:
            params["sample_weight"] = checked_weights(sample_weight, rows)
        self._fit_rows(rows, y, params)
        validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _fit_rows(self, rows: Any, y: Any, params: dict[str, Any]) -> None:
        """Fit rows that are as the detector takes them."""
        given, for_splitter = self._routed(params)
        data = FitData(rows, y if y is None or hasattr(y, "iloc") else np.asarray(y), given)
        fitted = self._fitted_to_all(data, None)  # it says what is wrong with them
        n = num_samples(rows)
        weights, domain = (data.own(fitted, name) for name in ("sample_weight", "sample_domain"))
        weights = np.maximum(plain_weights(weights, np.zeros((n, 1))), 0)
        counted = np.flatnonzero((weights > 0) & (domain is None or np.asarray(domain) < 0))
        parts = parts_to_leave_out(self.cv, data, counted, for_splitter)
        self.dropped_, still_counted = self._rows_to_drop(
            data, fitted, parts, counted, weights[counted]
        )
        taking = np.setdiff1d(np.arange(n), self.dropped_)
        if self.dropped_.size:
            counted = np.setdiff1d(counted, self.dropped_)
            fitted = self._fitted_to_all(data, taking)
            parts = [part for each in parts if (part := np.setdiff1d(each, self.dropped_)).size]
        self.estimator_ = fitted
        with collected_notes() as notes:
            found, self.estimators_ = data.held_out(
                self._detector, fitted, taking, parts, alone=self.method == "cv+"
            )
        note_once(notes, len(parts))
        members = np.full(n, -1)
        members[counted] = np.arange(counted.size)
        in_order, part_of = found[counted], np.empty(n, np.int64)
        for number, part in enumerate(parts):
            part_of[part] = number
        if self.dropped_.size:  # by the detector that has seen none of them
            self._keep_dropped(data.scores(fitted, self.dropped_), still_counted)
            in_order = np.concatenate([in_order, self._dropped_scores])
            self.estimators_ += [fitted] if self.method == "cv+" else []
        part_of = np.append(part_of[counted], np.full(self.dropped_.size, len(parts)))
        self._part_of = part_of[np.argsort(in_order, kind="stable")]
        alike = None if self.cv is not None else equal_rows(data, counted)
        self.offset_ = self._keep_left_out(found[counted], weights[counted], members, alike=alike)
        refuse_upside_down(fitted, rows, float(np.median(in_order)))

    def _fitted_to_all(self, data: FitData, rows: Array | None) -> Any:
        """Return the detector, fitted to all rows that take part."""
        with collected_notes() as notes:
            fitted = data.fitted(clone(self._detector), rows)
        # The detector's own offset plays no part, nor what it cannot promise.
        pass_on(notes, NarrowWidthWarning, ScarceDataWarning)
        return fitted

    def _rows_to_drop(
        self, data: FitData, fitted: Any, parts: list[Array], counted: Array, weights: Array
    ) -> tuple[Array, Array]:
        """Return the rows that `contamination` leaves out, and how often each still counts."""
        if not self.contamination:
            return np.empty(0, np.intp), np.empty(0)
        if self.contamination == "auto" and not is_kernel_machine(self._detector):
            raise ValueError(
                'contamination="auto" compares a wide kernel with a narrow one, and '
                f"{type(last_step(self._detector)).__name__} has no kernel: give the proportion, "
                "such as contamination=0.05"
            )
        with collected_notes():  # said of the fits that count
            trim = Trimming(self._detector, fitted, data, parts, counted, weights)
            odd, still_counted = trim.odd_rows(self.contamination)
        return counted[odd], still_counted

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the detector's fit takes of the metadata, and what the splitter's split."""
        given = {name: value for name, value in params.items() if value is not None}
        if not given:  # scikit-learn's answer would seem to hold every name
            return {}, {}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            for_splitter = routed.splitter.split if "splitter" in routed else {}
            return dict(routed.estimator.fit), dict(for_splitter)
        for_splitter = {name: given.pop(name) for name in ("groups",) if name in given}
        if for_splitter and not hasattr(self.cv, "split"):
            together = "groups is for a splitter that keeps them together, such as cv=GroupKFold(5)"
            raise ValueError(f"{together}, got cv={self.cv!r}")
        if "sample_weight" in given:
            given |= weights_for(self._detector, given.pop("sample_weight"))
        return given, for_splitter

    @property
    def _score_factor(self) -> float:
        """Factor of the detector's own scores in those of this one."""
        check_is_fitted(self)
        return 1.0 / score_scale(self.estimator_)

    @lazily
    def score_samples(self, X: Any) -> Array:
        """Return the scores of the detector fitted to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal. Rows far away keep their order: kernel sums below 1e-250 become
            smaller positive numbers that fall with the distance. `decision_function` loses it, as
            minus the offset is all that is left.
        """
        check_is_fitted(self)
        rows = rows_for(self.estimator, X)
        # Columns that are picked by name may come in any order; else the detector says what is
        # wrong.
        if rows.ndim > 1 and not _takes_by_name(self.estimator_):
            validate_data(self, X, reset=False, skip_check_array=True)
        return no_nan(scores(self.estimator_, rows))

    def _log_scores(self, X: Any) -> tuple[Array, float, float]:
        rows = rows_for(self.estimator, X)
        if len(getattr(self.estimator_, "steps", ())) > 1:
            rows = self.estimator_[:-1].transform(rows)
        offset = self.offset_ * score_scale(self.estimator_)
        return log_scores_and_offset(last_step(self.estimator_), rows, offset, squeezed=True)

    def _distance_ratios_at(self, scores: Array) -> Array | None:
        scale, last = score_scale(self.estimator_), last_step(self.estimator_)
        return distance_ratios_at(last, scores * scale, self.offset_ * scale, squeezed=True)

    def _closeness(self, left_out: HeldOutScores) -> Array | None:
        own = left_out.scores * score_scale(self.estimator_)
        return closeness(last_step(self.estimator_), own, left_out.weights, squeezed=True)

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return how far each row is inside.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Score minus `offset_`; for ``method="cv+"`` the p-value minus the rate attained, so
            that rows that are rejected have a negative value.
        """
        check_is_fitted(self)
        if self.method == "cv+":
            least = 1.0 / (1.0 + float(self._left_out_weights.sum()))
            rate = max(self._rate, least)
            values = self.p_values(X) - rate
            return np.asarray(np.where(np.abs(values) <= 1e-12, -1e-12, values))
        values = np.asarray(self.score_samples(X) - self.offset_)
        # A score that is the threshold but for its last digits is on the boundary, and accepted.
        return np.where(np.abs(values) <= 1e-12 * abs(self.offset_), 0.0, values)

    @lazily
    def p_values(self, X: Any) -> Array:
        """Return p-values: how likely a row of the class scores as low as each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Nearly uniform for new rows of the class, up to steps of ``1 / (n + 1)``; of detectors
            other than one-class SVMs those above 0.1 only roughly.
        """
        left_out = self._left_out()
        if self.method == "one_model":
            return left_out.p_values(self.score_samples(X))
        rows = rows_for(self.estimator, X)
        counted = np.ones(num_samples(rows))
        for number, model in enumerate(self.estimators_):
            own = self._part_of == number
            own_scores = left_out.scores[own]
            reached = np.concatenate([[0.0], np.cumsum(left_out.weights[own])])
            counted += reached[np.searchsorted(own_scores, scores(model, rows), side="right")]
        return np.asarray(counted / (1.0 + left_out.weights.sum()))


def _takes_by_name(model: Any) -> bool:
    """Return whether a detector picks its columns by name, in any order and among others."""
    return hasattr(model, "steps") and isinstance(model[0], ColumnTransformer)
