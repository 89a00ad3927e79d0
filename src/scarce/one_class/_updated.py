"""One-class models whose rows keep coming: updates, and thresholds that are found when asked."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from scarce._arrays import Array
from scarce._frame import checked_weights, fit_frame
from scarce.updates import NO_ROWS, UpdatedFit, keeps_rows

# Set with the threshold; while that waits, whoever asks for one of them has it found.
WITH_OFFSET = ("offset_", "intercept_", "_rounding")
OF_LEFT_OUT = ("_left_out_scores", "false_alarms_", "false_alarm_range_")


class UpdatedOneClass(UpdatedFit):
    """Part of one-class models: `partial_fit`."""

    contamination: Any
    _offset_rule: Any
    _answer_of_rows: Any
    _stored: Any
    _program: Any
    _coefficient_scale: Any
    _left_out_threshold: Any
    _score_rounding: Any
    _store_offset: Any

    @available_if(keeps_rows)
    @fit_frame
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring the region up to date for new rows: the optimum of all rows that are kept.

        The first call is a fit; `fit` itself keeps no rows. A `gamma` that is found from the rows
        is found by the first call, and stays. With ``offset="left_out"`` the threshold is found
        anew when it is next asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows. They are kept, of all calls no more than `window`, the newest.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight 0 or less takes no part, and is not kept.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.contamination:
            raise ValueError(
                f"contamination={self.contamination!r} looks at all rows and is for fit; "
                "partial_fit takes contamination=0.0"
            )
        rows = self._checked_rows(X)
        self._take_rows(rows, checked_weights(sample_weight, rows))
        answer = self._answer_of_rows(self._kept_rows, self._kept_weights)
        del self._update
        self._stored(answer, late=self._offset_rule == "left_out")
        return self

    def _expect_offset(self, far: float) -> None:
        """Leave the threshold to whoever asks for it first."""
        self._expect_nothing()
        for name in WITH_OFFSET:
            self.__dict__.pop(name, None)
        self._expected = far

    def _expect_nothing(self) -> None:
        if "_expected" in vars(self):
            del self._expected

    def __getattr__(self, name: str) -> Any:
        if name in (*WITH_OFFSET, *OF_LEFT_OUT) and "_expected" in vars(self):
            self._find_offset()
            return getattr(self, name)
        return super().__getattribute__(name)  # says what is wrong

    def _find_offset(self) -> None:
        """Find the threshold of the rows that are kept."""
        far, self._update = self._expected, NO_ROWS
        self._expect_nothing()
        try:
            sample = self._sample(self._kept_rows, self._kept_weights)
            program = self._program(sample)
            alpha = np.zeros(program.kernel.n)
            terms: Array = self._dense_dual()[0]
            alpha[self.support_] = terms / self._coefficient_scale(program)
            offset = self._left_out_threshold(sample, program, alpha)
            largest = float(np.abs(sample.operator.diagonal()).max())
            self._store_offset(offset, lambda: self._score_rounding(terms, largest), far)
        except BaseException:
            self._expect_offset(far)
            raise
        finally:
            del self._update

    def __getstate__(self) -> dict[str, Any]:
        if "_expected" in vars(self):
            self._find_offset()
        return super().__getstate__()
