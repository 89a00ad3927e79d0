"""Choice of a one-class model from a handful of samples, all of the target class."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import checked_domains
from scarce._frame import (
    HasMethods,
    Interval,
    InvalidParameterError,
    collected_notes,
    fit_frame,
    note,
    num_samples,
    pass_on,
    refuse_unsafe,
    safe_indexing,
)
from scarce._predictions import OneClassPredictions
from scarce._warnings import NarrowWidthWarning, ScarceDataWarning
from scarce.held_out import HeldOutScores, unattainable
from scarce.one_class import SVDD


def margin_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted one-class model by how far samples lie along its weights.

    It is the mean of ``<w, x> / |w|`` over the samples, for samples that the fit has not seen: what
    the model makes large on its training samples, measured on others. Offsets play no part. It
    can be the `scoring` of :class:`sklearn.model_selection.GridSearchCV`.

    Values are comparable between models in one feature space: for different `nu` or rank, not for
    different kernels or values of `gamma`.

    Parameters
    ----------
    estimator : estimator instance
        Fitted, with `score_samples` and either `coef_` or a kernel expansion, or a pipeline that
        ends with such an estimator.
    X : array-like of shape (n_samples, ...)
        The samples.
    y : Ignored
        Not used, present for API consistency by convention.

    Returns
    -------
    float
        The mean; 0 for weights of zero.

    Examples
    --------
    >>> from scarce import OneClassSVM
    >>> from scarce.model_selection import margin_score
    >>> model = OneClassSVM(kernel="linear").fit([[3.0, 4.0]])
    >>> margin_score(model, [[3.0, 4.0], [6.0, 8.0]])
    7.5
    """
    return float(_margins(estimator, X).mean())


def _margins(estimator: Any, X: Any) -> Array:
    """Return ``<w, x> / |w|``."""
    length = _weight_norm(estimator)
    scores = np.asarray(estimator.score_samples(X), dtype=np.float64)
    return scores / length if length > 0 else np.zeros_like(scores)


def _weight_norm(estimator: Any) -> float:
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(model, SVDD):
        raise ValueError(
            f"estimator={model!r} finds a ball, whose scores are distances; margins are for "
            "models with weights, such as OneClassSTM and OneClassSVM"
        )
    if hasattr(model, "coef_"):
        return float(np.linalg.norm(_dense(model.coef_)))
    if not (hasattr(model, "dual_coef_") and hasattr(model, "support_vectors_")):
        raise ValueError(
            f"estimator={model!r} has neither coef_ nor dual_coef_ and support_vectors_; margins "
            "are for models with weights, such as OneClassSTM and OneClassSVM"
        )
    # w is the sum of dual_coef_j phi(sv_j), so that |w|^2 is the same sum of scores.
    dual = _dense(model.dual_coef_)[0]
    return float(np.sqrt(max(0.0, dual @ model.score_samples(model.support_vectors_))))


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


class LeaveOneOutSearch(MetaEstimatorMixin, OneClassPredictions, OutlierMixin, BaseEstimator):
    """Choose the parameters and the offset of a one-class model from 4 to 10 samples.

    Every candidate is fitted once without each sample. The candidate is chosen for which the
    samples left out lie farthest along the weights, the largest mean of ``<w, x> / |w|``, and it is
    fitted again to all of them. The offset is not the model's own: it is the order statistic of the
    margins of the samples that were left out, so that about the proportion `rejection` of new
    samples of the class is rejected, as for ``offset="left_out"``. No sample of another class is
    used or needed.

    Acceptance of the samples left out, the obvious measure, always prefers the loosest model. The
    margin is what a one-class model makes large, and held-out margins tell whether more weights
    found something that other samples have too.

    Limits. Only candidates in one feature space can be compared: `nu` and `rank`, not kernels and
    their `gamma`: the widest kernel always has the largest margins. A grid with several values of
    `gamma` is refused; see `shuffled_columns_scorer`. With n samples a proportion below
    ``1 / (n + 1)`` is not attainable: the smallest margin is taken, and a warning says so. Four
    samples are few for any order statistic. Nothing here knows what the other classes look like.

    Parameters
    ----------
    estimator : estimator instance
        A one-class model with weights: `OneClassSTM`, `OneClassSVM`, or a pipeline that ends with
        one.
    param_grid : dict or list of dict
        Names of parameters and the values to try, as in
        :class:`sklearn.model_selection.GridSearchCV`. Values of `nu` that are a hard margin in
        every fit are the same model; the smallest is tried, and a warning names the others.
    rejection : float, default=0.1
        Proportion of new samples of the class that may be rejected, in the interval (0, 1].
    n_jobs : int or None, default=None
        Number of candidates tried in parallel, as in scikit-learn.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen.
    best_estimator_ : estimator instance
        The model with these, fitted to all samples.
    best_score_ : float
        Mean margin of its samples left out.
    best_index_ : int
        Position of the candidate in `cv_results_`.
    cv_results_ : dict
        "params", a list of dict; "margins", an array of shape (n_candidates, n_samples);
        "mean_margin", their means; "acceptance", the proportion of samples that the models of the
        others accept by their own offsets. NaN for a candidate that could not be fitted.
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    n_features_in_ : int
        Number of features seen during fit, if the model knows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    margin_score : The measure, for other searches.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSVM
    >>> from scarce.model_selection import LeaveOneOutSearch
    >>> X = np.random.default_rng(0).normal(3.0, 0.5, size=(12, 2))
    >>> search = LeaveOneOutSearch(OneClassSVM(kernel="linear"), {"nu": [0.1, 0.3, 0.5]})
    >>> search.fit(X).predict([[3.0, 3.0], [-3.0, -3.0]])
    array([ 1, -1])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "score_samples"])],
        "param_grid": [dict, list],
        "rejection": [Interval(Real, 0.0, 1.0, closed="right")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        rejection: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.rejection = rejection
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.three_d_array = inner.sparse, inner.three_d_array
        return tags

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any = None, *, sample_domain: Any = None) -> Self:
        """Try all candidates, fit the best one to all samples, and set the offset.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Samples of the target class, at least two.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Passed on to models of several tasks, alone or last in a pipeline. Only samples of the
            target, those with a negative value, are left out.

        Returns
        -------
        self : object
            The fitted search.
        """
        refuse_unsafe(X)
        (X,) = indexable(X)
        n = num_samples(X)
        if n < 2:
            raise ValueError(f"X has n_samples={n}; to leave one sample out takes at least 2")
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                'kernel="precomputed" cannot be searched; give the samples and a callable kernel'
            )
        candidates = list(ParameterGrid(self.param_grid))
        _check_one_feature_space(candidates)
        domain = None if sample_domain is None else checked_domains(sample_domain, n)
        targets = np.arange(n) if domain is None else np.flatnonzero(domain < 0)
        n_targets = targets.size
        if n_targets < 2:
            raise ValueError(f"the target has n_samples={n_targets}; to leave one out takes 2")
        candidates = _without_repeated_hard_margins(candidates, n_targets)
        tried = Parallel(n_jobs=self.n_jobs)(
            delayed(_left_out)(clone(self.estimator).set_params(**parameters), X, targets, domain)
            for parameters in candidates
        )
        failures = [result for result in tried if isinstance(result, ValueError)]
        if len(failures) == len(tried):
            raise ValueError(
                f"no candidate of param_grid could be fitted; the first error was: {failures[0]}"
            ) from failures[0]
        if failures:
            note(
                f"{len(failures)} of {len(tried)} candidates could not be fitted and have a margin "
                f"of NaN; the first error was: {failures[0]}",
                FitFailedWarning,
            )
        nothing = [(np.nan, np.nan)] * n_targets
        found = np.array([nothing if isinstance(r, ValueError) else r for r in tried], dtype=float)
        margins, accepted = found[:, :, 0], found[:, :, 1]
        means = margins.mean(axis=1)
        self.cv_results_ = {
            "params": candidates,
            "margins": margins,
            "mean_margin": means,
            "acceptance": accepted.mean(axis=1),
        }
        self.best_index_ = int(np.nanargmax(means))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(means[self.best_index_])
        best = clone(self.estimator).set_params(**self.best_params_)
        self.best_estimator_ = _fitted(best, X, domain)
        margin = HeldOutScores.of(margins[self.best_index_]).threshold(self.rejection)
        problem = unattainable(n_targets, self.rejection)
        if problem is not None:
            note(problem.replace("false_alarms", "rejection"), ScarceDataWarning)
        self.offset_ = np.array([margin * _weight_norm(self.best_estimator_)])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _scores_inside(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.score_samples(X))


def _left_out(
    estimator: Any, X: Any, targets: Array, domain: Array | None
) -> list[tuple[float, bool]] | ValueError:
    """Return the margin of every sample under the model of the others, and whether it accepts.

    Samples for which these parameters have no solution are no reason to lose the other candidates:
    the error is returned.
    """
    found = []
    for row in targets:
        others = np.delete(np.arange(num_samples(X)), row)
        part = None if domain is None else domain[others]
        try:
            model = _fitted(clone(estimator), safe_indexing(X, others), part)
        except InvalidParameterError:  # a mistake in the grid
            raise
        except ValueError as error:
            return error
        sample = safe_indexing(X, [row])
        found.append((float(_margins(model, sample)[0]), bool(model.predict(sample)[0] == 1)))
    return found


def _fitted(model: Any, X: Any, domain: Array | None) -> Any:
    """Return a fitted model; offsets of its own, and what they cannot promise, play no part."""
    given = {}
    if domain is not None:
        last = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
        given = {f"{last}sample_domain": domain}
    with collected_notes() as notes:
        model.fit(X, **given)
    pass_on(notes, NarrowWidthWarning, ScarceDataWarning)
    return model


def _check_one_feature_space(candidates: list[dict[str, Any]]) -> None:
    """Refuse candidates whose margins cannot be compared."""
    widths = {
        repr(value)
        for candidate in candidates
        for name, value in candidate.items()
        if name.split("__")[-1] == "gamma"
    }
    if len(widths) > 1:
        raise ValueError(
            "param_grid has several values of gamma, and margins in different feature spaces "
            "cannot be compared: the widest kernel would always win. Use GridSearchCV with "
            "scoring=shuffled_columns_scorer()"
        )


def _without_repeated_hard_margins(
    candidates: list[dict[str, Any]], n: int
) -> list[dict[str, Any]]:
    """Keep one of the candidates that differ only in values of nu up to ``1 / (n - 1)``."""

    def is_hard(name: str, value: Any) -> bool:
        # What is no number is left to the estimator to refuse.
        return (
            name.split("__")[-1] == "nu" and isinstance(value, Real) and float(value) * (n - 1) <= 1
        )

    groups: dict[Any, list[dict[str, Any]]] = {}
    for candidate in candidates:
        key = tuple(
            (name, "hard margin" if is_hard(name, value) else repr(value))
            for name, value in candidate.items()
        )
        groups.setdefault(key, []).append(candidate)
    ordered = [
        sorted(group, key=lambda each: [v for k, v in each.items() if is_hard(k, v)])
        for group in groups.values()
    ]
    dropped = {
        value
        for group in ordered
        for candidate in group[1:]
        for name, value in candidate.items()
        if is_hard(name, value)
    }
    if dropped:
        values = ", ".join(f"{value:g}" for value in sorted(dropped))
        note(
            f"with {n} samples, one of them left out, every nu up to {1 / (n - 1):.3g} is the same "
            f"model, a hard margin; not tried: nu = {values}"
        )
    return [group[0] for group in ordered]
