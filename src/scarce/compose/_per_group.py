"""One model for every device, ward or customer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_outlier_detector,
    is_regressor,
)
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import (
    HasMethods,
    Interval,
    StrOptions,
    checked_weights,
    fit_frame,
    num_samples,
    refuse_unsafe,
    safe_indexing,
    validate_data,
)
from scarce.compose._group_fits import Data, answer_of, checked_groups, fitted_one_by_one, kind_of
from scarce.compose._packing import packed, unpacked
from scarce.model_selection import CalibratedOneClass

MOST_POOLED = 2000  # rows of all groups that the pooled model is fitted to, drawn at random
MOST_SOURCE = 200  # rows of other groups that a group with few rows learns from


def has(name: str) -> Any:
    """Return a decorator for methods that are there if the model of a group has them."""
    return available_if(lambda self: hasattr(self._model(), name))


class PerGroup(MetaEstimatorMixin, BaseEstimator):
    """Fit one model to the rows of every group: of every device, ward or customer.

    Groups with few rows, and groups that were not seen during fit, use a model of rows of all
    groups; `models_` says which group uses which.

    Parameters
    ----------
    estimator : estimator instance or None, default=None
        The model of a group: a detector, classifier or regressor, or a pipeline. None is
        ``CalibratedOneClass()``.
    min_rows : int, default=20
        Groups with fewer rows use the fallback; for classifiers also groups in which a class is
        missing.
    fallback : {"pooled", "transfer"} or None, default="pooled"
        "pooled": the model of at most 2,000 rows of all groups, drawn at random. "transfer", for
        detectors: a `TransferOneClassSVM` of the group's rows with 200 rows of all groups as the
        source, for groups of at least 2 distinct rows; others use the pooled model. None: an error.
    random_state : int, RandomState instance or None, default=0
        Choice of the rows of all groups.

    Attributes
    ----------
    groups_ : ndarray of shape (n_groups,)
        The groups, sorted.
    n_rows_ : ndarray of shape (n_groups,)
        Number of rows of each that take part (weight above zero).
    models_ : ndarray of str of shape (n_groups,)
        What each uses: "own", "pooled" or "transfer".
    estimators_ : list
        The fitted model of each group, in their order; the pooled one for groups that use it.
    pooled_ : estimator instance or None
        The model of rows of all groups; None for ``fallback=None``.
    classes_ : ndarray of shape (n_classes,)
        Of classifiers: the classes.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    CalibratedOneClass : The default model of a group.
    TransferOneClassSVM : One small group with related ones as sources.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import PerGroup
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat(["pump 1", "pump 2"], 50)
    >>> X = random.normal(size=(100, 2)) + 8.0 * (groups == "pump 2")[:, None]
    >>> model = PerGroup().fit(X, groups=groups)
    >>> model.predict([[0.0, 0.0], [0.0, 0.0]], groups=["pump 1", "pump 2"])
    array([ 1, -1])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "fallback": [StrOptions({"pooled", "transfer"}), None],
        "random_state": ["random_state"],
    }

    # Groups are asked for without any set-up when metadata routing is on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "sample_weight": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True, "sample_weight": True}

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_rows: int = 20,
        fallback: str | None = "pooled",
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.min_rows = min_rows
        self.fallback = fallback
        self.random_state = random_state

    def _model(self) -> Any:
        return CalibratedOneClass() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._model())
        for name in ("estimator_type", "classifier_tags", "regressor_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.target_tags.required = inner.target_tags.required
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit a model to the rows of each group.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Labels or targets, for estimators that learn from them.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; None is one group.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for estimators whose `fit` takes them.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        validate_data(self, X, reset=True, skip_check_array=True)
        (rows,) = indexable(X)
        given = {"y": y, "sample_weight": sample_weight}
        given = {
            name: value if hasattr(value, "iloc") else np.asarray(value)
            for name, value in given.items()
            if value is not None
        }
        labels = np.zeros(num_samples(X), np.intp) if groups is None else checked_groups(groups)
        counted = np.ones(num_samples(X), bool)
        if sample_weight is not None:
            counted = checked_weights(given["sample_weight"], rows) > 0
        check_consistent_length(X, labels, *given.values())
        self.groups_, codes = np.unique(labels, return_inverse=True)
        self.n_rows_ = np.bincount(codes, counted).astype(np.int64)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        kept = [each[counted[each]] for each in members]
        own = (self.n_rows_ >= self.min_rows) | (self.groups_.size == 1)
        if is_classifier(self._model()) and y is not None:
            self.classes_, classes = np.unique(given["y"], return_inverse=True)
            found = [np.unique(classes[each]).size for each in kept]
            own &= np.array(found) == self.classes_.size
        self.models_ = np.where(own, "own", self.fallback or "")
        self._check_fallback(own)
        random = check_random_state(self.random_state)
        data, model = Data(rows, given), clone(self._model())
        pool = np.flatnonzero(counted)
        if pool.size > MOST_POOLED:
            pool = np.sort(random.choice(pool, MOST_POOLED, replace=False))
        if self.fallback == "transfer":
            for code in np.flatnonzero(self.models_ == "transfer"):
                if data.n_distinct(kept[code]) < 2:
                    self.models_[code] = "pooled"
        source = random.choice(pool, min(MOST_SOURCE, pool.size), replace=False)
        tasks: list[tuple[str, Callable[[], Any]]] = []
        names = [
            f"group {name!r} with {n} rows"
            for name, n in zip(self.groups_.tolist(), self.n_rows_, strict=True)
        ]
        fitted_alone = np.flatnonzero(self.models_ != "pooled")
        for code in fitted_alone:
            if own[code]:
                tasks.append((names[code], partial(data.fitted, model, members[code])))
            else:
                others = np.setdiff1d(source, kept[code])
                last = model[-1] if hasattr(model, "steps") else model
                rate = getattr(last, "false_alarms", None)
                tasks.append((names[code], partial(data.transferred, rate, others, kept[code])))
        if self.fallback is not None:
            tasks.append(("the pooled model", partial(data.fitted, model, pool)))
        fitted = fitted_one_by_one(tasks, alone=self.groups_.size == 1)
        self.pooled_ = None if self.fallback is None else fitted.pop()
        self.estimators_ = [self.pooled_] * self.groups_.size
        for code, model in zip(fitted_alone, fitted, strict=True):
            self.estimators_[code] = model
        return self

    def _check_fallback(self, own: Array) -> None:
        if own.all():
            return
        if self.fallback is None:
            first = np.flatnonzero(~own)[0]
            raise ValueError(
                f"{np.count_nonzero(~own)} groups cannot have a model of their own, the first "
                f"{self.groups_.tolist()[first]!r} with {self.n_rows_[first]} rows (min_rows="
                f'{self.min_rows}; classifiers need every class): give fallback="pooled", or leave '
                "these groups out"
            )
        if self.fallback == "transfer" and not is_outlier_detector(self._model()):
            raise ValueError(
                'fallback="transfer" is for detectors, got '
                f'estimator={type(self.estimator).__name__}; give fallback="pooled"'
            )

    # Answers.

    def _answered(self, name: str, X: Any, groups: Any) -> Array:
        """Return what the model of each row's group answers."""
        check_is_fitted(self)
        refuse_unsafe(X)
        (rows,) = indexable(X)
        if np.ndim(rows) != 1:  # of which the models say what is wrong
            validate_data(self, X, reset=False, skip_check_array=True)
        n = num_samples(X)
        if n == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        codes = self._codes(groups, n)
        order = np.argsort(codes, kind="stable")
        found: Any = None
        present, starts = np.unique(codes[order], return_index=True)
        for code, part in zip(present, np.split(order, starts[1:]), strict=True):
            model = self.pooled_ if code < 0 else self.estimators_[code]
            answer = answer_of(model, name, safe_indexing(rows, part))
            if found is None:
                found = np.empty((n, *answer.shape[1:]), answer.dtype)
            found[part] = answer
        return np.asarray(found)

    def _codes(self, groups: Any, n: int) -> Array:
        """Return the place of each row's group, -1 for groups that were not seen."""
        if groups is None:
            if self.groups_.size > 1:
                raise ValueError(
                    f"groups must be given: the group of each row, of {self.groups_.size} groups "
                    f"such as {self.groups_.tolist()[0]!r}"
                )
            return np.zeros(n, np.intp)
        labels = checked_groups(groups)
        if labels.size != n:
            raise ValueError(f"groups must have one value per row, got {labels.size} for {n} rows")
        if kind_of(labels) != kind_of(self.groups_):
            raise ValueError(
                "groups must be of the type of those of the fit, such as "
                f"{self.groups_.tolist()[0]!r}, got {labels.tolist()[0]!r}"
            )
        places = np.searchsorted(self.groups_, labels).clip(max=self.groups_.size - 1)
        places[self.groups_[places] != labels] = -1
        if self.pooled_ is None and (places < 0).any():
            unseen = labels[places < 0].tolist()[0]
            raise ValueError(
                f"group {unseen!r} was not seen during fit, and fallback=None: rows of unseen "
                'groups need fallback="pooled"'
            )
        return places

    @lazily
    def predict(self, X: Any, groups: Any = None) -> Array:
        """Return what the models of the rows' groups predict.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; groups that were not seen use the pooled model.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._answered("predict", X, groups)

    @has("predict_proba")
    @lazily
    def predict_proba(self, X: Any, groups: Any = None) -> Array:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._answered("predict_proba", X, groups)

    @has("decision_function")
    @lazily
    def decision_function(self, X: Any, groups: Any = None) -> Array:
        """Return the decision values of the models of the rows' groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values; their scale is that of each group's model.
        """
        return self._answered("decision_function", X, groups)

    @has("score_samples")
    @lazily
    def score_samples(self, X: Any, groups: Any = None) -> Array:
        """Return the scores of the models of the rows' groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal; the scale is that of each group's model.
        """
        return self._answered("score_samples", X, groups)

    @has("p_values")
    @lazily
    def p_values(self, X: Any, groups: Any = None) -> Array:
        """Return p-values, which compare across groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Small for rows that are unlike their group.
        """
        return self._answered("p_values", X, groups)

    @available_if(lambda self: is_classifier(self._model()) or is_regressor(self._model()))
    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, the coefficient of determination of a regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their true labels or values.
        groups : array-like of shape (n_samples,), default=None
            As for `predict`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Higher is better.
        """
        measure = accuracy_score if is_classifier(self._model()) else r2_score
        return float(measure(y, self.predict(X, groups=groups), sample_weight=sample_weight))

    # A file holds the models of all groups as a few long arrays.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "estimators_" in state:
            own = self.models_ == "own"
            models = state.pop("estimators_")
            state["_packed"] = packed([models[code] for code in np.flatnonzero(own)])
            state["_transferred_models"] = [
                models[code] for code in np.flatnonzero(self.models_ == "transfer")
            ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_packed" in state:
            kinds = state["models_"]
            models = [state["pooled_"]] * len(kinds)
            for kind, found in (
                ("own", unpacked(state.pop("_packed"))),
                ("transfer", state.pop("_transferred_models")),
            ):
                for code, model in zip(np.flatnonzero(kinds == kind), found, strict=True):
                    models[code] = model
            state["estimators_"] = models
        super().__setstate__(state)
