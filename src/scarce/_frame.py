"""The frame of every `fit`: parameter checks, callbacks, warnings, state, quality."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse
from sklearn import get_config, set_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data as validate_read_data

from scarce._arrays import Array, check_sparse, not_numbers
from scarce._core import FEASIBLE
from scarce._data import refuse_chunks
from scarce._parameters import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameters,
)
from scarce._sklearn import check_sample_weight, num_samples, safe_indexing, tear_callbacks_down
from scarce.solvers import Progress

__all__ = [
    "NOT_FINITE",
    "FitTask",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Notes",
    "Options",
    "StrOptions",
    "check_parameters",
    "check_total_weight",
    "checked_costs",
    "checked_weights",
    "collected_notes",
    "fit_frame",
    "fit_task",
    "is_optimal",
    "keep_quality",
    "note",
    "num_samples",
    "opaque_rows",
    "parameter_values",
    "pass_on",
    "plain_weights",
    "quality",
    "refuse_times",
    "refuse_unsafe",
    "refuse_words",
    "run_solver",
    "safe_indexing",
    "validate_data",
]

NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values "
    "and need to be preprocessed."
)
LARGEST_TOTAL = 1e150  # of weights: products of two sums of them are finite, and not zero

# Tables that are not in memory yet, by library, and what reads them.
UNREAD = {
    "dask": "X.compute()",
    "dask_expr": "X.compute()",
    "polars": "X.collect()",
    "pyspark": "X.toPandas()",
}


# Warnings. A fit writes them down and gives them out when it has ended, in the name of its caller.

Notes = dict[tuple[str, type[Warning]], None]  # in order, each once
_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


def note(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn when the running fit has ended, once, at the line that called it."""
    notes = _notes.get()
    if notes is None:
        warnings.warn(message, category, stacklevel=3)
    else:
        notes[message, category] = None


@contextmanager
def collected_notes() -> Iterator[Notes]:
    """Collect what fits inside would warn of, for a caller that judges them itself."""
    notes: Notes = {}
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def pass_on(notes: Notes, *but: type[Warning]) -> None:
    """Warn of what was collected, but for just these categories."""
    for message, category in notes:
        if category not in but:
            note(message, category)


# The frame.


def fit_frame(fit: Any = None, *, nested_checks: bool = False) -> Any:
    """Decorate a `fit`: parameters are checked, callbacks torn down, warnings given once.

    A fit that fails or is interrupted leaves the estimator exactly as it was. Warnings of a fit
    inside another are those of the outer one. ``nested_checks`` is for estimators that are given
    others, whose parameters are then checked too.
    """
    if fit is None:
        return functools.partial(fit_frame, nested_checks=nested_checks)

    @functools.wraps(fit)
    def framed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before, outer = dict(vars(estimator)), _notes.get()
        # What `config_context` would set, without a generator and five other settings.
        unchecked = get_config()["skip_parameter_validation"]
        notes: Notes = {}
        try:
            if not unchecked:
                check_parameters(estimator)
            if not getattr(estimator, "_fits_by_chunks", False):
                refuse_chunks(type(estimator).__name__, args[0] if args else kwargs.get("X"))
            skipped = unchecked or not nested_checks
            if skipped != unchecked:
                set_config(skip_parameter_validation=skipped)
            token = _notes.set(notes)
            try:
                fitted = fit(estimator, *args, **kwargs)
            finally:
                _notes.reset(token)
                if skipped != unchecked:
                    set_config(skip_parameter_validation=unchecked)
                tear_callbacks_down(estimator)
            for message, category in notes:
                if outer is None:
                    warnings.warn(message, category, stacklevel=2)
                else:
                    outer[message, category] = None
        except BaseException:  # Ctrl-C too, and warnings that are errors
            vars(estimator).clear()
            vars(estimator).update(before)
            raise
        return fitted

    return framed


_PLAIN = {str, int, float, bool, type(None)}  # what always compares by its value
_MOST_ACCEPTED = 4096
_accepted: set[Any] = set()


@functools.cache
def _parameter_names(kind: type) -> tuple[str, ...]:
    # Any estimator has it; `type` does not say so.
    return tuple(kind._get_param_names())  # type: ignore[attr-defined]


def parameter_values(estimator: Any) -> list[Any]:
    """Return the values of the parameters, in the order of their names."""
    kind: Any = type(estimator)
    return [getattr(estimator, name) for name in _parameter_names(kind)]


def check_parameters(estimator: Any) -> None:
    """Check the parameters; those of plain types that a class has accepted are remembered."""
    kind: Any = type(estimator)
    values = parameter_values(estimator)
    types = tuple(map(type, values))
    key = (kind, types, *values) if _PLAIN.issuperset(types) else None
    if key is None or key not in _accepted:
        validate_parameters(estimator)
        if key is not None and len(_accepted) < _MOST_ACCEPTED:
            _accepted.add(key)


# Callbacks.


class FitTask:
    """A task of a fit as callbacks see it, a context manager.

    ``stopped``: after its end: whether a callback asks to stop.
    """

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context  # None when nobody listens
        self.stopped = False

    def __enter__(self) -> FitTask:
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.estimator)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self.context is not None:
            self.stopped = bool(self.context.call_on_fit_task_end(estimator=self.estimator))

    @property
    def heard(self) -> bool:
        """Whether anybody listens; if not, parts may run in threads."""
        return bool(getattr(self.estimator, "verbose", False)) or (
            "_skl_callbacks" in vars(self.estimator)
        )

    def part(self, name: str, max_subtasks: int | None = 0) -> FitTask:
        """Return a task inside this one; ``max_subtasks`` is None for an unknown number."""
        context = self.context
        if context is not None:
            context = context.subcontext(task_name=name, max_subtasks=max_subtasks)
        return FitTask(self.estimator, context)


def fit_task(estimator: Any, max_subtasks: int | None = None) -> FitTask:
    """Return the task of the whole fit."""
    state = vars(estimator)  # scikit-learn sets them there
    listened = "_skl_callbacks" in state or "_parent_callback_ctx" in state
    context = estimator._init_callback_context(max_subtasks=max_subtasks) if listened else None
    return FitTask(estimator, context)


# Solving.


class Solved(Protocol):
    """What the frame looks at in a solution, of whichever solver."""

    @property
    def dual_gap(self) -> float: ...
    @property
    def kkt_violation(self) -> float: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def relative_infeasibility(self) -> float: ...
    @property
    def negative_curvature(self) -> bool: ...


class Computed(Solved, Protocol):
    """The same of a solver's own answer, whose numbers are not known to be finite."""

    @property
    def is_finite(self) -> bool: ...


S = TypeVar("S", bound=Computed)


def run_solver(task: FitTask, solver: Callable[[Callable[[Progress], bool] | None], S]) -> S:
    """Run a solver, a function of its callback, within a task; refuse what is not finite."""
    # What overflows is found below, and reported once.
    with task, np.errstate(over="ignore", invalid="ignore"):
        solution = solver(_reporter(task))
    if not solution.is_finite:
        raise ValueError(NOT_FINITE)
    return solution


def _reporter(task: FitTask) -> Callable[[Progress], bool] | None:
    """Return what reports progress to callbacks and the screen; None when nobody listens."""
    if not task.heard:
        return None
    estimator = task.estimator
    verbose = getattr(estimator, "verbose", False)

    def report(progress: Progress) -> bool:
        with task.part("block") as block:
            if verbose:
                print(
                    f"[{type(estimator).__name__}] steps {progress.n_iter}, objective "
                    f"{progress.objective:.6g}, violation {progress.violation:.3g}",
                    flush=True,
                )
        return block.stopped

    return report


# Quality.


def is_optimal(solution: Solved, tol: float) -> bool:
    """Say whether a solution is good to ``tol``, which may be wider than what the solver aimed at.

    Violation and relative duality gap must be within it, and the solution feasible. The gap is NaN
    where the kernel is not known to be positive semidefinite; the others decide there.
    """
    if solution.status == "optimal":
        return True
    feasible = solution.relative_infeasibility <= FEASIBLE
    return feasible and solution.kkt_violation <= tol and not solution.dual_gap > tol


def keep_quality(estimator: Any, solutions: Sequence[Solved]) -> None:
    """Store what the solutions of an estimator's problems are worth; warn of what falls short."""
    estimator.dual_gap_ = _largest([each.dual_gap for each in solutions])
    estimator.kkt_violation_ = _largest([each.kkt_violation for each in solutions])
    unfinished = [each for each in solutions if not is_optimal(each, estimator.tol)]
    estimator.fit_status_ = int(bool(unfinished))
    if unfinished:
        cause = {
            "max_iter": f"Solver terminated early (max_iter={estimator.max_iter}).",
            "stopped": "A callback stopped the solver.",
        }.get(unfinished[0].status, "Rounding errors ended the solver early.")
        note(
            f"{cause}  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
            f"{quality(estimator)}",
            ConvergenceWarning,
        )
    if any(each.negative_curvature for each in solutions):
        note(
            f"kernel={estimator.kernel!r} is not positive semidefinite: what was found is a local "
            "optimum; another order of rows may give another."
        )


def _largest(values: list[float]) -> float:
    return float(values[0] if len(values) == 1 else np.max(values))  # NaN if any is


def quality(estimator: Any) -> str:
    """Return a sentence on how good the solution of a fitted estimator is."""
    return (
        f"KKT violation {estimator.kkt_violation_:.3g} against tol={estimator.tol:g}, "
        f"relative duality gap {estimator.dual_gap_:.3g}."
    )


# Input.


def refuse_unsafe(X: Any) -> None:
    """Refuse a table that would be pulled into memory whole, and sparse rows that point outside."""
    if sparse.issparse(X):
        check_sparse(X, "X")
    kind = type(X)
    library = kind.__module__.partition(".")[0]
    if library in UNREAD and (library != "polars" or kind.__name__ == "LazyFrame"):
        raise TypeError(
            f"X is a {kind.__name__} of {library}, which is not in memory: give "
            f"{UNREAD[library]} if it fits there, else a sample of its rows to fit and blocks of "
            "rows to predict"
        )


def validate_data(estimator: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
    """Do what scikit-learn's function of this name does, with rows that are in memory."""
    refuse_unsafe(X)
    if kwargs.get("skip_check_array"):  # numbers are not asked for
        return validate_read_data(estimator, X, *args, **kwargs)
    try:
        refuse_times(X)
        return validate_read_data(estimator, X, *args, **kwargs)
    except (TypeError, ValueError) as error:
        words = not_numbers(X, error)
        if words:
            raise ValueError(words) from error
        raise


def refuse_times(X: Any) -> None:
    """Raise an error for dates and times, which NumPy would convert to numbers."""
    for kind in X.dtypes if hasattr(X, "select_dtypes") else [getattr(X, "dtype", None)]:
        if getattr(kind, "kind", "f") in "mM":
            raise ValueError(f"could not convert {kind} to float")


def opaque_rows(X: Any) -> Any:
    """Return rows that only a callable kernel compares, as an array or CSR, unchecked inside."""
    refuse_unsafe(X)
    rows = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if rows.shape[0] == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return rows


def refuse_words(X: Any) -> None:
    """Raise an error that says which columns or values are no numbers, if they are texts."""
    try:
        refuse_times(X)
        if np.asarray(X).dtype.kind in "OSU":
            np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        words = not_numbers(X, error)
        if words:
            raise ValueError(words) from error


# Weights.


def plain_weights(sample_weight: Any, X: Any) -> Array:
    """Return weights in float64 as they are, ones for None."""
    return check_sample_weight(sample_weight, X)


def checked_weights(sample_weight: Any, X: Any) -> Array:
    """Return weights in float64; rows of weight zero or less take no part, as in LIBSVM."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights: Array = np.maximum(check_sample_weight(sample_weight, X, all_zero=True), 0.0)
    with np.errstate(over="ignore"):
        check_total_weight(float(weights.sum()))
    return weights


def check_total_weight(total: float) -> None:
    """Refuse weights that are all zero, or whose products would leave the range of numbers."""
    if total == 0:
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. sample_weight must have a "
            "positive value at least"
        )
    if not 1.0 / LARGEST_TOTAL <= total <= LARGEST_TOTAL:
        raise ValueError(
            f"sample_weight has the sum {total:.3g}, and products of such numbers leave the range "
            f"of floating point; sums from {1.0 / LARGEST_TOTAL:g} to {LARGEST_TOTAL:g} are "
            "accepted: divide the weights by their mean"
        )


def checked_costs(name: str, cost: float, weights: Array) -> Array:
    """Return the costs of slack, ``cost * weights``; an infinite cost is meant, others not."""
    with np.errstate(over="ignore", under="ignore"):
        costs = np.asarray(cost * weights)
        total = float(costs.sum())
    if weights.size and not (0.0 < total < np.inf or np.isinf(cost)):
        raise ValueError(
            f"{name}={cost:g} times the factors of the rows (sample_weight, class_weight), which "
            f"sum to {float(weights.sum()):.3g}, leaves the range of floating point; bring {name} "
            "or the weights nearer to 1"
        )
    return costs
