"""Source models: what of them a target model uses, and what they must be."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._predictions import no_nan
from scarce.kernels import Kernel, kernel_type, make_kernel, weighted_scores
from scarce.one_class import SVDD

SAME = 1e-9  # relative difference up to which two parameters of a kernel are the same
PROBED_ROWS = 1024
CHECKED_ROWS = 256


@dataclass(frozen=True)
class LinearSource:
    """``f_s(x) = coef'x + intercept``."""

    coef: Array
    intercept: float

    @property
    def kernel(self) -> Kernel | None:
        """The linear kernel."""
        return make_kernel("linear")

    def function(self, X: Any) -> Array:
        """Return ``f_s(x) - b_s``."""
        check_features(self.coef.size, X)
        return np.asarray(X @ self.coef, dtype=np.float64)

    def squared_norm(self) -> float:
        """Return ``|w_s|^2``."""
        return float(self.coef @ self.coef)


@dataclass(frozen=True)
class ExpansionSource:
    """``f_s(x) = sum_j coefficients[j] k(x, vectors[j]) + intercept``."""

    vectors: Any
    coefficients: Array
    intercept: float
    kernel: Kernel | None

    def function(self, X: Any) -> Array:
        """Return ``f_s(x) - b_s``."""
        assert self.kernel is not None
        vectors = self.vectors
        if self.kernel.has_formula:
            check_features(vectors.shape[1], X)
            if sparse.issparse(X) and not sparse.issparse(vectors):
                vectors = sparse.csr_array(vectors)
            elif sparse.issparse(vectors) and not sparse.issparse(X):
                X = sparse.csr_array(X)
        return no_nan(weighted_scores(X, vectors, self.coefficients, self.kernel))

    def squared_norm(self) -> float:
        """Return ``|w_s|^2``."""
        return float(self.function(self.vectors) @ self.coefficients)


@dataclass(frozen=True)
class FourierSource:
    """``f_s(x) = sum_j coefficients[j] cos(frequencies[j]'x + phases[j]) + intercept``.

    The random features of an RBF kernel.
    """

    frequencies: Array
    phases: Array
    coefficients: Array
    intercept: float
    kernel: Kernel | None

    def function(self, X: Any) -> Array:
        """Return ``f_s(x) - b_s``."""
        check_features(self.frequencies.shape[1], X)
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], PROBED_ROWS):
            rows = slice(start, start + PROBED_ROWS)
            angles = np.asarray(X[rows] @ self.frequencies.T) + self.phases
            scores[rows] = np.cos(angles) @ self.coefficients
        return scores

    def squared_norm(self) -> float:
        """Return ``|w_s|^2`` in the space of the random features, each ``sqrt(2 / n) cos``."""
        return float(self.coefficients @ self.coefficients) * self.coefficients.size / 2


@dataclass(frozen=True)
class ScorerSource:
    """Any object with a decision function, taken as it is."""

    scorer: Any
    intercept: float
    kernel: Kernel | None = None

    def function(self, X: Any) -> Array:
        """Return ``f_s(x) - b_s``."""
        check_features(getattr(self.scorer, "n_features_in_", X.shape[1]), X)
        with warnings.catch_warnings():
            # Checked rows carry no names any more.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            scores = np.asarray(self.scorer.decision_function(X), dtype=np.float64)
        if scores.shape != (X.shape[0],):
            raise ValueError(
                "source must be a scorer of two classes, whose decision_function returns one value "
                f"per row, got shape {scores.shape} for {X.shape[0]} rows"
            )
        return scores - self.intercept

    def squared_norm(self) -> float:
        """Return 0: the weights of a given function are not known."""
        return 0.0


Source = LinearSource | ExpansionSource | FourierSource | ScorerSource


def check_features(expected: int, X: Any) -> None:
    """Refuse rows of another width than the source's."""
    if X.shape[1] != expected:
        raise ValueError(f"source was fitted to {expected} features, but X has {X.shape[1]}")


def read_sources(source: Any, X: Any, kernel: Kernel, n_problems: int) -> list[Source]:
    """Return one source per problem.

    ``source``: a fitted scorer, possibly in a `FrozenEstimator`; a pair ``(coef, intercept)``; for
    several classes a pair or a linear model with one row per class, or a list of sources. ``X``:
    rows of the target, to look at how a pipeline treats them. ``n_problems``: number of problems: 1
    for two classes.
    """
    if kernel.pairwise:
        raise ValueError(
            'a source is evaluated on the rows, which kernel="precomputed" does not show; use a '
            "kernel with a formula or a callable, or source=None"
        )
    if isinstance(source, list):
        sources = [each for one in source for each in _read(one, X, kernel)]
    else:
        sources = _read(source, X, kernel)
    if len(sources) != n_problems:
        wanted = "one scorer of two classes" if n_problems == 1 else f"a list of {n_problems}"
        raise ValueError(f"source must be {wanted}, one for each problem; got {len(sources)}")
    return sources


def source_gamma(source: Any, X: Any, kernel: Kernel) -> float | None:
    """Return the `gamma` of kernel sources of the target's kind, if they have one and the same."""
    given = source if isinstance(source, list) else [source]
    kernels = [each.kernel for one in given for each in _read(one, X, kernel)]
    values = {each.parameter("gamma") for each in kernels if type(each) is type(kernel)}
    found = values.pop() if len(values) == 1 else None
    return float(found) if isinstance(found, (int, float, np.number)) else None


def check_same_kernel(sources: list[Source], kernel: Kernel, gamma: Any) -> None:
    """Raise an error that says what to do when a source's kernel is not the target's."""
    for source in sources:
        _check_same_kernel(source, kernel, gamma)


def _check_same_kernel(source: Source, kernel: Kernel, gamma: Any) -> None:
    other = source.kernel
    if other is not None and same_kernel(other, kernel):
        return
    theirs = "no kernel that could be recognised" if other is None else f"kernel {describe(other)}"
    ours = describe(kernel)
    if "gamma" in kernel.parameters() and isinstance(gamma, str):
        ours += f' (gamma="{gamma}" of these rows)'
    advice = "give both the same kernel on the same features"
    if other is not None and type(other) is type(kernel) and kernel.has_formula:
        advice = f"set {_settings(other)} here"
    raise ValueError(
        f"source has {theirs}, this model has kernel {ours}: |w - w_s| has no meaning then. Either "
        f'{advice}, or set source_kernel="any" to take f_s(x) - b_s as a given function.'
    )


def same_kernel(one: Kernel, other: Kernel) -> bool:
    """Say whether two kernels are the same function."""
    if not (one.has_formula and other.has_formula):
        return one == other and not one.pairwise
    ours, theirs = one.parameters(), other.parameters()
    return type(one) is type(other) and all(
        bool(np.isclose(ours[name], theirs[name], rtol=SAME, atol=0.0)) for name in ours
    )


def _settings(kernel: Kernel) -> str:
    if not kernel.has_formula:
        return ""
    return ", ".join(f"{name}={float(value)!r}" for name, value in kernel.parameters().items())


def describe(kernel: Kernel) -> str:
    """Return a kernel in words."""
    settings = _settings(kernel)
    return f"{kernel.name!r}" + (f" with {settings}" if settings else "")


def _read(source: Any, X: Any, kernel: Kernel) -> list[Source]:
    if isinstance(source, tuple):
        return _from_pair(source)
    model = source
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    if hasattr(model, "sources"):  # a source knowledge file
        return list(model.sources)
    _check_fitted(model)
    model = getattr(model, "best_estimator_", model)  # a search
    if isinstance(model, Pipeline):
        return [_from_pipeline(model, X, kernel)]
    if _has_expansion(model):
        return [_from_expansion(model)]
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return _from_pair((model.coef_, model.intercept_))
    return [_given(model)]


def _check_fitted(model: Any) -> None:
    scores = hasattr(model, "decision_function") or hasattr(model, "fit")
    if isinstance(model, type) or not scores:
        raise ValueError(
            "source must be a fitted classifier with a decision_function or a pair (coef, "
            f"intercept), got {model!r}"
        )
    if not hasattr(model, "fit"):
        return  # an object that only scores
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"source={type(model).__name__} is not fitted. Fit it on the source data, and wrap it "
            "so that clone and cross-validation keep it: "
            "source=sklearn.frozen.FrozenEstimator(model.fit(X_source, y_source))"
        ) from None


def _from_pair(pair: tuple[Any, ...]) -> list[Source]:
    if len(pair) != 2:
        raise ValueError(
            f"source must be a pair (coef, intercept), got a tuple of length {len(pair)}"
        )
    coef, intercept = (part.toarray() if sparse.issparse(part) else part for part in pair)
    try:
        vectors = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        offsets = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"source must be a pair (coef, intercept) of numbers, got {pair!r}: {error}"
        ) from None
    if offsets.size == 1:
        offsets = np.repeat(offsets, len(vectors))
    if vectors.ndim != 2 or offsets.shape != (len(vectors),):
        raise ValueError(
            "source must be a pair (coef, intercept) with one intercept for each row of coef, got "
            f"shapes {np.shape(coef)} and {np.shape(intercept)}"
        )
    if not (np.isfinite(vectors).all() and np.isfinite(offsets).all()):
        raise ValueError("source must have finite coef and intercept")
    return [LinearSource(vector, float(b)) for vector, b in zip(vectors, offsets, strict=True)]


def _has_expansion(model: Any) -> bool:
    """Say whether a model is a sum of kernel functions on rows that it keeps."""
    # A transfer model is more than its own sum, and so is a ball.
    if getattr(model, "source", None) is not None or isinstance(model, SVDD):
        return False
    kernel = getattr(model, "kernel", None)
    if kernel is None or kernel_type(kernel).explicit or kernel_type(kernel).pairwise:
        return False
    vectors = getattr(model, "support_vectors_", None)
    return vectors is not None and vectors.shape[0] > 0


def _from_expansion(model: Any) -> Source:
    dual = model.dual_coef_
    vectors = np.atleast_2d(dual.toarray() if sparse.issparse(dual) else np.asarray(dual))
    if len(vectors) != 1 or np.size(model.intercept_) != 1:
        raise ValueError(
            f"source={type(model).__name__} separates {len(model.classes_)} classes; give a scorer "
            "of two classes, or a list of one for each class"
        )
    kernel = make_kernel(model.kernel, model._gamma, model.degree, model.coef0)
    return ExpansionSource(model.support_vectors_, vectors[0], _intercept_of(model), kernel)


def _intercept_of(model: Any) -> float:
    """Return ``b_s``, or 0 for a scorer without one."""
    value = getattr(model, "intercept_", 0.0)
    return float(np.ravel(value)[0]) if np.size(value) == 1 else 0.0


def _given(model: Any) -> Source:
    if not hasattr(model, "decision_function"):
        raise ValueError(
            f"source={type(model).__name__} has no decision_function; give a classifier that has "
            "one, or a pair (coef, intercept)"
        )
    name = getattr(model, "kernel", None)
    kernel = make_kernel(name) if callable(name) else None
    return ScorerSource(model, _intercept_of(model), kernel)


def _from_pipeline(model: Pipeline, X: Any, kernel: Kernel) -> Source:
    """Return the linear function of a pipeline of affine steps, else the pipeline as it is.

    A linear model behind a scaler is linear in the rows before it too; its weights are read off at
    the unit vectors and checked on rows.
    """
    given = ScorerSource(model, _intercept_of(model[-1]))
    if not kernel.explicit:
        return given
    n_features = X.shape[1]
    check_features(getattr(model, "n_features_in_", n_features), X)
    plain = ScorerSource(model, 0.0)
    origin = float(plain.function(np.zeros((1, n_features)))[0])
    coef = np.empty(n_features)
    for start in range(0, n_features, PROBED_ROWS):
        columns = np.arange(start, min(n_features, start + PROBED_ROWS))
        probes = np.zeros((columns.size, n_features))
        probes[np.arange(columns.size), columns] = 1.0
        coef[columns] = plain.function(probes) - origin
    rows = X[:CHECKED_ROWS]
    expected = plain.function(rows)
    room = 1e-8 * max(1.0, float(np.abs(expected).max()))
    if np.abs(rows @ coef + origin - expected).max() > room:
        return given
    return LinearSource(coef, origin)
