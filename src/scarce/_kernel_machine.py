"""What every kernel estimator of this library shares: kernels, validation, solving, scoring."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from scarce.kernels import (
    Kernel,
    make_kernel,
    make_operator,
    nystroem_operator,
    weighted_scores,
)
from scarce.solvers import Progress, QuadraticProgram, Solution, feasible_start, solve

Array = NDArray[Any]

SPARSE_STATE = ("support_vectors_", "dual_coef_")
NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values "
    "and need to be preprocessed."
)


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let a fit that fails or is interrupted leave the estimator exactly as it was."""

    @functools.wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:  # Ctrl-C too
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return guarded


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of estimators whose model is a weighted sum of kernel functions."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [
            StrOptions(set(Kernel.named)),
            callable,
            Kernel,
        ],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "warm_start": ["boolean"],
        "approximation": [StrOptions({"nystroem"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    # Weights are asked for without any set-up when metadata routing is on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}

    # One of several fits that are judged together: whoever asks for them does the warning.
    _one_of_many: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    # A saved model of sparse rows holds plain arrays: skops would not trust SciPy's classes.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_sparse"):
            for name in SPARSE_STATE:
                matrix = state[name]
                state[name] = (matrix.data, matrix.indices, matrix.indptr, matrix.shape)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if state.get("_sparse"):
            for name in SPARSE_STATE:
                state[name] = sparse.csr_matrix(state[name][:3], shape=state[name][3])
        super().__setstate__(state)

    # Input.

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Return checked rows (and targets): float32 stays float32, sparse becomes CSR."""
        if callable(self.kernel):
            rows = X.tocsr() if sparse.issparse(X) else np.asarray(X)
            if rows.shape[0] == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return rows if isinstance(y, str) else (rows, y)
        given_sparse = sparse.issparse(X)
        if given_sparse and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported; give a dense array.")
        return validate_data(
            self,
            X,
            y,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr",
            accept_large_sparse=False,
        )

    def _checked_weights(self, sample_weight: Any, X: Any) -> Array:
        return checked_weights(sample_weight, X)

    def _make_kernel(self, X: Any, weights: Array) -> Kernel:
        """Return the kernel with its width settled, and keep the width."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix. "
                f"Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if kernel.has_formula:
            check_range(X)
            kernel = kernel.settled(X, weights)
        self._gamma = float(getattr(kernel, "gamma", 0.0))
        return kernel

    def _fitted_kernel(self) -> Kernel:
        return make_kernel(self.kernel, self._gamma, self.degree, self.coef0)

    def _make_operator(self, X: Any, kernel: Kernel, rows: Array) -> Any:
        """Return the kernel matrix of the rows that take part, exact or of low rank."""
        if self.kernel == "precomputed":
            part = X if rows.size == X.shape[0] else X[np.ix_(rows, rows)]
        else:
            part = X if rows.size == X.shape[0] else X[rows]
        if self.approximation is None or self.kernel == "poly":
            operator = make_operator(part, kernel)
            if self.kernel == "poly":
                self._check_powers(operator, kernel)
            if self.approximation is None:
                return operator
        self._landmarks = self._choose_landmarks(rows.size)
        return nystroem_operator(part, kernel, self._landmarks)

    def _choose_landmarks(self, n_rows: int) -> Array:
        """Return the rows that an approximation sees the others through."""
        if self.kernel == "precomputed" or callable(self.kernel):
            raise ValueError(
                'approximation="nystroem" needs a kernel with a formula (linear, poly, rbf, '
                f"sigmoid), got kernel={self.kernel!r}"
            )
        random = check_random_state(self.random_state)
        return np.sort(random.permutation(n_rows)[: self.n_components])

    def _check_powers(self, operator: Any, kernel: Kernel) -> None:
        with np.errstate(over="ignore"):
            powers = operator.n * operator.diagonal()
        if not np.isfinite(powers).all():
            raise ValueError(
                f"{NOT_FINITE} The kernel overflows: gamma={self._gamma:.3g}, degree={self.degree}."
            )

    # Solving.

    def _solve(
        self,
        program: QuadraticProgram,
        previous: Array | None,
        within: Any = None,
        *,
        tol: float | None = None,
        max_iter: int | None = None,
    ) -> Solution:
        """Solve the program, report progress, and warn when the tolerance was not met.

        ``within`` is the callback context of the rounds that this solution is one of; ``tol`` and
        ``max_iter`` may be sharper than those of the estimator.
        """
        if within is None:
            context = self._init_callback_context(max_subtasks=None)
        else:
            context = within.subcontext(task_name="round", max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        start = None if previous is None else feasible_start(program, previous)
        # What overflows is found below, and reported once.
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solve(
                program,
                tol=self.tol if tol is None else tol,
                max_iter=self.max_iter if max_iter is None else max_iter,
                start=start,
                cache_size=self.cache_size,
                callback=self._reporter(context),
            )
        context.call_on_fit_task_end(estimator=self)
        if not (np.isfinite(solution.alpha).all() and np.isfinite(solution.multipliers).all()):
            raise ValueError(NOT_FINITE)
        self.fit_status_ = int(solution.status != "optimal")
        self.dual_gap_ = solution.dual_gap
        self.kkt_violation_ = solution.kkt_violation
        if within is None and not self._one_of_many:
            self._warn_unless_optimal(solution.status, stacklevel=7)
        return solution

    def _reporter(self, context: Any) -> Callable[[Progress], bool] | None:
        """Return what tells callbacks and the screen of progress; None when nobody listens."""

        def report(progress: Progress) -> bool:
            task = context.subcontext(task_name="block")
            task.call_on_fit_task_begin(estimator=self)
            if self.verbose:
                print(
                    f"[{type(self).__name__}] steps {progress.n_iter}, objective "
                    f"{progress.objective:.6g}, violation {progress.violation:.3g}",
                    flush=True,
                )
            return bool(task.call_on_fit_task_end(estimator=self))

        return report if self.verbose or hasattr(self, "_skl_callbacks") else None

    def _warn_unless_optimal(self, status: str, stacklevel: int) -> None:
        """Say how good a solution is that was cut short; ``stacklevel`` leads to fit's caller."""
        causes = {
            "max_iter": f"Solver terminated early (max_iter={self.max_iter}).",
            "stopped": "A callback stopped the solver.",
            "stalled": "Rounding errors ended the solver early.",
        }
        if status in causes:
            warnings.warn(
                f"{causes[status]}  Consider pre-processing your data with StandardScaler or "
                f"MinMaxScaler. KKT violation {self.kkt_violation_:.3g} against tol={self.tol:g}, "
                f"relative duality gap {self.dual_gap_:.3g}.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _begin_with(self, multipliers: Array) -> None:
        """Let the next fit begin with these multipliers of the dual, one per row."""
        self._start = multipliers

    def _multipliers(self) -> Array:
        """Return the signed multipliers of the support vectors, in the scale of the dual."""
        return np.asarray(self._dense_dual()[0])

    def _previous(self, n_rows: int) -> Array | None:
        """Return multipliers to begin with, one per row: given ones or those of the last fit."""
        given = self.__dict__.pop("_start", None)
        if given is not None:
            return np.asarray(given)
        if not self.warm_start or getattr(self, "shape_fit_", (None,))[0] != n_rows:
            return None
        if self.approximation is not None or not hasattr(self, "dual_coef_"):
            return None
        coefficients = np.zeros(n_rows)
        coefficients[self.support_] = self._multipliers()
        return coefficients

    # The fitted model.

    def _expansion(self, operator: Any, coefficients: Array) -> tuple[Array, Array]:
        """Return the rows the model is a sum over, as positions, and their coefficients."""
        support = np.flatnonzero(coefficients)
        if self.approximation is None:
            return support, coefficients[support]
        return self._landmarks, operator.landmark_weights(support, coefficients[None, support])[0]

    def _keep(self, X: Any, support: Array, weights: Array) -> None:
        """Store the expansion over the rows ``support``."""
        if not np.isfinite(weights).all():
            raise ValueError(NOT_FINITE)
        self.support_ = support.astype(np.int32)
        self.shape_fit_ = X.shape
        self._sparse = sparse.issparse(X) and not callable(self.kernel)
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((0, 0), dtype=X.dtype)
        else:
            vectors = X[self.support_]
            self.support_vectors_ = sparse.csr_matrix(vectors) if self._sparse else vectors
        dual = weights[None, :]
        self.dual_coef_: Any = sparse.csr_matrix(dual) if self._sparse else dual

    def _raw_scores(self, X: Any) -> Array:
        """Return ``sum_j dual_coef_j k(x, sv_j)`` for new rows."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._scores_of(X, self._dense_dual(), np.zeros(X.shape[0], np.int64))

    def _dense_dual(self) -> Array:
        dual = self.dual_coef_
        return np.asarray(dual.toarray() if sparse.issparse(dual) else dual)

    def _scores_of(self, X: Any, dual: Array, groups: Array) -> Array:
        """Return ``sum_j dual[g_i, j] k(x_i, sv_j)`` for checked rows and their groups."""
        if self.kernel == "precomputed":
            lines = dual[groups] if dual.shape[0] > 1 else dual
            return np.asarray((X[:, self.support_] * lines).sum(axis=1), dtype=np.float64)
        if self.support_vectors_.shape[0] != dual.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        if self._sparse and not sparse.issparse(X):
            X = sparse.csr_array(X)
        elif sparse.issparse(X) and not self._sparse and not callable(self.kernel):
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        return weighted_scores(X, self.support_vectors_, dual, self._fitted_kernel(), groups)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef: Any = self.dual_coef_ @ self.support_vectors_
        if sparse.issparse(coef):
            coef.data.flags.writeable = False
        else:
            coef.flags.writeable = False
        return coef


def checked_weights(sample_weight: Any, X: Any) -> Array:
    """Return weights in float64; rows of weight zero or less take no part, as in LIBSVM."""
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64, allow_all_zero_weights=True)
    weights: Array = np.maximum(checked, 0.0)
    if not weights.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def check_range(X: Any) -> None:
    """Refuse rows whose squared norms overflow, which no kernel but a callable can do without."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > np.sqrt(np.finfo(np.float64).max / (4 * X.shape[1])):
        raise ValueError(f"{NOT_FINITE} X holds {largest:.3g}, and its square overflows.")
