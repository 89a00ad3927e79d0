"""Classifiers whose fit is brought up to date when rows come and go."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from scarce._arrays import Array
from scarce._classes import check_lengths
from scarce._frame import checked_weights, fit_frame
from scarce._kernel_machine import Sample, is_plain_target
from scarce.solvers import Solution
from scarce.updates._updated_fit import UpdatedFit, keeps_rows

CODES = np.array([0, 1])  # the classes of rows that are kept


class UpdatedMargin(UpdatedFit):
    """Part of margin classifiers: `partial_fit`."""

    _refuse_probability: Any
    _read_labels: Any
    _set_class_weight: Any
    _answers_of_rows: Any
    _margin_problem: Any
    _read: Any
    _keep_pairs: Any
    _stored: Any
    classes_: Any
    class_weight_: Array

    @available_if(keeps_rows)
    @fit_frame
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Bring the surfaces up to date for new rows: the optimum of all rows that are kept.

        The first call is a fit; `fit` itself keeps no rows. A `gamma` that is found from the rows
        is found by the first call, and stays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows. They are kept, of all calls no more than `window`, the newest.
        y : array-like of shape (n_samples,)
            Their labels. The first call needs rows of every class that will ever come.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight 0 or less takes no part, and is not kept.
        classes : array-like of shape (n_classes,), default=None
            All classes, for those who expect to be asked; every call must agree.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_probability()
        if y is None:
            raise ValueError("partial_fit needs y, the labels of the new rows")
        begun = self._is_begun()
        X, y = self._checked_rows(X, y)
        if not is_plain_target(y, X.shape[0]):
            y = column_or_1d(y, warn=True)
            check_lengths(X, y)
        weights = checked_weights(sample_weight, X)
        if begun:
            codes = np.minimum(np.searchsorted(self.classes_, y), self.classes_.size - 1)
            strange = y[self.classes_[codes] != y]
            if strange.size:
                raise ValueError(
                    f"y holds {strange.tolist()[0]!r}, which is none of the classes of the first "
                    f"call, {self.classes_.tolist()}: fit a new model with rows of all of them"
                )
        else:
            self.classes_, codes = self._read_labels(y, weights)
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} differ from the labels of the first call, "
                f"{self.classes_.tolist()}: it needs rows of every class"
            )
        self._take_rows(X, weights, codes)
        codes, weights = self._kept_targets, self._kept_weights
        for c, label in enumerate(self.classes_.tolist()):
            if not (codes == c).any():
                raise ValueError(
                    f"window={self.window} holds no row of class {label!r} any more: use a larger "
                    "one"
                )
        # Asked for by few, and as long as all else where nothing changes.
        totals = cache(partial(np.bincount, codes, weights, self.classes_.size))
        self._set_class_weight(totals)
        sample = self._sample(self._kept_rows, weights)
        if self.classes_.size == 2 and self._is_still_optimal(
            sample,
            lambda: self._margin_problem(CODES, lambda: totals() * self.class_weight_),
            {"y": codes},
        ):
            self._keep_model()
        else:
            answers = self._followed_answers(sample, codes)
            self._stored(*(answers or self._answers_of_rows(sample.X, codes, weights, None)))
        del self._update
        return self

    def _followed_answers(
        self, sample: Sample, codes: Array
    ) -> tuple[list[Solution], list[Any]] | None:
        """Return solution and model by the last optimum, and store the sum; None if not by that."""
        found = self._follow()
        if found is None:
            return None
        program, solution = found
        model = self._read(program, solution)
        self._keep_pairs(sample, codes, [model.coefficients])
        return [solution], [model]

    @property
    def _settings(self) -> tuple[Any, ...]:
        return (*super()._settings, *self.class_weight_.tolist())
