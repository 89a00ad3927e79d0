"""All checks on one estimator."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from scarce.testing._subject import Data, Subject
from scarce.testing._suite import Check, all_checks, checks_for


def check_estimator(
    estimator: Any,
    *,
    make: Callable[[int], Data] | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
) -> list[str]:
    """Run the checks of this library that an estimator's parameters and kind make possible.

    They ask for what scikit-learn's own checks do not: weights that mean repetition, answers that
    depend on neither the order of the rows nor their precision, container or scale, errors that
    name the argument, fits that end on hostile data, leave no trace when they fail and warn when
    they are cut short, claims that are finite, models that survive pickle and skops. Run them
    beside `sklearn.utils.estimator_checks.check_estimator`.

    A check applies when the estimator has the parameters it sets (``kernel``, ``nu``, ...), takes
    ``sample_weight`` or callbacks, or documents the attribute it reads (``history_``).

    Parameters
    ----------
    estimator : estimator
        An unfitted estimator with ``fit``, ``predict`` and ``decision_function``, whose parameters
        suit the data.
    make : callable, default=None
        ``make(n)`` returns `n` rows of three columns and their targets, or None for no targets; the
        same ones every time. By default two classes that overlap a little for a classifier, a
        labelled class among unlabelled rows for one with ``pos_label``, a cloud away from the
        origin for the others.
    only : collection of str, default=None
        Names of the checks to run; all that apply by default.
    skip : collection of str, default=()
        Names of checks to leave out.

    Returns
    -------
    list of str
        Names of the checks that ran, all of which passed.

    Raises
    ------
    AssertionError
        When a check fails; a note names it. An error that the estimator raises where it should not
        comes as it is, with the same note.

    Examples
    --------
    A detector that does not know weights, and two checks that find nothing wrong:

    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator, OutlierMixin
    >>> from sklearn.utils.validation import check_is_fitted, validate_data
    >>> from scarce.testing import check_estimator
    >>> class NearestMean(OutlierMixin, BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         X = validate_data(self, X)
    ...         self.mean_ = X.mean(axis=0)
    ...         self.radius_ = np.linalg.norm(X - self.mean_, axis=1).max()
    ...         return self
    ...
    ...     def decision_function(self, X):
    ...         check_is_fitted(self)
    ...         X = validate_data(self, X, reset=False)
    ...         return self.radius_ - np.linalg.norm(X - self.mean_, axis=1)
    ...
    ...     def predict(self, X):
    ...         return np.where(self.decision_function(X) >= 0, 1, -1)
    >>> check_estimator(NearestMean(), only=["rows_of_wrong_shape", "refit_forgets_the_first_fit"])
    ['rows_of_wrong_shape', 'refit_forgets_the_first_fit']
    """
    known = {each.name for each in all_checks()}
    unknown = sorted({*(only or ()), *skip} - known)
    if unknown:
        raise ValueError(f"no check is called {unknown[0]!r}; the checks are {sorted(known)}")
    subject = Subject.of(estimator, make)
    chosen = [
        each
        for each in checks_for(subject)
        if (only is None or each.name in only) and each.name not in skip
    ]
    for each in chosen:
        run_check(each, subject)
    return [each.name for each in chosen]


def run_check(each: Check, subject: Subject) -> None:
    """Run a check; a note on what it raises says which it was."""
    try:
        each.run(subject)
    except Exception as error:
        error.add_note(f"in the check {each.name} of {subject.estimator!r}")
        raise
