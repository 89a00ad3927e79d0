"""Rows that keep coming, for any detector, which is fitted to them when it is asked for."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from scarce._arrays import Array, unpacked_rows
from scarce._data import comes_in_chunks
from scarce._frame import Interval, checked_weights, fit_frame, note, safe_indexing, validate_data
from scarce.model_selection._detector import rows_for, scores

FOUND = ("estimator_", "estimators_", "dropped_", "offset_", "_part_of")
OF_LEFT_OUT = ("false_alarms_", "false_alarm_range_", "_left_out_scores", "_left_out_weights")
LATE = {*FOUND, *OF_LEFT_OUT, "_left_out_places"}


class RowsKept:
    """Part of `CalibratedOneClass`: `partial_fit`, a fit of the rows that are kept.

    Nothing of a detector that is not known can be carried over, and a scaler moves with every row:
    detector and threshold are fitted anew, once, when they are next asked for.
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "window": [Interval(Integral, 2, None, closed="left"), None],
    }

    window: int | None
    estimator: Any
    cv: Any
    estimator_: Any
    _fit_rows: Any
    _forget_left_out: Any
    _kept_rows: Any
    _kept_weights: Array
    _of_sparse_rows: bool

    @fit_frame(nested_checks=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep new rows; detector and threshold are those of a fit of all rows that are kept.

        The first call is a fit; `fit` itself keeps no rows. Later calls check the new rows with
        the last detector, so that errors in them are reported at once; the fit itself is done when
        its result is next needed: a prediction, a fitted attribute, saving.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            New rows of the class. They are kept, of all calls no more than `window`, the newest.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight 0 or less takes no part, and is not kept.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if comes_in_chunks(X):
            raise TypeError(f"partial_fit takes rows in memory, got a {type(X).__name__}")
        if not (self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split")):
            raise ValueError(
                f"cv={self.cv!r} refers to rows by number, which is for fit; partial_fit "
                "takes a number of parts or a splitter"
            )
        begun = "_kept_rows" in vars(self)
        if not begun:
            if "offset_" in vars(self):
                note("fit keeps no rows: partial_fit begins anew, with the rows of this call")
            self._of_sparse_rows = sparse.issparse(X)
        rows = rows_for(self.estimator, X)
        weights = checked_weights(sample_weight, rows)
        if begun:
            self._check_alike(X, rows)
            part = weights.nonzero()[0]
            rows = _joined(self._kept_rows, safe_indexing(rows, part))
            weights = np.append(self._kept_weights, weights[part])
        elif not weights.all():
            part = weights.nonzero()[0]
            rows, weights = safe_indexing(rows, part), weights[part]
        if self.window is not None and weights.size > self.window:
            newest = np.arange(weights.size - self.window, weights.size)
            rows, weights = safe_indexing(rows, newest), weights[newest]
        self._kept_rows, self._kept_weights = rows, weights
        if begun:
            self._expect_fit()
        else:
            self._fit_now()
            validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _check_alike(self, X: Any, rows: Any) -> None:
        """Refuse new rows that the last detector would not score, or of another kind."""
        kinds = [_kind(each) for each in (rows, self._kept_rows)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"X is {kinds[0]}, and the rows kept so far are {kinds[1]}")
        validate_data(self, X, reset=False, skip_check_array=True)
        scores(self._expected or self.estimator_, rows)

    # Found when asked for.

    _expected: Any = None  # the last detector, while a fit is due

    def _expect_fit(self) -> None:
        """Forget what the last fit found but for the detector, which looks at new rows."""
        if self._expected is None:
            self._expected = self.estimator_
        self._forget_left_out()
        for name in FOUND:
            self.__dict__.pop(name, None)

    @fit_frame(nested_checks=True)
    def _fit_now(self) -> None:
        """Fit the rows that are kept."""
        self._forget_left_out()
        uniform = (self._kept_weights == 1.0).all()
        given = {} if uniform else {"sample_weight": self._kept_weights}
        self._fit_rows(self._kept_rows, None, given)
        self.__dict__.pop("_expected", None)

    def _drop_rows(self) -> None:
        """Drop what `partial_fit` has kept."""
        for name in ("_kept_rows", "_kept_weights", "_expected"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "offset_" in vars(self) or self._expected is not None

    def __getattr__(self, name: str) -> Any:
        if name in LATE and self.__dict__.get("_expected") is not None:
            self._fit_now()
            return getattr(self, name)
        return super().__getattribute__(name)  # says what is wrong

    def __getstate__(self) -> Any:
        if self._expected is not None:
            self._fit_now()
        given: Any = super().__getstate__()
        state: dict[str, Any] = dict(given)
        rows: Any = state.get("_kept_rows")
        if sparse.issparse(rows):
            state["_kept_rows"] = (rows.data, rows.indices, rows.indptr, rows.shape)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(packed := state.get("_kept_rows"), tuple):
            own = f"{type(self).__name__}._kept_rows"
            state = {**state, "_kept_rows": unpacked_rows(packed, own, sparse.csr_matrix)}
        super().__setstate__(state)  # type: ignore[misc]  # of an estimator


def _kind(rows: Any) -> str:
    return "sparse" if sparse.issparse(rows) else "a table" if hasattr(rows, "iloc") else "dense"


def _joined(rows: Any, more: Any) -> Any:
    """Return rows of one kind, one after the other."""
    if sparse.issparse(rows):
        return sparse.vstack([rows, more], format="csr")
    if hasattr(rows, "iloc"):
        from pandas import concat

        return concat([rows, more[rows.columns]], ignore_index=True)
    return np.concatenate([rows, more])
