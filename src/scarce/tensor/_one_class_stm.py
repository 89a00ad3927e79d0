"""One-class support tensor machine (docs/theory/tensor_machines.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, checked_weights, fit_frame
from scarce._predictions import OneClassPredictions, on_boundary, rounding_error
from scarce.held_out import HeldOutOffset, left_out_parts, scores_by_parts
from scarce.kernels import distinct_rows
from scarce.parallel import single_threaded_blas
from scarce.reductions import OneClassHalfStep
from scarce.solvers import one_class_offset
from scarce.tensor._contractions import Tensors, full_tensor
from scarce.tensor._machine import TensorMachine
from scarce.tensor._mode_sweeps import Fit, ModeSweeps
from scarce.tensor._starts import N_RESTARTS, Factors
from scarce.tensor._vectors import are_safe, padded, unit_rows

SOFTENED = 8  # steps of nu from 1 down, where every other start leads to zero


class OneClassSTM(HeldOutOffset, OneClassPredictions, OutlierMixin, TensorMachine):
    """Find the half-space where a sample of matrices or tensors lies, with weights of low rank.

    ``<W, X> >= rho`` for almost all samples, far from the origin, where the weight tensor
    ``W = sum_r u_r^(1) o ... o u_r^(N)`` has ``rank`` terms. A matrix of n1 x n2 then has n1 + n2
    weights to learn per term instead of n1 n2, which is the point when samples are few.

    The problem is not convex: one mode's factor is solved for at a time, each time a one-class SVM,
    and the objective never rises. Different starts may end in different models; see `n_init`.

    Data must not be centred: with the origin among the samples there is nothing to be found.

    Choose it for weights that can be read, and for a few noisy samples of a pattern of low rank. An
    RBF model on the pixels, ``OneClassSVM(gamma="neighbors")``, ranks images better.

    Parameters
    ----------
    nu : float, default=0.1
        Proportion of the training weight that may be rejected. In the interval (0, 1]. Every `nu`
        up to ``1 / n_samples`` is the same model, a hard margin: nothing is rejected.
        `hard_margin_` says so; one such value is enough in a grid.
    tensor_shape : tuple of int, "auto" or None, default=None
        For `X` given as rows: the shape they take, filled up with zeros and read row by row. "auto"
        is a square just large enough, None leaves rows as they are, a linear one-class SVM. Padding
        and the order of the features have an effect on the model.
    rank : int, default=3
        Number of terms of the weight tensor, at most what the modes allow: the smaller size of a
        matrix. Rank 1 is the paper's.
    normalize : bool, default=True
        Divide every sample by its Frobenius norm, so that brightness or loudness has no effect. A
        sample of zeros is then rejected. The paper does not.
    offset : {"left_out", "training"}, default="left_out"
        Whose scores set the offset: those of samples left out, each by a model that has not seen
        it, so that about the proportion `false_alarms` of new samples is rejected; or the training
        samples', as in the paper, of which about the proportion `nu` is rejected.
    false_alarms : float, default=0.1
        Proportion of new samples of the class that may be rejected, for ``offset="left_out"``.
        From n samples no less than ``1 / (n + 1)`` is attainable.
    order : {"C", "F"}, default="C"
        How rows are read into `tensor_shape`: the last mode fastest, or the first, as MATLAB does.
    n_init : int, default=1
        Number of starts, the best model is kept. The first is the paper's, ones, and for a higher
        rank the leading singular vectors of the sum of the samples; the others are random.
    tol : float, default=1e-6
        Stop when a sweep over all modes, whichever was the first, changes the objective by no more
        than this proportion. Near the optimum the objective changes with the square of the
        distance: weights may be off by the root of `tol`, and below about 1e-13 rounding errors of
        the objective decide, which leaves about 1e-7.
    max_iter : int, default=100
        Largest number of sweeps.
    stop : {"relative", "paper"}, default="relative"
        "paper" stops when the first factor moves by no more than `tol`. That rule depends on the
        scale of the data; it is there for comparison.
    random_state : int, RandomState instance or None, default=None
        Random starts. None is a fixed seed.

    Attributes
    ----------
    factors_ : list of ndarray of shape (d_m, rank)
        Factors of each mode, the norm of a term shared out evenly.
    coef_ : ndarray of shape `tensor_shape_`
        The weight tensor; `weights_` is another name for it.
    tensor_shape_ : tuple of int
        Shape of a sample.
    offset_ : ndarray of shape (1,)
        ``decision_function = score_samples - offset_``.
    left_out_scores_ : ndarray of shape (n_samples,)
        For ``offset="left_out"``: score of every sample by a model without it and its equals; below
        `offset_` it is odd among the others. NaN for samples of weight 0.
    false_alarm_range_ : tuple of float
        For ``offset="left_out"``: 90 % range, approximate, of the proportion of new samples
        rejected.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    support_ : ndarray of shape (n_SV,)
        Indices of the samples with a multiplier in the last half-step.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their multipliers; the sum is 1.
    hard_margin_ : bool
        Whether `nu` is so small that any smaller one gives the same model.
    objective_ : float
        ``1/2 |W|^2 - rho + 1 / (nu n) sum of slacks``.
    history_ : dict of list
        Per half-step: "objective", "mode", "change" (of the weight tensor since the sweep before,
        relative), "n_iter" (pairwise steps).
    converged_ : bool
        Whether the stop rule was met.
    n_iter_ : int
        Number of sweeps; the last may end with any mode.
    dual_gap_ : float
        Relative duality gap of the last half-step.
    kkt_violation_ : float
        Violation of the optimality conditions in the last half-step, relative to the objective.
    fit_status_ : int
        0 when the stop rule was met and `kkt_violation_` and `dual_gap_` are within `tol`.
    n_features_in_ : int
        Size of the first mode seen during fit; for rows, the number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when `X` has any.

    See Also
    --------
    STM : The model for two classes.
    OneClassSVM : The model for vectors, with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import OneClassSTM
    >>> random = np.random.default_rng(0)
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 1.0]) + 0.1 * random.normal(size=(8, 3, 2))
    >>> model = OneClassSTM(false_alarms=0.2).fit(X)
    >>> model.coef_.shape
    (3, 2)
    >>> model.predict([[[1, 1], [2, 2], [3, 3.2]], [[3, 3], [2, 2], [1, 1]]])
    array([ 1, -1])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **TensorMachine._allowed_values,
        **HeldOutOffset._allowed_values,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "normalize": ["boolean"],
        "offset": [StrOptions({"left_out", "training"})],
        "order": [StrOptions({"C", "F"})],
    }
    _trivial: ClassVar[str] = (
        "The solution is trivial: the origin lies among the samples, so that the weights are zero "
        "and every decision is 0. Do not centre the data."
    )
    _all_starts_degenerate: ClassVar[str] = (
        "the weights are zero for every start tried (singular vectors, a path of smaller and "
        f"smaller nu from 1 on, {N_RESTARTS} random ones): seen through its factors, the origin "
        "lies among the samples of X. Do not centre the data, or use a larger nu or a higher rank."
    )

    def __init__(
        self,
        *,
        nu: float = 0.1,
        tensor_shape: Any = None,
        rank: int = 3,
        normalize: bool = True,
        offset: str = "left_out",
        false_alarms: float = 0.1,
        order: str = "C",
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 100,
        stop: str = "relative",
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.tensor_shape = tensor_shape
        self.rank = rank
        self.normalize = normalize
        self.offset = offset
        self.false_alarms = false_alarms
        self.order = order
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.random_state = random_state

    @fit_frame
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the half-space.

        Parameters
        ----------
        X : array-like of shape (n_samples, d1, ..., dN) or (n_samples, n_features)
            The sample; for rows see `tensor_shape`. Arrays of float32 and float64 and memory maps
            are not copied.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a sample of weight 2 is the same as the sample given twice, and a sample of
            weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        flat = self._in_order(X, reset=True)
        squares = self._squared_norms(flat)
        weights = checked_weights(sample_weight, flat)
        rows = np.flatnonzero(weights)
        weights = weights[rows]
        tensors = self._tensors(flat, squares, rows)
        problem = OneClassHalfStep(self.nu, weights, tensors.norm)
        fit = self._search(tensors, problem)
        self._keep(fit, problem, rows)
        self._forget_left_out()
        offset = _margin(fit, problem, weights)
        if self.offset == "left_out":
            if self._by_norm:
                flat = unit_rows(flat)
            offset = self._left_out_threshold(flat, rows, weights, fit, offset)
        self.offset_ = np.array([offset])
        self.intercept_ = -self.offset_
        self._rounding = rounding_error(self.dual_coef_, problem.objective_scale)
        # Dual variables sum to one, so that boxes of one or more cannot bind.
        self.hard_margin_ = bool(weights.min() >= self.nu * weights.sum() * (1 - 1e-12))
        return self

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Return checked samples as rows, in the order of the tensor and of norm one if asked."""
        rows = self._in_order(X, reset=reset)
        return unit_rows(rows) if self._by_norm else rows

    def _in_order(self, X: Any, *, reset: bool) -> Array:
        """Return checked samples as rows, in the order of the tensor."""
        rows: Array = super()._validated(X, reset=reset)
        if self._column_order == "F":
            rows = padded(rows, self.tensor_shape_, order="F").reshape(rows.shape[0], -1)
        return rows

    def _divided(self, rows: Array, squares: Array) -> Tensors:
        """Return rows as tensors of norm one, if asked, without dividing the data where it can."""
        if not self._by_norm:
            return super()._divided(rows, squares)
        if are_safe(squares):
            return Tensors(rows, self.tensor_shape_, lengths=np.sqrt(squares))
        units = unit_rows(rows)
        return super()._divided(units, self._squared_norms(units))

    @property
    def _column_order(self) -> Literal["C", "F"]:  # type: ignore[override]
        """The order matters for rows that are cut into tensors, not for tensors as given."""
        are_cut = len(self._sample_shape) == 1 and len(self.tensor_shape_) > 1
        return "F" if self.order == "F" and are_cut else "C"

    @property
    def _by_norm(self) -> bool:  # type: ignore[override]
        """Whether samples are divided by their norms; nothing but a sign is left of one cell."""
        return self.normalize and self.tensor_shape_ != (1,)

    # Left-out scores.

    def _left_out_threshold(
        self, flat: Array, rows: Array, weights: Array, full: Fit, margin: float
    ) -> float:
        """Return the offset from the scores of samples left out."""
        first, members = distinct_rows(flat[rows])
        self._check_left_out_rows(first.size)
        distinct, masses = flat[rows[first]], np.bincount(members, weights)
        squares = self._squared_norms(distinct)
        member_of = np.full(flat.shape[0], -1)
        member_of[rows] = members
        scores = scores_by_parts(
            lambda part: self._scores_without(distinct, squares, masses, part, full),
            first.size,
            left_out_parts(first.size, self.random_state),
            margin,
        )
        return self._keep_left_out(scores, masses, member_of)

    def _scores_without(
        self, flat: Array, squares: Array, weights: Array, part: Array, full: Fit
    ) -> tuple[Array, float]:
        """Return the scores of some samples by the model of the others, and its margin."""
        rest = np.setdiff1d(np.arange(weights.size), part)
        try:
            tensors = self._tensors(flat, squares, rest)
        except ValueError:  # all others are zero, and so are the weights
            return np.zeros(part.size), 0.0
        # The bounds stay, unless the others cannot carry the mass with them.
        nu = min(1.0, self.nu * float(weights.sum() / weights[rest].sum()))
        problem = OneClassHalfStep(nu, weights[rest], tensors.norm)
        with single_threaded_blas:
            sweeps = self._sweeps(tensors, problem, None)
            fit = sweeps.run(full.factors)
            if fit.degenerate and tensors.order > 1:
                fit = self._best(tensors, sweeps, allow_zero=True)
        if not (fit.converged or fit.degenerate):
            self._note_early_ends()
        weight_vector = full_tensor(fit.factors, fit.scales * problem.weight_scale).reshape(-1)
        scores = np.asarray(flat[part] @ weight_vector[: flat.shape[1]], dtype=np.float64)
        return scores, _margin(fit, problem, weights[rest])

    def _softened(self, sweeps: ModeSweeps, start: Factors) -> Iterator[Factors]:
        """Return where a path of smaller and smaller nu leads, which begins at the samples' mean.

        With nu = 1 the weights are those of the mean, and a little less gives a little other ones.
        """
        problem = sweeps.problem
        assert isinstance(problem, OneClassHalfStep)
        for nu in np.geomspace(1.0, problem.nu, SOFTENED, endpoint=False):
            fit = replace(sweeps, problem=replace(problem, nu=float(nu))).run(start)
            if fit.degenerate:
                return
            start = fit.factors
        yield start

    def _scores_inside(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        scores = self._scores_of(rows)
        if self._by_norm:
            # A sample of nothing is unlike any other: no sample of norm one has a lower score.
            scores[~rows.any(axis=1)] = -np.linalg.norm(self.coef_)
        return on_boundary(scores, self.offset_, self._rounding)


def _margin(fit: Fit, problem: OneClassHalfStep, weights: Array) -> float:
    """Return the offset of the training samples, whose scores are the last half-step's gradient."""
    return one_class_offset(fit.solution.gradient * problem.objective_scale, problem.cost, weights)
