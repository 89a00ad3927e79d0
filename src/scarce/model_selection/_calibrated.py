"""A threshold that keeps its word for any detector (docs/theory/false_alarms.md)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._false_alarms import LeftOut
from scarce._frame import (
    HasMethods,
    Notes,
    StrOptions,
    collected_notes,
    fit_frame,
    note,
    num_samples,
    pass_on,
    plain_weights,
    refuse_unread,
    safe_indexing,
    validate_data,
)
from scarce._kernel_machine import KernelMachine
from scarce._left_out import left_out_parts
from scarce._left_out_offset import LeftOutOffset
from scarce._warnings import NarrowWidthWarning, ScarceDataWarning
from scarce.chunks._lazy import lazily
from scarce.kernels import distinct_rows
from scarce.one_class import OneClassSVM


class CalibratedOneClass(LeftOutOffset, MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Give any detector, or a whole pipeline, a threshold of a wanted rate of false alarms.

    The detector is fitted without some rows at a time, and these are scored. The threshold is an
    order statistic of the scores of rows left out, so that about the share `false_alarms` of fresh
    rows of the class is rejected; `p_values` and `select` come from the same scores.

    Whatever learns from the rows belongs inside: a scaler fitted to all rows has seen those left
    out, and with few rows the rate is then far above the wanted one. Rows must be exchangeable:
    near-duplicates, groups and time order need a splitter that keeps them together.

    Parameters
    ----------
    estimator : estimator instance or None, default=None
        A detector with `score_samples` or `decision_function`, higher for more normal rows, or a
        pipeline that ends with one. None is ``OneClassSVM(gamma="neighbors", nu=0.1)``. Its own
        offset plays no part.
    false_alarms : float, default=0.1
        Share of fresh rows of the class that may be rejected. From n rows no less than
        ``1 / (n + 1)`` can be had.
    cv : int, splitter, iterable or None, default=None
        The rows to leave out together; every row must be left out exactly once. None is each
        distinct row alone up to 50 of them, and ten parts above.
    method : {"one_model", "cv+"}, default="one_model"
        "one_model" compares the score of a new row by the model of all rows with the scores of rows
        left out. "cv+" compares it, row by row, in the model that has not seen that row: slower,
        and the rate can be proven to be at most twice the wanted one.

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
    false_alarm_range_ : tuple of float
        90 % range, approximate, of the share of fresh rows rejected.
    n_features_in_ : int
        Number of features seen during fit, if the detector knows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    OneClassSVM : Has the same built in, ``offset="left_out"``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from scarce import CalibratedOneClass, OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> machine = make_pipeline(StandardScaler(), OneClassSVM(gamma="neighbors", nu=0.1))
    >>> model = CalibratedOneClass(machine, false_alarms=0.1).fit(X)
    >>> model.predict([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    array([ 1, -1])
    >>> model.p_values([[9.0, 9.0, 9.0]]).round(3)
    array([0.024])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LeftOutOffset._parameter_constraints,
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
        cv: Any = None,
        method: str = "one_model",
    ) -> None:
        self.estimator = estimator
        self.false_alarms = false_alarms
        self.cv = cv
        self.method = method

    @property
    def _detector(self) -> Any:
        if self.estimator is None:
            return OneClassSVM(gamma="neighbors", nu=0.1)
        return self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._detector).input_tags
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
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the detector to all rows and without each part, and set the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Rows of the class, at least two distinct ones.
        y : array-like, default=None
            Passed on.
        **params : dict
            Values per row for the detector's `fit`, such as `sample_weight`, which also counts the
            rows, or `sample_domain`, of which only the target's rows are left out; `groups` is for
            the splitter.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        given, for_splitter = self._routed(params)
        if not hasattr(X, "iloc"):
            X = _plain(X)
        y = y if y is None or hasattr(y, "iloc") else np.asarray(y)
        with collected_notes() as notes:
            self.estimator_ = clone(self._detector).fit(X, y, **given)
        # The detector's own offset plays no part, nor what it cannot promise.
        pass_on(notes, NarrowWidthWarning, ScarceDataWarning)
        validate_data(self, X, reset=True, skip_check_array=True)
        n = num_samples(X)
        weights = np.maximum(plain_weights(self._own(given, "sample_weight"), np.zeros((n, 1))), 0)
        counted = np.flatnonzero((weights > 0) & self._is_target(given, n))
        parts = self._parts(X, y, counted, for_splitter)
        self.estimators_ = []
        scores = np.empty(n)
        part_of = np.zeros(n, dtype=np.int64)
        with collected_notes() as notes:
            for number, part in enumerate(parts):
                model = self._fitted_without(part, X, y, given)
                scores[part] = _scores(model, safe_indexing(X, part))
                part_of[part] = number
                if self.method == "cv+":
                    self.estimators_.append(model)
        _note_once(notes, len(parts))
        self._part_of = part_of[counted][np.argsort(scores[counted], kind="stable")]
        members = np.full(n, -1)
        members[counted] = np.arange(counted.size)
        self.offset_ = self._keep_left_out(scores[counted], weights[counted], members)
        return self

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the detector's fit takes of the metadata, and what the splitter's split."""
        given = {name: value for name, value in params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            for_splitter = routed.splitter.split if "splitter" in routed else {}
            return dict(routed.estimator.fit), dict(for_splitter)
        for_splitter = {name: given.pop(name) for name in ("groups",) if name in given}
        if for_splitter and not hasattr(self.cv, "split"):
            raise ValueError(
                f"groups is for a splitter that keeps them together, such as "
                f"cv=GroupKFold(5), got cv={self.cv!r}"
            )
        return given, for_splitter

    def _own(self, given: dict[str, Any], name: str) -> Any:
        """Return the metadata of a name, which for a pipeline may be named after its last step."""
        steps = getattr(self._detector, "steps", None)
        last = f"{steps[-1][0]}__{name}" if steps else name
        return given.get(name, given.get(last))

    def _is_target(self, given: dict[str, Any], n: int) -> Array:
        domain = self._own(given, "sample_domain")
        return np.ones(n, dtype=bool) if domain is None else np.asarray(domain) < 0

    def _parts(self, X: Any, y: Any, counted: Array, for_splitter: dict[str, Any]) -> list[Array]:
        """Return the rows to be left out together, all of them rows that count."""
        rows = safe_indexing(X, counted)
        if self.cv is None:
            first, members = distinct_rows(_comparable(rows))
            if first.size < 2:
                raise ValueError(
                    "CalibratedOneClass needs at least 2 distinct rows of the class, and there is "
                    f"one (n_samples={first.size}); give more rows, or use the detector by itself"
                )
            return [counted[np.isin(members, part)] for part in left_out_parts(first.size)]
        splitter: BaseCrossValidator = check_cv(self.cv)
        labels = None if y is None else safe_indexing(y, counted)
        kept = {name: safe_indexing(value, counted) for name, value in for_splitter.items()}
        parts = [counted[test] for _, test in splitter.split(rows, labels, **kept)]
        together = np.sort(np.concatenate(parts))
        if together.size != counted.size or (together != counted).any():
            raise ValueError(
                f"cv={self.cv!r} must leave out every row exactly once, such as KFold, GroupKFold "
                "or LeaveOneOut"
            )
        return parts

    def _fitted_without(self, part: Array, X: Any, y: Any, given: dict[str, Any]) -> Any:
        rest = np.setdiff1d(np.arange(num_samples(X)), part)
        labels = None if y is None else safe_indexing(y, rest)
        kept = {name: safe_indexing(value, rest) for name, value in given.items()}
        return self._for_a_part().fit(safe_indexing(X, rest), labels, **kept)

    def _for_a_part(self) -> Any:
        """Return a detector to be fitted without some rows.

        A kernel width is that of all rows, one number: found anew from nine tenths of them it would
        be wider, and scores of rows left out too high. The proof of "cv+" allows no such number.
        """
        model = clone(self._detector)
        last, fitted = _last_step(model), _last_step(self.estimator_)
        if self.method == "one_model" and isinstance(last, KernelMachine):
            last.set_params(gamma=fitted._gamma)
        return model

    @property
    def _score_factor(self) -> float:
        """Factor of the detector's own scores in those of this one."""
        check_is_fitted(self)
        return 1.0 / _score_unit(self.estimator_)

    def _left_out(self) -> LeftOut:
        check_is_fitted(self)
        return LeftOut(self._left_out_scores, self._left_out_weights)

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
            Higher is more normal.
        """
        check_is_fitted(self)
        X = X if hasattr(X, "iloc") else _plain(X)
        if X.ndim > 1 and not _takes_by_name(
            self.estimator_
        ):  # else the detector says what is wrong
            validate_data(self, X, reset=False, skip_check_array=True)
        return _scores(self.estimator_, X)

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
            Score minus `offset_`; for ``method="cv+"`` the p-value minus the rate that is had, so
            that rows that are rejected have a negative value.
        """
        check_is_fitted(self)
        if self.method == "cv+":
            least = 1.0 / (1.0 + float(self._left_out_weights.sum()))
            rate = max(self.false_alarms, least)
            values = self.p_values(X) - rate
            return np.asarray(np.where(np.abs(values) <= 1e-12, -1e-12, values))
        return np.asarray(self.score_samples(X) - self.offset_)

    @lazily
    def predict(self, X: Any) -> Array:
        """Return +1 for rows inside or on the boundary and -1 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)

    @lazily
    def p_values(self, X: Any) -> Array:
        """Return how likely a row of the class would have a score as low as each row's.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Uniform for fresh rows of the class, up to steps of ``1 / (n + 1)``.
        """
        left_out = self._left_out()
        if self.method == "one_model":
            return left_out.p_values(self.score_samples(X))
        counted = np.ones(num_samples(X))
        for number, model in enumerate(self.estimators_):
            own = self._part_of == number
            scores = left_out.scores[own]
            reached = np.concatenate([[0.0], np.cumsum(left_out.weights[own])])
            counted += reached[np.searchsorted(scores, _scores(model, X), side="right")]
        return np.asarray(counted / (1.0 + left_out.weights.sum()))


def _scores(model: Any, X: Any) -> Array:
    """Return scores on one scale, whatever the size of the sample was."""
    scorer = getattr(model, "score_samples", None) or model.decision_function
    scores = np.asarray(scorer(X), dtype=np.float64).reshape(-1)
    return scores / _score_unit(model)


def _score_unit(model: Any) -> float:
    """Return what scores are divided by: LIBSVM's grow with nu n."""
    last = _last_step(model)
    if isinstance(last, OneClassSVM) or type(last).__name__ == "OneClassSVM":
        return float(last.dual_coef_.sum())
    return 1.0


def _takes_by_name(model: Any) -> bool:
    """Return whether a detector picks its columns by name, in any order and among others."""
    return hasattr(model, "steps") and isinstance(model[0], ColumnTransformer)


def _last_step(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def _note_once(notes: Notes, n_fits: int) -> None:
    """Warn of what fits without some rows warned of, each category once."""
    firsts: dict[type[Warning], str] = {}
    for message, category in notes:
        if not issubclass(category, (NarrowWidthWarning, ScarceDataWarning)):
            firsts.setdefault(category, message)
    for category, message in firsts.items():
        note(f"of {n_fits} fits without some rows the first to warn said: {message}", category)


def _plain(X: Any) -> Any:
    """Return rows that can be compared and counted: arrays and CSR."""
    refuse_unread(X)
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)


def _comparable(rows: Any) -> Any:
    """Return rows as `_plain`, the texts of a frame's columns as numbers."""
    plain = _plain(rows)
    if plain.dtype != object or not hasattr(rows, "iloc"):
        return plain
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in plain.T]
    return np.column_stack(codes)
