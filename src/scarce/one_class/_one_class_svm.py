"""One-class support vector machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._kernel_machine import Sample
from scarce._predictions import rounding_error, warn_if_zero
from scarce.one_class._base import Answer, OneClassMachine
from scarce.reductions import OneClassModel, OneClassProblem, one_class_program, read_one_class
from scarce.solvers import QuadraticProgram, Solution

if TYPE_CHECKING:
    from scarce.chunks import Chunks


class OneClassSVM(OneClassMachine):
    """Find the region where most of a sample lies.

    A replacement of :class:`sklearn.svm.OneClassSVM` with the same parameters, signs, scale and
    attributes, whose solver is many times faster on large samples, whose weights mean repetition,
    and which says how exact its answer is.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel. A callable takes two arrays of rows and returns the matrix of values; it is
        called on blocks of rows.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto", "neighbors"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` with rows counted by their weights, "auto" is
        ``1 / n_features``, "neighbors" twice the inverse of the median squared distance to a near
        neighbour (the fifth of many rows), if that is narrower than "scale": better at ranking, and
        for ``offset="left_out"`` only.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in LIBSVM's scale.
    nu : float, default=0.5
        At most this proportion of the training weight is rejected, and at least this proportion
        belongs to support vectors. In the interval (0, 1].
    shrinking : bool, default=True
        Accepted for compatibility; the solver chooses its active variables itself.
    cache_size : float, default=200
        Memory for kernel values in MB.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps; -1 for none.
    warm_start : bool, default=False
        Begin with the multipliers of the last fit when the number of rows is the same; a fit that
        `max_iter` ended goes on where it stopped.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows. Cost and
        memory are then linear in the number of rows, and the model has `n_components` terms.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation, and of the parts left out of many rows.
    offset : {"training", "left_out"} or None, default=None
        Whose scores set the offset: "training" rows, as in scikit-learn, of which about the
        proportion `nu` is rejected and often far more of new ones; or "left_out" rows, each scored
        by a model that has not seen it, so that about the proportion `false_alarms` of new rows of
        the class is rejected. None is "left_out" where `false_alarms` or `contamination` is given,
        else "training".
    false_alarms : float or None, default=None
        Proportion of new rows of the class that may be rejected; 0.1 for None and
        ``offset="left_out"``. From n rows no less than ``1 / (n + 1)`` is attainable.
    contamination : float or "auto", default=0.0
        Proportion of the training rows that may not belong to the class. Twice that proportion,
        the rows with the lowest held-out scores by a model with a wide kernel (a quarter of
        "scale", ``nu=0.5``), takes no part in the fit. The threshold comes from the held-out scores
        of all rows. "auto" leaves out rows that look odd to the wide kernel only, of 50 and more,
        and costs next to nothing on clean rows. Groups of equal and nearly equal rows that are odd
        when they are held out together go first, with a number and with "auto".
    max_memory : float, default=None
        Memory in MB that a fit of rows in chunks may take beside the data; a quarter of what is
        free by default. Rows in chunks are a Dask array or DataFrame, the path of Parquet files, an
        object of `scarce.chunks`, or, for a linear kernel, a memory map larger than this. They need
        ``approximation="nystroem"`` or ``kernel="linear"``.
    window : int or None, default=None
        Largest number of rows that `partial_fit` keeps, the newest; None for all.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors (of the landmark rows of an approximation).
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Their coefficients, which sum to ``nu`` times the total weight.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    left_out_scores_ : ndarray of shape (n_samples,)
        For ``offset="left_out"``: score of every row by a model without it and its equals; below
        `offset_` it is odd among the others. NaN for rows of weight 0. Of rows in chunks, scores of
        those that were left out, by parts: all but the landmarks, or 100,000 of more.
    false_alarms_ : float
        For ``offset="left_out"``: the proportion that was asked for.
    false_alarm_range_ : tuple of float
        For ``offset="left_out"``: 90 % range, approximate, of the proportion of new rows rejected.
    dropped_ : ndarray of shape (n_dropped,)
        Rows that took no part in the fit because of `contamination`.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    fit_status_ : int
        0 when the tolerance was met.
    n_iter_ : int
        Pairwise steps taken.
    objective_ : float
        Optimum of ``1/2 |w|^2 - rho + 1 / (nu n) sum of slacks``, weights of mean 1.
    dual_gap_ : float
        Relative duality gap of the solution; NaN for kernels that may be indefinite.
    kkt_violation_ : float
        Violation of the optimality conditions, to be compared with `tol`.
    n_reads_ : int
        Of a fit by chunks or of many rows with an approximation: how often all rows were read.
    history_ : dict of str to list
        Of such a fit, for every round: ``"objective"``, ``"dual_gap"``, ``"kkt_violation"``,
        ``"band_rows"`` (rows that were solved for) and ``"violators"`` (rows that joined them).
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    SVDD : A ball around the sample.
    sklearn.svm.OneClassSVM : The class this one replaces.
    sklearn.linear_model.SGDOneClassSVM : A linear one-class SVM by stochastic descent.

    Examples
    --------
    >>> from scarce import OneClassSVM
    >>> X = [[0], [0.44], [0.45], [0.46], [1]]
    >>> model = OneClassSVM(gamma="auto").fit(X)
    >>> model.predict(X)
    array([-1,  1,  1,  1, -1])
    >>> model.score_samples(X).round(3)
    array([1.78 , 2.055, 2.056, 2.056, 1.733])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        warm_start: bool = False,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
        offset: str | None = None,
        false_alarms: float | None = None,
        contamination: float | str = 0.0,
        max_memory: float | None = None,
        window: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state
        self.offset = offset
        self.false_alarms = false_alarms
        self.contamination = contamination
        self.max_memory = max_memory
        self.window = window

    _band_from: ClassVar[float] = 100_000

    def _answer_of_chunks(self, chunks: Chunks) -> Answer:
        plan = self._planned(chunks)
        mass = self.nu * plan.survey.weight
        problem = OneClassProblem(mass)
        solution = self._solved_by_bands(plan, problem, np.array([plan.survey.weight]))
        terms, largest = solution.hyperplanes.raw[0], plan.largest
        self._keep_planned(plan, terms)
        warn_if_zero(-solution.objective / mass / mass, largest / 2, plan.kernel)

        def offset() -> float:
            if self._offset_rule == "training":
                return float(plan.offsets(solution, problem, np.array([self.nu]))[0])
            left_out = import_module("scarce.held_out").left_out_by_chunks
            margin = -float(solution.multipliers[0])
            scores, weights, reads = left_out(self, plan, margin)
            self._count_reads(reads)
            return self._keep_left_out(scores, weights, np.arange(scores.size))

        def rounding() -> float:
            if plan.landmarks is not None:
                return self._score_rounding(terms, largest)
            # One inner product with the weight vector.
            return rounding_error(np.array([np.linalg.norm(terms)]), np.sqrt(largest))

        return Answer(solution, solution.primal_objective / mass / mass, offset, rounding)

    def _program(self, sample: Sample) -> QuadraticProgram:
        return one_class_program(sample.operator, nu=self.nu, weights=sample.weights)

    def _read(
        self, program: QuadraticProgram, solution: Solution, sums: Array | None, largest: float
    ) -> OneClassModel:
        model = read_one_class(program, solution, sums)
        mass = float(program.totals[0])
        warn_if_zero(-solution.objective / mass / mass, largest / 2, self._fitted_kernel())
        return model

    def _score_rounding(self, terms: Array, largest: float) -> float:
        return self._boundary_rounding(terms, largest, self.offset_, self._boundary_share)
