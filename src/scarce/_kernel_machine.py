"""What every kernel estimator of this library shares: kernels, validation, solving, scoring."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array, unpacked_rows
from scarce._frame import (
    NOT_FINITE,
    FitTask,
    Interval,
    StrOptions,
    fit_task,
    note,
    opaque_rows,
    run_solver,
    validate_data,
)
from scarce._kernel_sum import KernelSum
from scarce._model_files import LARGEST_DEGREE
from scarce._predictions import no_nan, rounding_error
from scarce._sklearn import CallbackSupportMixin
from scarce.kernels import (
    GAMMA_RULES,
    Kernel,
    NystroemOperator,
    formula_names,
    kernel_type,
    make_kernel,
    make_operator,
    nystroem_operator,
    score_error,
    weighted_scores,
)
from scarce.parallel import sum_of_squares
from scarce.solvers import QuadraticProgram, Solution, feasible_start, solve

SPARSE_STATE = ("support_vectors_", "dual_coef_")
MANY_ROWS = 5_000  # from which a fit that takes longer than it has to is worth a word
PAYS = 0.9  # times the effort of an exact fit, from which an approximation is said not to pay
LARGE_SQUARES = 1e300  # sum of the squares of all rows, below which nothing overflows
TINY_SHARE = 1e-10  # of an offset, below which nobody asks which bound is the better one


@dataclass(frozen=True)
class Sample:
    """The rows of a fit that take part.

    Attributes
    ----------
    X : array or CSR
        All rows, checked.
    rows : ndarray of int
        Those with a positive weight.
    weights : ndarray
        Their weights.
    operator : operator
        Their kernel matrix, exact or of low rank.
    """

    X: Any
    rows: Array
    weights: Array
    operator: Any

    def part(self, values: Array | None) -> Array | None:
        """Return the entries, of one value per row, of those that take part."""
        return None if values is None else values[self.rows]

    def ordered(self, order: Array) -> Sample:
        """Return the same rows in another order."""
        operator = self.operator.subset(order)
        return Sample(self.X, self.rows[order], self.weights[order], operator)


class Approximations(StrOptions):
    """Names of approximations; an error says what became of one that is often looked for."""

    def __str__(self) -> str:
        return f'{super().__str__()} ("cells" is not offered, it was no better: use "nystroem")'


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of estimators whose model is a weighted sum of kernel functions."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        "kernel": [
            StrOptions(set(Kernel.named)),
            callable,
            Kernel,
        ],
        "degree": [Interval(Integral, 0, LARGEST_DEGREE, closed="both")],
        "gamma": [StrOptions(set(GAMMA_RULES)), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "warm_start": ["boolean"],
        "approximation": [Approximations({"nystroem"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "max_memory": [Interval(Real, 0, None, closed="neither"), None],
    }

    # Weights are asked for without any set-up when metadata routing is on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel_type.pairwise
        tags.input_tags.sparse = not self._kernel_type.pairwise
        return tags

    @property
    def _kernel_type(self) -> type[Kernel]:
        """What may be asked of the kernel before it is settled."""
        return kernel_type(self.kernel)

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
                own = f"{type(self).__name__}.{name}"
                state[name] = unpacked_rows(state[name], own, sparse.csr_matrix)
        super().__setstate__(state)

    # Input.

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Return checked rows (and targets): float32 stays float32, sparse becomes CSR."""
        if self._kernel_type.opaque:
            rows = opaque_rows(X)
            return rows if isinstance(y, str) else (rows, y)
        if is_plain(X) and self._keeps_features(X, reset):
            if isinstance(y, str):
                return X
            if is_plain_target(y, X.shape[0]):
                return X, y
        given_sparse = sparse.issparse(X)
        if given_sparse and self._kernel_type.pairwise:
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

    def _keeps_features(self, X: Array, reset: bool) -> bool:
        """Say whether a plain array has the features of the fit, which it says when `reset`."""
        named = "feature_names_in_" in vars(self)
        if not reset:
            return not named and X.shape[1] == getattr(self, "n_features_in_", None)
        if named:
            del self.feature_names_in_
        self.n_features_in_ = X.shape[1]
        return True

    def _sample(self, X: Any, weights: Array) -> Sample:
        """Settle the kernel, and return the rows that take part with their kernel matrix."""
        rows = weights.nonzero()[0]
        operator = self._operator_of(X, self._settled_kernel(X, weights), rows)
        own = weights if rows.size == weights.size else weights[rows]
        return Sample(X, rows, own, operator)

    def _settled_kernel(self, X: Any, weights: Array) -> Kernel:
        """Return the kernel with a number for `gamma`, and keep that number."""
        if self._kernel_type.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix. "
                f"Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if kernel.has_formula:
            check_range(X)
            uniform = (weights == weights[0]).all()
            kernel = kernel.settled(X, None if uniform else weights / weights.max())
        self._gamma = float(kernel.parameter("gamma", 0.0))
        return kernel

    def _fitted_kernel(self) -> Kernel:
        return make_kernel(self.kernel, self._gamma, self.degree, self.coef0)

    def _operator_of(self, X: Any, kernel: Kernel, rows: Array) -> Any:
        """Return the kernel matrix of the rows that take part, exact or of low rank."""
        part = self._part(X, rows)
        if self.approximation is None:
            operator: Any = make_operator(part, kernel)
        else:
            self._landmarks = self._choose_landmarks(rows.size)
            operator = nystroem_operator(part, kernel, self._landmarks)
        check_sums(operator, kernel)
        return operator

    def _part(self, X: Any, rows: Array) -> Any:
        """Return some rows; of a kernel matrix, these rows and columns."""
        if rows.size == X.shape[0]:
            return X
        if self._kernel_type.pairwise:
            return X[np.ix_(rows, rows)]
        return X[rows]

    def _values_of(self, X: Any, left: Array, right: Array) -> Array:
        """Return kernel values of some rows with others."""
        if self._kernel_type.pairwise:
            return np.asarray(X[np.ix_(left, right)])
        return self._fitted_kernel().values(X[left], X[right])

    def _choose_landmarks(self, n_rows: int) -> Array:
        """Return the rows that an approximation sees the others through."""
        if not self._kernel_type.has_formula:
            raise ValueError(
                'approximation="nystroem" needs a kernel with a formula '
                f"({', '.join(formula_names())}), got kernel={self.kernel!r}"
            )
        random = check_random_state(self.random_state)
        n_drawn = min(self.n_components, n_rows)
        drawn = sample_without_replacement(n_rows, n_drawn, random_state=random)
        return np.sort(drawn).astype(np.int64)

    def _check_diagonal(self, operator: Any) -> None:
        """Refuse kernel values whose sums overflow, high powers above all."""
        check_sums(operator, self._fitted_kernel())

    # Solving.

    def _solve(
        self,
        program: QuadraticProgram,
        start: Array | None = None,
        within: FitTask | None = None,
        *,
        tol: float | None = None,
        max_iter: int | None = None,
        cache_size: float | None = None,
    ) -> Solution:
        """Solve a program and report progress.

        ``start`` may be any dual variables; ``within`` is the task of the rounds that this solution
        is one of; ``tol``, ``max_iter`` and ``cache_size`` may be others than the estimator's.
        """
        solution = run_solver(
            fit_task(self) if within is None else within.part("round", None),
            lambda report: solve(
                program,
                tol=self.tol if tol is None else tol,
                max_iter=self.max_iter if max_iter is None else max_iter,
                start=None if start is None else feasible_start(program, start),
                cache_size=self.cache_size if cache_size is None else cache_size,
                callback=report,
            ),
        )
        if isinstance(program.kernel, NystroemOperator) and program.kernel.n >= MANY_ROWS:
            self._tell_effort(program.kernel)
        return solution

    def _tell_effort(self, operator: NystroemOperator) -> None:
        """Say when landmarks have made a fit of many rows slower than an exact one."""
        effort = operator.effort
        if effort.spent > PAYS * effort.exact:
            note(
                f"approximation={self.approximation!r} does not pay: with "
                f"n_components={operator.landmarks.n} this fit of {operator.n} rows took about "
                f"{effort.spent:.1e} kernel values, an exact one would take about "
                f"{effort.exact:.1e}. Use approximation=None, or fewer components."
            )

    def _dual_variables(self) -> Array:
        """Return the signed dual variables of the support vectors."""
        return np.asarray(self._dense_dual()[0])

    def _last_dual_variables(self, n_rows: int) -> Array | None:
        """Return the dual variables of the last fit, one a row, to begin with; None if unfit."""
        given: Array | None = self.__dict__.pop("_next_start", None)
        if given is not None and given.shape == (n_rows,):
            return given
        if not self.warm_start or getattr(self, "shape_fit_", (None,))[0] != n_rows:
            return None
        if self.approximation is not None or not hasattr(self, "dual_coef_"):
            return None
        own = self._dual_variables()
        variables = np.zeros((*own.shape[:-1], n_rows))
        variables[..., self.support_] = own
        return variables

    def _start_at(self, variables: Array) -> None:
        """Let the next fit begin with some dual variables, one a row, if it has so many rows."""
        self._next_start = variables

    # The fitted model.

    def _expansion(self, operator: Any, coefficients: Array) -> tuple[Array, Array]:
        """Return the rows the model is a sum over, as positions, and their coefficients."""
        support = (coefficients != 0.0).nonzero()[0]  # faster than of the numbers themselves
        if self.approximation is None:
            return support, coefficients[support]
        return self._landmarks, operator.landmark_weights(support, coefficients[None, support])[0]

    def _keep(self, X: Any, support: Array, weights: Array) -> None:
        """Store the expansion over the rows ``support``, one row of weights or several."""
        if not np.isfinite(weights).all():
            raise ValueError(NOT_FINITE)
        self.support_ = support.astype(np.int32)
        self.shape_fit_ = X.shape
        self._sparse = sparse.issparse(X) and not self._kernel_type.opaque
        if self._kernel_type.pairwise:
            self.support_vectors_ = np.empty((0, 0), dtype=X.dtype)
        else:
            vectors = X.take(support, 0) if isinstance(X, np.ndarray) else X[support]
            self.support_vectors_ = sparse.csr_matrix(vectors) if self._sparse else vectors
        dual = np.atleast_2d(weights)
        self.dual_coef_: Any = sparse.csr_matrix(dual) if self._sparse else dual

    def _boundary_rounding(self, dual: Array, largest: float, offset: Any, share: float) -> float:
        """Return how far rounding may move the score of a row on the boundary.

        No more than a small part of the offset, which a row far from all others must not reach,
        however little is known of the distances. Sums of positive terms are known to so many digits
        of their own, however small they are.
        """
        plain = rounding_error(dual, largest)
        if not self._kernel_type.has_formula:
            return plain
        size = float(np.abs(offset).min())
        if plain > share * size and self._kernel_type.vanishes and (dual >= 0).all():
            plain = share * size
        error = score_error(
            self.support_vectors_, dual, self._fitted_kernel(), enough=TINY_SHARE * size
        )
        return max(plain, min(error, share * size))

    def _raw_scores(self, X: Any) -> Array:
        """Return ``sum_j dual_coef_j k(x, sv_j)`` for new rows."""
        if not hasattr(self, "dual_coef_"):
            check_is_fitted(self)
        return self._checked_scores(self._validated(X, reset=False))

    def _checked_scores(self, X: Any) -> Array:
        """Return the same for checked rows."""
        return self._scores_of(X, self._dense_dual(), np.zeros(X.shape[0], np.int64))

    def _dense_dual(self) -> Array:
        dual = self.dual_coef_
        return np.asarray(dual.toarray() if sparse.issparse(dual) else dual)

    def _scores_of(self, X: Any, dual: Array, groups: Array) -> Array:
        """Return ``sum_j dual[g_i, j] k(x_i, sv_j)`` for checked rows and their groups."""
        if self._kernel_type.pairwise:
            own = dual[groups] if dual.shape[0] > 1 else dual
            return no_nan((X[:, self.support_] * own).sum(axis=1, dtype=np.float64))
        if self.support_vectors_.shape[0] != dual.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        X = self._rows_like_support(X)
        kernel = self._fitted_kernel()
        return no_nan(weighted_scores(X, self.support_vectors_, dual, kernel, groups))

    def _rows_like_support(self, X: Any) -> Any:
        """Return rows sparse if those of the fit were; refuse sparse ones if they were not."""
        if self._sparse and not sparse.issparse(X):
            return sparse.csr_array(X)
        if sparse.issparse(X) and not self._sparse and not self._kernel_type.opaque:
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        return X

    def _kernel_sum(self) -> KernelSum | None:
        """Return the decision function as a formula; None for one that has none."""
        if not self._kernel_type.has_formula:
            return None
        return KernelSum(
            self._fitted_kernel(), self.support_vectors_, self._dense_dual(), self.intercept_
        )

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel."""
        if not self._kernel_type.explicit:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef: Any = self.dual_coef_ @ self.support_vectors_
        if sparse.issparse(coef):
            coef.data.flags.writeable = False
        else:
            coef.flags.writeable = False
        return coef


def check_sums(operator: Any, kernel: Kernel) -> None:
    """Refuse kernel values whose sums overflow, high powers above all."""
    if kernel.vanishes:  # and is at most 1
        return
    with np.errstate(over="ignore", invalid="ignore"):
        largest = operator.n * float(np.abs(operator.diagonal()).max(initial=0.0))
    if not np.isfinite(largest):
        gamma, degree = kernel.parameter("gamma", 0.0), kernel.parameter("degree", 3)
        raise ValueError(f"{NOT_FINITE} The kernel overflows: gamma={gamma:.3g}, degree={degree}.")


def is_plain(X: Any) -> bool:
    """Say whether `X` is what checks of the input would return: finite rows, nothing to convert."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.char not in "fd" or not X.size:
        return False
    # A sum of squares that is infinite or NaN, as any NaN makes it, is left to the checks.
    return X.flags.c_contiguous and X.dtype.isnative and sum_of_squares(X) < np.inf


def is_plain_target(y: Any, n_rows: int) -> bool:
    """Say whether `y` is what checks of it would return: one finite number, or word, a row."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    return y.dtype.kind in "iubU" or (y.dtype.char in "fd" and bool(np.isfinite(y).all()))


def check_range(X: Any) -> None:
    """Refuse rows whose squared norms overflow, which no kernel but a callable can do without."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    if values.dtype.char == "d" and sum_of_squares(values) < LARGE_SQUARES:
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > np.sqrt(np.finfo(np.float64).max / (4 * X.shape[1])):
        raise ValueError(f"{NOT_FINITE} X holds {largest:.3g}, and its square overflows.")
