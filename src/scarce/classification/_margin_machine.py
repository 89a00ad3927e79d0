"""What `SVC` and `NuSVC` share: one program for every pair of classes, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._chunked_fit import ChunkedFit
from scarce._classes import (
    check_classes,
    class_pairs,
    most_votes,
    of_pair,
    one_vs_rest,
    pair_coefficients,
    pair_sums,
    several_classes,
)
from scarce._data import lazily
from scarce._frame import (
    Solved,
    StrOptions,
    fit_frame,
    fit_task,
    keep_quality,
)
from scarce._kernel_machine import Sample
from scarce._kernel_sum import KernelSum
from scarce._predictions import no_nan
from scarce.classification._labelled_machine import LabelledMachine
from scarce.kernels import KernelOperator, StoredOperator, segment_scores
from scarce.parallel import thread_count
from scarce.reductions import MarginProblem
from scarce.solvers import QuadraticProgram, Solution, feasible_start, solve_many
from scarce.updates import UpdatedMargin

if TYPE_CHECKING:
    from scarce._by_chunks import Plan
    from scarce.chunks import BandSolution, Chunks

THREADED_ROWS = 1000  # of two classes, below which threads wait for the interpreter


class MarginMachine(UpdatedMargin, ChunkedFit, LabelledMachine):
    """Base of large-margin classifiers; a subclass has `_program` and `_read`.

    Two classes are one program, positive for the second. Several are one for every pair, positive
    for its first class, as in LIBSVM.
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **UpdatedMargin._allowed_values,
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "probability": ["boolean", StrOptions({"deprecated"})],
    }
    probability: Any = "deprecated"  # of model files from before it was a parameter

    intercept_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.approximation is None
        return tags

    def _program(self, operator: Any, signs: Array, factors: Array) -> QuadraticProgram:
        """Return the program of two classes."""
        raise NotImplementedError

    def _read(self, program: QuadraticProgram, solution: Solution) -> Any:
        """Return its model, with coefficients, an intercept and an objective."""
        raise NotImplementedError

    def _read_labels(self, y: Array, weights: Array) -> tuple[Array, Array]:
        return several_classes(y, weights, self._one_class_left)

    # Fitting.

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the separating surfaces.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels, two different ones or more. Of rows in chunks the name of a column, a Dask
            collection, or None where the chunks hold them.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the cost of each row's slack; a row of weight 2 is the same as the row given
            twice, and a row of weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_probability()
        self._drop_rows()
        return self._fit(X, y, sample_weight, None)

    def _refuse_probability(self) -> None:
        if self.probability is True or self.probability is np.True_:
            name = type(self).__name__
            raise ValueError(
                f"probability=True: {name} has no probabilities of its own. Use "
                f"CalibratedClassifierCV({name}(), ensemble=False), of sklearn.calibration, as "
                "scikit-learn recommends since it deprecated the parameter"
            )

    @fit_frame
    def _fit_from(self, X: Any, y: Any, sample_weight: Any, start: Array | None) -> Self:
        """Fit, beginning with dual variables of a similar problem, one a row, if any."""
        return self._fit(X, y, sample_weight, start)

    def _fit(self, X: Any, y: Any, sample_weight: Any, start: Array | None) -> Self:
        return self._stored(*self._answers(X, y, sample_weight, start))

    def _stored(self, solutions: Sequence[Solved], models: list[Any]) -> Self:
        self.intercept_ = np.array([model.intercept for model in models])
        self.n_iter_ = np.array([max(1, each.n_iter) for each in solutions], dtype=np.int32)
        self.objective_ = float(sum(model.objective for model in models))
        self._keep_more(models)
        keep_quality(self, solutions)
        return self

    def _answers(
        self, X: Any, y: Any, sample_weight: Any, start: Array | None
    ) -> tuple[Sequence[Solved], list[Any]]:
        """Return solutions and models of all pairs, of rows in memory or chunks; store the sum."""
        self._forget_reads()
        if self._reads_chunks(X):
            return self._answers_of_chunks(self._opened(X, y=y, sample_weight=sample_weight))
        X, codes, weights = self._coded(X, y, sample_weight)
        if self.classes_.size == 2 and self._takes_bands(X):
            given = None if sample_weight is None else weights
            chunks = self._in_chunks(X, y=codes.astype(np.int8), sample_weight=given)
            return self._answers_of_chunks(chunks, self.classes_)
        return self._answers_of_rows(X, codes, weights, start)

    def _answers_of_rows(
        self, X: Any, codes: Array, weights: Array, start: Array | None
    ) -> tuple[Sequence[Solved], list[Any]]:
        """Return those of checked rows in memory."""
        if self.classes_.size > 2 and self.approximation is not None:
            raise ValueError(
                f"approximation={self.approximation!r} is for two classes, got "
                f"{self.classes_.size}; wrap the estimator: "
                f"sklearn.multiclass.OneVsOneClassifier({type(self).__name__}(...))."
            )
        sample = self._sample(X, weights)
        codes = codes[sample.rows]
        if self.classes_.size > 2 and isinstance(sample.operator, KernelOperator):
            # The rows of a pair then stand together, and so do their kernel values.
            order = np.argsort(codes, kind="stable")
            sample, codes = sample.ordered(order), codes[order]
        factors = sample.weights * self.class_weight_[codes]
        last = self._last_dual_variables(X.shape[0]) if start is None else start
        if last is not None:
            last = np.atleast_2d(np.abs(last))[:, sample.rows]
        solutions, models = self._solve_pairs(sample, codes, factors, last)
        self._keep_pairs(sample, codes, [model.coefficients for model in models])
        return solutions, models

    # Rows in chunks.

    def _margin_problem(self, labels: Array, totals: Callable[[], Array]) -> MarginProblem:
        """Return the problem of two labels; ``totals`` returns their weights in all."""
        raise NotImplementedError

    def _masses(self, totals: Array) -> Array:
        """Return the masses of its groups, for labels of these weights."""
        raise NotImplementedError

    def _read_band(self, solution: BandSolution, problem: MarginProblem, plan: Plan) -> Any:
        """Return the model of a solution by bands."""
        raise NotImplementedError

    def _answers_of_chunks(
        self, chunks: Chunks, classes: Array | None = None
    ) -> tuple[Sequence[Solved], list[Any]]:
        """Return those of rows in chunks; ``classes`` if the chunks hold places among them."""
        plan = self._planned(chunks)
        labels = check_classes(plan.survey, self._one_class_left, type(self).__name__)
        self.classes_ = labels if classes is None else classes
        self._set_class_weight(lambda: plan.survey.totals)
        totals = plan.survey.totals * self.class_weight_
        problem, masses = self._margin_problem(labels, lambda: totals), self._masses(totals)
        by_cost = problem.mass is None  # whose rows have a linear term
        solution = self._solved_by_bands(plan, problem, masses, smoothed=by_cost)
        model = self._read_band(solution, problem, plan)
        order, counts = None, np.array([0, 1])
        if plan.landmarks is not None:
            codes = (plan.landmarks.values["y"] == labels[1]).astype(np.int64)
            order, counts = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=2)
        self._keep_planned(plan, model.coefficients, order)
        self._n_support = counts.astype(np.int32)
        return [solution], [model]

    def _keep_more(self, models: list[Any]) -> None:
        """Store what a subclass knows beside."""

    def _solve_pairs(
        self, sample: Sample, codes: Array, factors: Array, last: Array | None
    ) -> tuple[list[Solution], list[Any]]:
        """Solve the program of every pair of classes, in threads while they are small."""
        pairs = class_pairs(self.classes_.size)
        if last is not None and last.shape[0] != self.classes_.size - 1:
            last = None  # of other classes
        whole = sample.operator
        if len(pairs) == 1:
            programs = [self._program(whole, 2.0 * codes - 1.0, factors)]
            solutions = [self._solve(programs[0], None if last is None else last[0])]
        else:
            members = [np.flatnonzero((codes == i) | (codes == j)) for i, j in pairs]
            whole = StoredOperator.shared(whole, [m.size for m in members], self.cache_size)
            programs = []
            for (first, _), rows in zip(pairs, members, strict=True):
                signs = np.where(codes[rows] == first, 1.0, -1.0)
                programs.append(self._program(whole.subset(rows), signs, factors[rows]))
            solutions = self._solve_all(programs, last, codes)
        return solutions, list(map(self._read, programs, solutions))

    def _solve_all(
        self, programs: list[QuadraticProgram], last: Array | None, codes: Array
    ) -> list[Solution]:
        """Solve the programs of several pairs, in threads where that is safe."""
        pairs = class_pairs(self.classes_.size)
        with fit_task(self, len(pairs)) as task:
            alone = task.context is None and not task.heard  # callbacks are told in order
            starts: list[Array | None] = [None] * len(pairs)
            if last is not None:
                given = [of_pair(last, codes, pair) for pair in pairs]
                starts = list(map(feasible_start, programs, given))
            if alone and (programs[0].kernel.shares_values or self._in_threads(codes)):
                with np.errstate(over="ignore", invalid="ignore"):  # found by who reads them
                    return solve_many(
                        programs,
                        tol=self.tol,
                        max_iter=self.max_iter,
                        starts=starts,
                        cache_size=self.cache_size,
                    )
            return [self._solve(*each, task) for each in zip(programs, starts, strict=True)]

    def _in_threads(self, codes: Array) -> bool:
        """Say whether pairs are worth threads of their own, and their matrices small enough."""
        largest = float(np.sort(np.bincount(codes))[-2:].sum())
        memory = 8e-6 * thread_count() * largest**2
        small = largest >= THREADED_ROWS and memory <= self.cache_size
        return small and self._kernel_type.has_formula

    def _keep_pairs(self, sample: Sample, codes: Array, coefficients: list[Array]) -> None:
        """Store the expansion, one class after the other as LIBSVM does."""
        if len(coefficients) == 1:
            support, terms = self._expansion(sample.operator, coefficients[0])
            coefs = terms[None, :]
        else:
            coefs = pair_coefficients(coefficients, codes, self.classes_.size)
            support = np.flatnonzero((coefs != 0).any(axis=0))
            coefs = coefs[:, support]
        order = codes[support].argsort(kind="stable")
        self._keep(sample.X, sample.rows[support[order]], coefs[:, order])
        counts = np.bincount(codes[support], minlength=self.classes_.size)
        self._n_support = counts.astype(np.int32)

    def _dual_variables(self) -> Array:
        dual = self._dense_dual()
        return np.asarray(dual[0] if dual.shape[0] == 1 else dual)

    def _kernel_sum(self) -> KernelSum | None:
        plain, n_classes = super()._kernel_sum(), self.classes_.size
        if plain is None or n_classes == 2:
            return plain
        owners = np.repeat(np.arange(n_classes), self._n_support)
        parts = np.where(owners == np.arange(n_classes)[:, None, None], plain.weights, 0.0)
        return replace(plain, weights=pair_sums(parts, n_classes), voted=True)

    # Answers.

    def _pair_decisions(self, X: Any) -> Array:
        """Return the decision values of every pair of classes."""
        check_is_fitted(self)
        if self.classes_.size == 2:
            return np.asarray(self._raw_scores(X) + self.intercept_)[:, None]
        X = self._rows_like_support(self._validated(X, reset=False))
        dual, ends = self._dense_dual(), np.cumsum(self._n_support)
        if self._kernel_type.pairwise:
            values = X[:, self.support_]
            pieces = [np.split(each, ends[:-1], axis=1) for each in (dual, values)]
            parts = np.array([coefs @ part.T for coefs, part in zip(*pieces, strict=True)])
        else:
            parts = segment_scores(X, self.support_vectors_, dual, ends, self._fitted_kernel())
        return no_nan(pair_sums(parts, self.classes_.size).T + self.intercept_)

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes positive for ``classes_[1]``. For several one column each, largest for
            the most likely one; with ``decision_function_shape="ovo"`` one for every pair, in the
            order (0, 1), (0, 2), ..., (1, 2), ..., positive for the pair's first class.
        """
        decisions = self._pair_decisions(X)
        if self._n_support.sum() != self.dual_coef_.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        if self.classes_.size == 2:
            return np.asarray(decisions[:, 0])
        if self.decision_function_shape == "ovo":
            return decisions
        return no_nan(one_vs_rest(decisions, self.classes_.size))

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the labels.

        Several classes are voted on by all pairs. Of classes with as many votes the first is taken,
        with `break_ties` the one with the largest decision value.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.classes_.size == 2:
            best = self.decision_function(X) > 0
        elif self.break_ties:
            best = self.decision_function(X).argmax(axis=1)
        else:
            best = most_votes(self._pair_decisions(X), self.classes_.size)
        return np.asarray(self.classes_[best.astype(np.intp)])

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel, one row for every pair of classes."""
        if not self._kernel_type.explicit or self.dual_coef_.shape[0] == 1:
            return super().coef_
        ends = np.append(0, np.cumsum(self._n_support))
        parts = np.empty((self.classes_.size, self.classes_.size - 1), dtype=object)
        for c, part in enumerate(map(slice, ends, ends[1:])):
            for row in range(self.classes_.size - 1):
                parts[c, row] = self.dual_coef_[[row], part] @ self.support_vectors_[part]
        pairs = [parts[i, j - 1] + parts[j, i] for i, j in class_pairs(self.classes_.size)]
        coef: Any = sparse.vstack(pairs, format="csr") if self._sparse else np.vstack(pairs)
        (coef.data if self._sparse else coef).flags.writeable = False
        return coef
