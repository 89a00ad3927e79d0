"""Offsets from held-out scores: what every one-class model does with them."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import Interval, Options, StrOptions, note
from scarce._kernel_sum import closeness, distance_ratios_at, log_scores_and_offset
from scarce._warnings import ScarceDataWarning
from scarce.held_out._scores import (
    HeldOutScores,
    among_odd_rows,
    benjamini_hochberg,
    false_alarm_range,
    repeats,
    standardised_on_themselves,
    unattainable,
)

DEFAULT_RATE = 0.1
LEFT_OUT_STATE = (
    "_left_out_scores",
    "_left_out_weights",
    "_left_out_places",
    "false_alarms_",
    "false_alarm_range_",
    "_unsettled",
)
FEW_SCALED = 100  # rows up to which a scaler that has seen the held-out ones matters


class HeldOutOffset:
    """Part of models whose offset may come from the scores of rows left out.

    A model sets `offset_` to what `_keep_left_out` returns, and has `score_samples`.
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "false_alarms": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    }
    _published_offset: ClassVar[str] = "training"  # which needs no second row

    false_alarms: float | None
    offset: str | None

    @property
    def _rate(self) -> float:
        """The proportion of new rows of the class that may be rejected."""
        return DEFAULT_RATE if self.false_alarms is None else self.false_alarms

    @property
    def _offset_rule(self) -> str:
        """Whose scores set the offset."""
        return str(self.offset)

    @property
    def _boundary_share(self) -> float:
        """Proportion of the offset up to which scores may count as equal to it.

        Many training rows lie on the boundary that they set, and hardly any on that of rows left
        out.
        """
        return 1e-6 if self._offset_rule == "left_out" else 1e-3

    def _check_left_out_rows(self, n_distinct: int) -> None:
        """Refuse a sample of which nothing is left when its only row is left out."""
        if n_distinct < 2:
            raise ValueError(
                'offset="left_out" needs at least 2 distinct rows of the class, and there is one '
                f"(n_samples={n_distinct}); give more rows, or take the offset of the training "
                f'rows: offset="{self._published_offset}"'
            )

    def _keep_left_out(
        self,
        scores: Array,
        weights: Array,
        members: Array,
        *,
        all_exact: bool = True,
        alike: Array | None = None,
    ) -> float:
        """Store held-out scores and what they are worth; return the threshold.

        ``members`` are the places among ``scores`` of all rows that were given, -1 for rows that
        were not left out. Scores above the threshold may be estimates; then they say nothing of
        groups. ``alike``: rows that were held out together because they are equal, as `repeats`
        takes them.
        """
        self._sort_left_out(scores, weights, members)
        counts = self._left_out_weights > 0.0  # not of groups of anomalies
        left_out = HeldOutScores(self._left_out_scores[counts], self._left_out_weights[counts])
        weight, rate = float(self._left_out_weights.sum()), self._rate
        self.false_alarms_ = rate
        self.false_alarm_range_ = false_alarm_range(weight, rate, repeats(weights, alike))
        for problem in (
            unattainable(weight, rate),
            among_odd_rows(left_out, rate, self._closeness(left_out)) if all_exact else None,
        ):
            if problem is not None:
                note(problem, ScarceDataWarning)
        return left_out.threshold(rate)

    def _sort_left_out(self, scores: Array, weights: Array, members: Array) -> None:
        scores, weights, members = self._with_dropped(scores, weights, members)
        order = np.argsort(scores, kind="stable")
        self._left_out_scores, self._left_out_weights = scores[order], weights[order]
        places = np.append(np.argsort(order), -1)
        self._left_out_places = places[members]

    def _with_dropped(
        self, scores: Array, weights: Array, members: Array
    ) -> tuple[Array, Array, Array]:
        """Return what `_keep_left_out` is given, with rows that took no part in the fit."""
        return scores, weights, members

    def _note_if_standardised(self, rows: Any) -> None:
        """Say that the distinct rows of the class were scaled on themselves."""
        if rows.shape[0] <= FEW_SCALED and standardised_on_themselves(rows):
            note(
                f"the columns of the {rows.shape[0]} rows have mean 0 and standard deviation 1: a "
                "scaler fitted to these rows has seen the held-out ones, and more new rows than "
                f"false_alarms={self._rate:g} will be rejected. Put the scaler inside: "
                "CalibratedOneClass(make_pipeline(StandardScaler(), "
                'OneClassSVM(gamma="neighbors", nu=0.1)))',
                ScarceDataWarning,
            )

    def _note_early_ends(self) -> None:
        """Say that a fit without some rows fell short, unless the fit of all rows did too."""
        if getattr(self, "fit_status_", 0) == 0:
            note(
                "Fits without some rows ended early, so that held-out scores, and with them the "
                "threshold, are less exact than tol. Raise max_iter, or consider pre-processing "
                "your data with StandardScaler or MinMaxScaler.",
                ConvergenceWarning,
            )

    def _note_if_all_inside(self, lowest: float) -> None:
        """Say that every row is accepted, given the lowest score that a row can have."""
        if self._offset_rule != "left_out":
            return
        threshold = float(np.ravel(self.offset_)[0])  # type: ignore[attr-defined]
        if threshold <= lowest:
            note(
                "every row is accepted: a row left out has no kernel value with the others above "
                "zero, so that the threshold is the score of a row infinitely far away. Use a "
                'wider kernel, such as gamma="neighbors" or "scale", or more rows; if such rows '
                "do not belong to the class, leave them out or ask for a larger false_alarms.",
                ScarceDataWarning,
            )

    def _forget_left_out(self) -> None:
        """Drop what an earlier fit with held-out scores has stored."""
        for name in LEFT_OUT_STATE:
            self.__dict__.pop(name, None)

    def _settle_left_out(self) -> None:
        """Find the held-out scores that the threshold did not need."""

    def _left_out(self) -> HeldOutScores:
        check_is_fitted(self)
        if not hasattr(self, "_left_out_scores"):
            raise ValueError(
                f'p-values and held-out scores need offset="left_out", and {type(self).__name__} '
                f"was fitted with offset={self._offset_rule!r}"
            )
        self._settle_left_out()
        return HeldOutScores(self._left_out_scores, self._left_out_weights)

    @property
    def left_out_scores_(self) -> Array:
        """Score of every training row by a model without it; NaN for rows not left out."""
        try:
            scores = self._left_out().scores
        except ValueError as error:
            raise AttributeError(str(error)) from None
        return np.asarray(np.append(scores, np.nan)[self._left_out_places])

    def fit_score_samples(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit, and return the held-out score of every row, to find outliers among them.

        `score_samples` of training rows is optimistic, since the model was fitted to them.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows, as for `fit`.
        y : Ignored
            As for `fit`.
        **params : dict
            Other values per row, as for `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            `left_out_scores_`; higher is more normal.
        """
        fitted = self.fit(X, y, **params)  # type: ignore[attr-defined]
        return np.asarray(fitted.left_out_scores_)

    @lazily
    def p_values(self, X: Any) -> Array:
        """Return p-values: how likely a row of the class scores as low as each row.

        Conformal p-values: ``(1 + number of held-out scores up to the row's) / (1 + number of
        rows)``. They are nearly uniform for new rows of the class, up to steps of ``1 / (n + 1)``:
        about a tenth of these rows has a p-value up to 0.1.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows, as for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Small for rows that are unlike the class.
        """
        left_out = self._left_out()
        scores: Array = self.score_samples(X)  # type: ignore[attr-defined]
        return left_out.p_values(scores)

    @lazily
    def distance_ratio(self, X: Any) -> Array:
        """Return how far each row is from the class, as a multiple of the boundary's distance.

        1 on the boundary, less inside, 2 for a row twice as far away: for a Gaussian kernel
        ``sqrt(log score / log offset)``, scores divided by the largest there is, for a Laplacian
        kernel without the root. Rows far outside, whose decision values are all equal to minus the
        offset, keep their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, as for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more odd.
        """
        check_is_fitted(self)
        logs, log_offset, power = self._log_scores(X)
        return np.asarray((logs / log_offset) ** power)

    def _log_scores(self, X: Any) -> tuple[Array, float, float]:
        """Return logarithms of scores and of the offset, and their power that is a distance."""
        offset = float(np.ravel(self.offset_)[0])  # type: ignore[attr-defined]
        return log_scores_and_offset(self, X, offset)

    def _distance_ratios_at(self, scores: Array) -> Array | None:
        """Return `distance_ratio` of rows of some scores; NaN where these are too small for it."""
        offset = float(np.ravel(self.offset_)[0])  # type: ignore[attr-defined]
        return distance_ratios_at(self, scores, offset)

    def _closeness(self, left_out: HeldOutScores) -> Array | None:
        """Return how near rows are to the class, where that is known; None else."""
        return closeness(self, left_out.scores, left_out.weights)

    def _sum_at(self, scores: Any) -> Any:
        """Return the kernel sums of rows of some scores."""
        return scores

    def select(self, X: Any, fdr: float = 0.1) -> Array:
        """Select anomalous rows at a false discovery rate.

        The procedure of Benjamini and Hochberg on `p_values`: of the rows selected, a proportion of
        about `fdr` is expected to belong to the class after all.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows, as for `predict`.
        fdr : float, default=0.1
            False discovery rate, in (0, 1).

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True for rows called anomalous. For a Dask collection a lazy one, of its kind and
            chunks; how many are called depends on all rows, whose p-values are computed at once.
        """
        if not (isinstance(fdr, Real) and 0.0 < fdr < 1.0):
            raise ValueError(f"fdr must be a number between 0 and 1, got {fdr!r}")
        p_values = self.p_values(X)
        called: Array = p_values <= benjamini_hochberg(np.asarray(p_values), fdr)
        return called


class TrimmedOffset(HeldOutOffset):
    """The same for estimators that can leave out training rows which may not belong to the class.

    An estimator sets `dropped_` to these rows, and gives their scores and weights to
    `_keep_dropped` before `_keep_left_out`.
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **HeldOutOffset._allowed_values,
        "contamination": [
            Interval(Real, 0.0, 0.5, closed="neither"),
            Options(Real, {0.0}),
            StrOptions({"auto"}),
        ],
    }

    contamination: Any
    dropped_: Array
    _dropped_weights: Any = ()

    @property
    def _contamination(self) -> Any:
        """The parameter; a subclass without it says 0."""
        return self.contamination

    @property
    def _offset_rule(self) -> str:
        """Whose scores set the offset; what only held-out scores can promise implies them."""
        asked = self.false_alarms is not None or bool(self._contamination)
        if self.offset is None:
            return "left_out" if asked else "training"
        if asked and self.offset != "left_out":
            name = "contamination" if self.false_alarms is None else "false_alarms"
            raise ValueError(
                f"{name}={getattr(self, name)!r} needs held-out scores, which "
                f'offset="{self.offset}" does not use: '
                'give offset="left_out", or leave one of the two out'
            )
        return self.offset

    def _drop_nothing_of_chunks(self) -> None:
        """Refuse to look for rows to be left out where rows are not in memory."""
        self.dropped_ = np.empty(0, np.intp)
        if self._contamination:
            raise ValueError(
                f"contamination={self._contamination!r} compares all rows and needs them in "
                "memory; rows in chunks are fitted with contamination=0.0"
            )

    def _keep_dropped(self, scores: Array, weights: Array) -> None:
        """Store scores of rows that took no part: they are held out by that."""
        self._dropped_scores, self._dropped_weights = scores, weights

    def _with_dropped(
        self, scores: Array, weights: Array, members: Array
    ) -> tuple[Array, Array, Array]:
        if not self.dropped_.size:
            return scores, weights, members
        members = members.copy()
        members[self.dropped_] = scores.size + np.arange(self.dropped_.size)
        return (
            np.concatenate([scores, self._dropped_scores]),
            np.concatenate([weights, self._dropped_weights]),
            members,
        )

    def _forget_left_out(self) -> None:
        super()._forget_left_out()
        for name in ("_dropped_scores", "_dropped_weights"):
            self.__dict__.pop(name, None)
