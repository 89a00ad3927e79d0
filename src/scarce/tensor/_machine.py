"""What the tensor machines share: input, starts, the fitted model, scoring."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._frame import (
    FitTask,
    Interval,
    StrOptions,
    fit_task,
    note,
    quality,
    run_solver,
    validate_data,
)
from scarce._kernel_machine import check_range
from scarce._predictions import no_nan
from scarce._sklearn import CallbackSupportMixin
from scarce.kernels import as_rows
from scarce.parallel import single_threaded_blas
from scarce.reductions import HalfStep
from scarce.solvers import solve
from scarce.tensor._contractions import Tensors, full_tensor
from scarce.tensor._mode_sweeps import Fit, ModeSweeps
from scarce.tensor._starts import Factors, Random, leading_of_sum, starts
from scarce.tensor._vectors import checked_shape, largest_rank, shape_for_vectors

BLOCK_MEMORY = 8.0  # MB for kernel values of a half-step with many rows
ROUGH_TOL, ROUGH_SWEEPS = 1e-3, 20  # of a fit that is only a start for a higher rank
SMALLEST_NORM = 1e-150  # its square is still a normal number
LARGEST_SQUARE = float(np.finfo(np.float64).max) / 4  # of a norm


class TensorMachine(CallbackSupportMixin, BaseEstimator):
    """Base of estimators whose weights are a tensor of low rank."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        "tensor_shape": [StrOptions({"auto"}), tuple, list, None],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "stop": [StrOptions({"relative", "paper"})],
        "random_state": ["random_state"],
    }

    # Weights are asked for without any set-up when metadata routing is on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    # Input.

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Return checked samples, flattened to rows (and targets); keep or compare their shape.

        Whether the values of a fit are finite, their norms tell; see `_squared_norms`.
        """
        _check_same_shapes(X)
        if not reset and hasattr(X, "shape"):
            self._check_shape(tuple(X.shape)[1:])
        checked = validate_data(
            self,
            X,
            y,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            allow_nd=True,
            ensure_all_finite=not reset,
        )
        samples = checked if isinstance(y, str) else checked[0]
        if reset:
            self._check_single_sample(samples.shape)
            self._sample_shape = samples.shape[1:]
            self.tensor_shape_ = self._settled_shape(samples.shape[1:])
        else:
            self._check_shape(samples.shape[1:])
        rows = samples.reshape(samples.shape[0], -1)
        return rows if isinstance(y, str) else (rows, checked[1])

    def _check_single_sample(self, given: tuple[int, ...]) -> None:
        """Refuse one sample where many are expected."""
        alone = self.tensor_shape not in (None, "auto") and len(given) > 1
        if alone and checked_shape(self.tensor_shape) == given:
            raise ValueError(
                f"X of shape {given} is one sample of tensor_shape={self.tensor_shape!r}; give "
                "several, as an array with the samples first: X[np.newaxis] for one"
            )

    def _settled_shape(self, given: tuple[int, ...]) -> tuple[int, ...]:
        if len(given) == 1:
            return shape_for_vectors(self.tensor_shape, given[0])
        if 0 in given:
            raise ValueError(f"X holds samples of shape {given}; every mode needs a size above 0")
        if self.tensor_shape not in (None, "auto") and checked_shape(self.tensor_shape) != given:
            raise ValueError(
                f"tensor_shape={self.tensor_shape!r} is for rows, but X holds samples of shape "
                f"{given}; leave it at None, or give X as (n_samples, n_features)"
            )
        return given

    def _check_shape(self, seen: tuple[int, ...]) -> None:
        fitted = self._sample_shape
        both_rows = len(fitted) == len(seen) == 1  # left to scikit-learn
        if seen and seen != fitted and not both_rows:
            raise ValueError(
                f"X holds samples of shape {seen}, but {type(self).__name__} was fitted to "
                f"samples of shape {fitted}"
            )

    # Fitting.

    def _squared_norms(self, rows: Array) -> Array:
        """Return the squared norms of the rows of a fit, in one pass that refuses NaN too."""
        with np.errstate(over="ignore"):
            squares = as_rows(rows).squared_norms()
        if not squares.max() < LARGEST_SQUARE:
            assert_all_finite(rows, estimator_name=type(self).__name__, input_name="X")
        return squares

    def _tensors(self, flat: Array, squares: Array, rows: Array) -> Tensors:
        """Return the samples that take part, given the squared norms of all."""
        part, squares = (flat, squares) if rows.size == len(flat) else (flat[rows], squares[rows])
        return self._divided(part, squares)

    def _divided(self, rows: Array, squares: Array) -> Tensors:
        """Return rows as tensors divided by the largest norm; one that overflows is refused."""
        square = float(squares.max())
        if not square < LARGEST_SQUARE:
            check_range(rows)
        norm = float(np.sqrt(square))
        if norm < SMALLEST_NORM and len(self.tensor_shape_) > 1:
            raise ValueError("X must have a sample that is not zero, got only zeros")
        return Tensors(rows, self.tensor_shape_, norm if norm >= SMALLEST_NORM else 1.0)

    def _search(self, tensors: Tensors, problem: HalfStep) -> Fit:
        """Return the best of all starts."""
        with fit_task(self) as task, single_threaded_blas:
            return self._best(tensors, self._sweeps(tensors, problem, task))

    def _sweeps(self, tensors: Tensors, problem: HalfStep, task: FitTask | None) -> ModeSweeps:
        """Return the half-steps of a problem, which tell of progress within a task."""

        def plain(program: Any, start: Any, report: Any = None) -> Any:
            return solve(
                program, tol=problem.tol, start=start, cache_size=BLOCK_MEMORY, callback=report
            )

        def told(program: Any, start: Any) -> Any:
            assert task is not None
            return run_solver(
                task.part("half-step", None), lambda report: plain(program, start, report)
            )

        return ModeSweeps(
            tensors,
            problem,
            plain if task is None else told,
            tol=self.tol,
            max_iter=self.max_iter,
            stop=self.stop,
        )

    def _softened(self, sweeps: ModeSweeps, start: Factors) -> Iterator[Factors]:
        """Return starts from easier problems."""
        return iter(())

    def _best(self, tensors: Tensors, sweeps: ModeSweeps, *, allow_zero: bool = False) -> Fit:
        # A fixed seed by default: the same input gives the same output. The first of all starts
        # needs no numbers, and a generator takes as long to make as a short half-step.
        seed = 0 if self.random_state is None else self.random_state
        random = cache(lambda: check_random_state(seed))
        rank = min(self.rank, largest_rank(self.tensor_shape_))
        coefficients = sweeps.problem.slack_coefficients
        best: Fit | None = None
        unsolved: Fit | None = None
        zero: Fit | None = None
        for attempts in starts(
            tensors,
            coefficients,
            rank,
            self.n_init,
            random,
            grown=lambda: self._grown(tensors, sweeps, rank, random),
            softened=lambda start: self._softened(sweeps, start),
        ):
            for start in attempts:
                fit = sweeps.run(start)
                if fit.solution.status == "stopped" or tensors.order == 1:
                    return fit
                if not fit.degenerate:
                    break
                zero = zero or fit
                if fit.kkt_violation > self.tol:  # zero, but not because it is the solution
                    unsolved = fit
            if not fit.degenerate and (best is None or fit.objective < best.objective):
                best = fit
        if best is not None:
            return best
        if unsolved is not None:
            return unsolved
        if allow_zero and zero is not None:
            return zero
        raise ValueError(self._all_starts_degenerate)

    def _grown(
        self, tensors: Tensors, sweeps: ModeSweeps, rank: int, random: Random
    ) -> Iterator[Factors]:
        """Return the solution of one rank less with one more column, so that more is never worse.

        Nothing where rank one begins with a start that leads to zero.
        """
        coefficients = sweeps.problem.slack_coefficients
        columns = leading_of_sum(tensors, coefficients, rank, random)
        factors = [np.ones((size, 1)) for size in tensors.shape]
        roughly = replace(sweeps, tol=ROUGH_TOL, max_iter=ROUGH_SWEEPS, stop="relative")
        for r in range(1, rank):
            fit = roughly.run(factors)
            if fit.degenerate:
                return
            factors = [
                np.concatenate([factor, column[:, r : r + 1]], axis=1)
                for factor, column in zip(fit.factors, columns, strict=True)
            ]
        yield factors

    # The fitted model.

    def _keep(self, fit: Fit, problem: HalfStep, rows: Array) -> None:
        """Store a fit; ``rows`` are the positions of the samples that took part."""
        # Balanced: every mode carries the same share of a term's norm.
        share = (fit.scales * problem.weight_scale) ** (1.0 / len(fit.factors))
        self.factors_: list[Array] = [factor * share for factor in fit.factors]
        self.objective_: float = fit.objective * problem.objective_scale
        self.history_ = fit.history
        self.converged_ = fit.converged
        self.n_iter_ = max(1, fit.n_sweeps)
        self.dual_gap_ = fit.dual_gap
        self.kkt_violation_ = fit.kkt_violation
        solved = self.kkt_violation_ <= self.tol and self.dual_gap_ <= self.tol
        self.fit_status_ = int(not (fit.converged and solved))
        support = np.flatnonzero(fit.coefficients)
        self.support_ = rows[support].astype(np.int32)
        self.dual_coef_ = fit.coefficients[None, support] * problem.coefficient_scale
        self._note_shortcomings(fit, solved)

    def _note_shortcomings(self, fit: Fit, solved: bool) -> None:
        """Say what is short of a solution."""
        if fit.solution.status == "stopped":
            message = "A callback stopped the solver."
        elif fit.degenerate and self.kkt_violation_ <= self.tol:  # of zero no gap has a size
            note(self._trivial)
            return
        elif not solved:
            message = "Rounding errors ended a half-step early."
        elif not fit.converged:
            last = fit.history["objective"][-1 - len(self.tensor_shape_) :: len(self.tensor_shape_)]
            message = (
                f"max_iter={self.max_iter} sweeps ended the fit before the objective settled: "
                f"after the last sweeps it was {last}. Raise max_iter or tol."
            )
        else:
            return
        note(f"{message} {quality(self)}", ConvergenceWarning)

    @property
    def coef_(self) -> Array:
        """The weight tensor, of shape `tensor_shape_`."""
        check_is_fitted(self)
        coef = full_tensor(self.factors_, np.ones(self.factors_[0].shape[1]))
        coef.flags.writeable = False
        return coef

    @property
    def weights_(self) -> Array:
        """The same as `coef_`."""
        return self.coef_

    # A score is the inner product of these weights with a sample, divided by its norm if asked.

    _by_norm = False
    _column_order: Literal["C", "F"] = "C"  # in which columns of rows fill the tensor

    def _entry_weights(self) -> Array:
        """Return the weight of each entry of a sample, in the order of the flattened sample."""
        weights = self.coef_.reshape(-1, order=self._column_order)
        return np.asarray(weights[: math.prod(self._sample_shape)])

    def _scores_of(self, rows: Array) -> Array:
        """Return the inner products with the weight tensor; zeros that fill rows up add nothing."""
        weight_vector = self.coef_.reshape(1, -1)[:, : rows.shape[1]]
        scores = np.zeros(rows.shape[0])
        groups = np.zeros(rows.shape[0], np.int64)
        as_rows(rows).project(0, scores.size, np.ascontiguousarray(weight_vector), groups, scores)
        return no_nan(scores)

    def _raw_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._scores_of(self._validated(X, reset=False))


def _check_same_shapes(X: Any) -> None:
    """Refuse a list of samples of different shapes, in words that say so."""
    objects = isinstance(X, np.ndarray) and X.dtype.kind == "O"
    if objects or isinstance(X, (list, tuple)):
        shapes = sorted({np.shape(sample) for sample in X if isinstance(sample, np.ndarray)})
        if len(shapes) > 1:
            raise ValueError(f"X holds samples of different shapes: {shapes}; all must be the same")
