"""The first stage: scores of the unlabelled rows, below zero for strong negatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from scarce._arrays import Array
from scarce._frame import HasMethods, Interval, collected_notes, fit_frame, pass_on
from scarce._kernel_machine import KernelMachine
from scarce.one_class import OneClassSVM
from scarce.positive_unlabeled.mapping_convergence._out_of_bag_mapper import OutOfBagMapper
from scarce.positive_unlabeled.rows._given import Given
from scarce.positive_unlabeled.rows._row_source import RowSource


class OneClassMapper(BaseEstimator):
    """Call strong negatives what lies farther out than every labelled positive.

    A one-class model of the positives rejects some of them, by design. Its threshold is lowered to
    the lowest score of a positive, so that none is rejected. A larger ``nu`` of the detector is
    then the safer one: it fits the bulk of the positives and not their fringe.

    Parameters
    ----------
    detector : estimator or None, default=None
        A detector with `decision_function`, higher for more normal rows. None is
        ``OneClassSVM(nu=0.1)``.
    slack : float or None, default=0.0
        Lower the threshold further, by this many times the median minus the minimum of the
        positives' scores. None leaves the detector's own threshold as it is, as in the paper:
        then every unlabelled row that the detector rejects is a strong negative, also where it
        rejects positives.

    Attributes
    ----------
    detector_ : estimator
        The fitted detector.
    threshold_ : float
        The score below which a row is a strong negative.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import OneClassMapper
    >>> positives = np.random.default_rng(0).normal(size=(50, 2))
    >>> mapper = OneClassMapper().fit(positives)
    >>> bool((mapper.score_samples(positives) >= 0).all())
    True
    >>> mapper.score_samples([[8.0, 8.0]]) < 0
    array([ True])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "detector": [HasMethods(["fit", "decision_function"]), None],
        "slack": [Interval(Real, 0.0, None, closed="left"), None],
    }

    def __init__(self, detector: Any = None, *, slack: float | None = 0.0) -> None:
        self.detector = detector
        self.slack = slack

    @fit_frame(nested_checks=True)
    def fit(
        self,
        positives: Any,
        sample_weight: Array | None = None,
        unlabeled: Iterable[tuple[Any, Array]] = (),
    ) -> Self:
        """Fit the detector to the positives and lower its threshold, unless `slack` is None.

        Parameters
        ----------
        positives : {array-like, sparse matrix} of shape (n_positives, n_features)
            The labelled positives.
        sample_weight : ndarray of shape (n_positives,), default=None
            Their weights.
        unlabeled : iterable of (rows, weights)
            Not used.

        Returns
        -------
        self : object
            The fitted mapper.
        """
        detector = OneClassSVM(nu=0.1, tol=1e-5) if self.detector is None else self.detector
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if given and not has_fit_parameter(detector, "sample_weight"):
            raise ValueError(f"detector={detector} takes no sample_weight; use one that does")
        self.detector_ = clone(detector).fit(positives, **given)
        if self.slack is None:
            self.threshold_ = 0.0
            return self
        scores = np.ravel(self.detector_.decision_function(positives))
        lowest = float(scores.min())
        middle = float(np.quantile(scores, 0.5, weights=sample_weight, method="inverted_cdf"))
        # Rows level with the lowest positive are not below it, however rounding errors fall.
        single = getattr(positives, "dtype", None) == np.float32
        rounding = 64 * float(np.finfo(np.float32 if single else np.float64).eps)
        scale = float(np.abs(scores - self._constant()).max())
        self.threshold_ = lowest - self.slack * (middle - lowest) - rounding * scale
        return self

    def _constant(self) -> float:
        """Return what the detector adds to its sums of kernel values, if it is of that kind."""
        return float(np.ravel(getattr(self.detector_, "intercept_", 0.0))[0])

    def score_samples(self, X: Any) -> Array:
        """Return how far rows lie above the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Below zero for strong negatives.
        """
        return np.ravel(self.detector_.decision_function(X)) - self.threshold_


class WeightedBlocks:
    """Some rows in blocks, with their weights, as often as somebody wants to go through them."""

    def __init__(self, rows: RowSource, some: Array, weights: Array) -> None:
        self.rows = rows
        self.some = some  # one bool for each of all rows
        self.weights = weights

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        indices = np.flatnonzero(self.some)
        for part, block in self.rows.blocks(indices):
            yield block, self.weights[indices[part]]


def mapping_scores(
    mapper: Any, given: Given, positives: Array, unlabelled: Array
) -> tuple[Any, Array]:
    """Return the fitted mapper, None for a function or mask, and one score per unlabelled row.

    ``positives`` are numbers of rows, ``unlabelled`` is one bool for each of all.
    """
    rows, weights = given.rows, given.weights
    if isinstance(mapper, OutOfBagMapper):
        fitted = clone(mapper)
        return fitted, fitted.map_rows(rows, positives, np.flatnonzero(unlabelled), weights)
    if hasattr(mapper, "score_samples"):
        seen = rows.against(positives)
        blocks = WeightedBlocks(seen, unlabelled, weights)
        with collected_notes() as notes:
            fitted = clone(mapper).fit(
                seen.gather(positives),
                sample_weight=weights[positives] if given.weighted else None,
                unlabeled=blocks,
            )
        # Of a detector of this library that was cut short the loop's estimator warns itself.
        ours = isinstance(getattr(fitted, "detector_", None), KernelMachine)
        pass_on(notes, *([ConvergenceWarning] if ours else []))
        return fitted, seen.scores(unlabelled, fitted.score_samples)
    if callable(mapper):
        others = np.flatnonzero(unlabelled)
        mask = np.asarray(mapper(rows.gather(positives), rows.gather(others)))
        _check_mask(mask, others.size, "unlabelled rows")
    else:
        all_rows = np.asarray(mapper)
        _check_mask(all_rows, rows.shape[0], "rows of X")
        mask = all_rows[unlabelled]
    return None, np.where(mask, -1.0, 1.0)


def _check_mask(mask: Array, n: int, of_what: str) -> None:
    if mask.shape != (n,) or mask.dtype != np.bool_:
        raise ValueError(
            f"mapper must give one bool for each of the {n} {of_what}, got an array of shape "
            f"{mask.shape} and type {mask.dtype}"
        )


def lowest_share(scores: Array, weights: Array, share: float) -> Array:
    """Return which rows are the lowest-scoring proportion by weight, at least one, with ties."""
    level = np.quantile(scores, share, weights=weights, method="inverted_cdf")
    return np.asarray(scores <= level)


def no_strong_negatives(scores: Array, n_shared: int) -> ValueError:
    """Return the error to raise when the loop cannot begin."""
    seen = f"between {scores.min():.4g} and {scores.max():.4g}" if scores.size else "absent"
    also = f"; {n_shared} more equal a positive" if n_shared else ""
    return ValueError(
        "the mapper found no strong negatives: the scores of the unlabelled rows are "
        f"{seen}, and only those below 0 are strong negatives{also}. Use a narrower kernel "
        "(larger gamma), a mapper without slack (map_slack=0), or map_fallback=0.05 to begin with "
        "the lowest-scoring proportion of the unlabelled rows"
    )
