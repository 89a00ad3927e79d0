"""Known classes, or none of them: a one-class model for each."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from scarce._arrays import Array
from scarce._classes import several_classes
from scarce._data import lazily
from scarce._frame import (
    HasMethods,
    Interval,
    checked_weights,
    collected_notes,
    fit_frame,
    note,
    num_samples,
    refuse_unsafe,
    safe_indexing,
    validate_data,
)
from scarce.classification import SVC
from scarce.model_selection import CalibratedOneClass
from scarce.model_selection._detector import weights_for

UNKNOWN = "unknown"
ROUNDING = 1e-9  # p-values this near to the rate are meant to be it


class OpenSetClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classify rows of known classes, and say "unknown" of rows that belong to none of them.

    Each class has a one-class model of its own rows. Held-out scores give every new row a p-value
    for every class; the classes whose p-value is above `false_alarms` are the row's set. An empty
    set is the answer "unknown": about the proportion `false_alarms` of new rows of a known class,
    or less, get it. Of several classes in the set `predict` answers the one that a classifier of
    all classes names, or, if that is not in the set, the one whose boundary the row is farthest
    inside.

    Parameters
    ----------
    estimator : estimator instance or None, default=None
        The one-class model of each class: one with held-out scores, such as `OneClassSVM`, `SVDD`
        or `CalibratedOneClass`, or any other detector or pipeline, around which a
        `CalibratedOneClass` is put. None is ``CalibratedOneClass()``.
    false_alarms : float, default=0.05
        Proportion of new rows of a known class that may be called unknown. From n rows of a class
        no less than ``1 / (n + 1)`` is attainable, and a warning names such classes.
    classifier : estimator instance or None, default=None
        Names the class of a row that several classes accept: any classifier or pipeline that ends
        with one. It is fitted to numbers of classes. None is a `StandardScaler` and
        ``SVC(C=10)``, for sparse rows the latter alone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The known classes.
    unknown_label_ : str or number
        What `predict` answers for rows of none of them: "unknown" where labels are texts, else -1,
        or one below the smallest label if that is not above -1.
    estimators_ : list of estimator instances
        The fitted model of each class.
    classifier_ : estimator instance
        The fitted classifier; it answers places in `classes_`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    CalibratedOneClass : One class, or none.
    SVC : Always answers one of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OpenSetClassifier
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(0, 1, size=(60, 2)), random.normal(6, 1, size=(60, 2))]
    >>> model = OpenSetClassifier().fit(X, ["left"] * 60 + ["right"] * 60)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0], [20.0, -20.0]])
    array(['left', 'right', 'unknown'], dtype='<U7')
    >>> model.predict_set([[0.0, 0.0], [20.0, -20.0]])
    array([[ True, False],
           [False, False]])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "estimator": [
            HasMethods(["fit", "score_samples"]),
            HasMethods(["fit", "decision_function"]),
            None,
        ],
        "false_alarms": [Interval(Real, 0.0, 1.0, closed="neither")],
        "classifier": [HasMethods(["fit", "predict"]), None],
    }

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __init__(
        self, estimator: Any = None, *, false_alarms: float = 0.05, classifier: Any = None
    ) -> None:
        self.estimator = estimator
        self.false_alarms = false_alarms
        self.classifier = classifier

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._model()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _model(self) -> Any:
        """Return the model of a class, not fitted."""
        given = self.estimator
        if given is not None and hasattr(given, "p_values"):
            return clone(given).set_params(false_alarms=self.false_alarms)
        inner = None if given is None else clone(given)
        return CalibratedOneClass(inner, false_alarms=self.false_alarms)

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a model to the rows of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the known classes.
        y : array-like of shape (n_samples,)
            Their classes, two or more, each with at least two distinct rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        validate_data(self, X, reset=True, skip_check_array=True)
        (samples,) = indexable(X)
        shape = getattr(X, "shape", (num_samples(X),))
        for axis, things in enumerate(("sample", "feature")):
            if shape[axis : axis + 1] == (0,):
                raise ValueError(
                    f"Found array with 0 {things}(s) (shape={shape}) while a minimum of 1 is "
                    "required."
                )
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
        counted = np.ones(labels.size) if sample_weight is None else sample_weight
        counted = checked_weights(counted, samples)
        self.classes_, codes = several_classes(labels, counted)
        self.unknown_label_ = unknown_label(self.classes_)
        weights = None if sample_weight is None else counted
        self.estimators_ = []
        for code, label in enumerate(self.classes_.tolist()):
            rows = np.flatnonzero(codes == code)
            given = {} if weights is None else {"sample_weight": weights[rows]}
            try:
                with collected_notes() as notes:
                    fitted = self._model().fit(safe_indexing(samples, rows), **given)
            except ValueError as error:
                raise ValueError(f"class {label!r} with {rows.size} rows: {error}") from error
            for message, category in notes:
                note(f"class {label!r}: {message}", category)
            self.estimators_.append(fitted)
        self.classifier_ = self._classifier_of(samples, codes, counted, weights is not None)
        return self

    def _classifier_of(self, samples: Any, codes: Array, weights: Array, weighted: bool) -> Any:
        """Return the fitted classifier of all classes."""
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        model = _default_classifier(samples) if self.classifier is None else clone(self.classifier)
        given: dict[str, Any] = {}
        if weighted and get_config()["enable_metadata_routing"]:
            given = {"sample_weight": weights[rows]}
        elif weighted:
            given = weights_for(model, weights[rows])
        return model.fit(safe_indexing(samples, rows), codes[rows], **given)

    @lazily
    def p_values(self, X: Any) -> Array:
        """Return p-values: how likely a row of each class scores as low as each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Nearly uniform for rows of a class in that class's column, up to steps of
            ``1 / (n + 1)``.
        """
        rows = self._checked(X)
        return np.column_stack([model.p_values(rows) for model in self.estimators_])

    @lazily
    def predict_set(self, X: Any) -> Array:
        """Return for each row the classes that it may belong to.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for classes in the set; a row without any is unknown. A new row of a class misses
            its own class in about the proportion `false_alarms`.
        """
        p_values = self.p_values(X)
        weights = np.array([each._left_out().weights.sum() for each in self.estimators_])
        # From few rows the rate is not attainable, and only rows below all others are rejected.
        rates = np.maximum(self.false_alarms, 1.0 / (weights + 1.0))
        return np.asarray(p_values > rates * (1.0 + ROUNDING))

    @lazily
    def score_samples(self, X: Any) -> Array:
        """Return how far each row is inside the class that the classifier names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher for rows of known classes. 0 on the boundary; with kernels that vanish with the
            distance -1 is twice as far from a class as its boundary.
        """
        return np.asarray(self._depths(X)[np.arange(num_samples(X)), self._named(X)])

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the class of each row, or `unknown_label_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        accepted, named = self.predict_set(X), self._named(X)
        best = np.where(accepted, self._depths(X), -np.inf).argmax(axis=1)
        best = np.where(accepted[np.arange(named.size), named], named, best)
        best[~accepted.any(axis=1)] = self.classes_.size
        return np.asarray(np.append(self.classes_, self.unknown_label_)[best])

    def _depths(self, X: Any) -> Array:
        """Return how far each row is inside each class, on a scale that classes share."""
        rows = self._checked(X)
        return np.column_stack([_depth(model, rows) for model in self.estimators_])

    def _named(self, X: Any) -> Array:
        """Return the place in `classes_` of the class that the classifier names for each row."""
        return np.asarray(self.classifier_.predict(self._checked(X)), dtype=np.intp)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        refuse_unsafe(X)
        (rows,) = indexable(X)
        if np.ndim(rows) != 1:  # of which the models say what is wrong
            validate_data(self, X, reset=False, skip_check_array=True)
        return rows


def _default_classifier(X: Any) -> Any:
    if sparse.issparse(X):
        return SVC(C=10.0)
    scaler = StandardScaler()
    if get_config()["enable_metadata_routing"]:
        scaler.set_fit_request(sample_weight=True)
    return make_pipeline(scaler, SVC(C=10.0))


def _depth(model: Any, X: Any) -> Array:
    """Return distances where they are known, else scores scaled by those held out."""
    try:
        return np.asarray(1.0 - model.distance_ratio(X))
    except ValueError:  # no kernel that vanishes with the distance
        left_out = model._left_out()
        offset = left_out.threshold(model.false_alarms_)
        width = left_out.threshold(0.5) - offset
        values = np.asarray(model.score_samples(X) - offset)
        return values / width if width > 0 else values


def unknown_label(classes: Array) -> Any:
    """Return the label of rows that belong to no class.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.compose._open_set import unknown_label
    >>> unknown_label(np.array(["a", "b"])), unknown_label(np.array([0, 1]))
    ('unknown', -1)
    >>> int(unknown_label(np.array([-1, 1])))
    -2
    """
    if classes.dtype.kind in "OSU":
        if (classes == UNKNOWN).any():
            raise ValueError(
                f"y holds the label {UNKNOWN!r}, which is the answer for rows of no known class: "
                "leave these rows out, or give the class another name"
            )
        return UNKNOWN
    if classes.dtype.kind == "b" or classes.min() > -1:
        return -1
    return classes.min() - 1
