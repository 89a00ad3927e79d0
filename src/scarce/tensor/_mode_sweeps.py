"""One mode's factor at a time, the others held: a convex half-step each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels import make_kernel, make_operator
from scarce.reductions import HalfStep
from scarce.solvers import DenseMatrix, QuadraticProgram, Solution
from scarce.tensor._contractions import Tensors, inner_products, inverse_root
from scarce.tensor._starts import Factors

Solve = Callable[[QuadraticProgram, Array | None], Solution]

DEGENERATE = 1e-6  # weights below this share of what they could be: its square is rounding
STORED_UP_TO = 512  # rows up to which the matrix of inner products is stored


@dataclass
class Fit:
    """Where a start led; factors have columns of norm one and tensors a largest norm of one.

    ``kkt_violation`` and ``dual_gap`` are those of the last half-step, or of the one kept if that
    is worse.
    """

    factors: Factors
    scales: Array  # norms of the rank-one terms
    coefficients: Array  # of the samples
    objective: float
    program: QuadraticProgram
    solution: Solution
    kkt_violation: float
    dual_gap: float
    degenerate: bool = False
    converged: bool = False
    n_sweeps: int = 0
    history: dict[str, list[Any]] = field(
        default_factory=lambda: {"objective": [], "mode": [], "change": [], "n_iter": []}
    )


@dataclass(frozen=True)
class ModeSweeps:
    """Half-steps for modes 2..N, then 1, and again, until one for every mode changes nothing."""

    tensors: Tensors  # the sample
    problem: HalfStep  # program and value of a half-step
    solve: Solve  # ``solve(program, start)``, to a tolerance near rounding errors
    tol: float  # the stop rule's
    max_iter: int  # largest number of sweeps
    # "relative": in half-steps of all modes, whichever was the first, the objective changes by no
    # more than `tol` of itself. "paper": in a sweep the first factor, its length as the iteration
    # gives it, moves by no more than `tol`.
    stop: str = "relative"

    def run(self, start: Factors) -> Fit:
        """Return what a start leads to."""
        order = self.tensors.order
        # Lengths as the iteration without rescaling would give them, for the paper's rule alone.
        lengths = [np.linalg.norm(factor, axis=0) for factor in start]
        factors = [factor / length for factor, length in zip(start, lengths, strict=True)]
        fit: Fit | None = None
        earlier: list[tuple[Factors, Array]] = []  # after each half-step
        last = factors
        for sweep in range(1, self.max_iter + 1):
            first = factors[0] * lengths[0]
            ahead, last = self._ahead(factors, last, sweep), factors
            for mode in [*range(1, order), 0]:
                found = None if ahead is None else self._half_step(ahead, mode, fit)
                ahead = None
                if found is None or found is fit:  # a step too long is no improvement
                    found = self._half_step(factors, mode, fit)
                fit = found
                factors = fit.factors
                if self.stop == "paper":
                    lengths[mode] = self._length(fit, lengths, mode)
                earlier.append((factors, fit.scales))
                self._record(fit, mode, earlier)
                fit.n_sweeps = sweep
                if fit.degenerate or fit.solution.status == "stopped":
                    return fit
                fit.converged = order == 1 or self._is_settled(fit.history["objective"])
                if fit.converged:
                    return fit
            assert fit is not None
            if self.stop == "paper":
                moved = np.linalg.norm(factors[0] * lengths[0] - first)
                fit.converged = bool(moved <= self.tol)
                if fit.converged:
                    break
        assert fit is not None
        return fit

    def _is_settled(self, values: list[float]) -> bool:
        """Say whether the last half-step of every mode, together, have changed nothing."""
        order = self.tensors.order
        if self.stop != "relative" or len(values) <= order:
            return False
        return abs(values[-1] - values[-1 - order]) <= self.tol * abs(values[-1])

    def _length(self, fit: Fit, lengths: list[Array], mode: int) -> Array:
        """Return what is left of the terms' norms for one mode, given the lengths of the others."""
        others = np.prod([length for m, length in enumerate(lengths) if m != mode], axis=0)
        whole = fit.scales * self.problem.weight_scale
        return np.asarray(np.divide(whole, others, out=np.zeros_like(whole), where=others > 0))

    def _ahead(self, factors: Factors, last: Factors, sweep: int) -> Factors | None:
        """Return where the last sweep led, and further: terms alike make for many short steps.

        The length of the step is that of R. Bro's line search. Rank one is the paper's iteration.
        """
        if sweep < 3 or factors[0].shape[1] == 1 or self.stop != "relative":
            return None
        length = sweep ** (1.0 / self.tensors.order)
        moved = [now + length * (now - old) for now, old in zip(factors, last, strict=True)]
        norms = [np.linalg.norm(factor, axis=0) for factor in moved]
        if not all(norm.all() for norm in norms):  # a column was turned round, and ends at nothing
            return None
        return [factor / norm for factor, norm in zip(moved, norms, strict=True)]

    def _half_step(self, factors: Factors, mode: int, last: Fit | None) -> Fit:
        """Solve for the factor of one mode; the last fit stays where that is no improvement."""
        root = inverse_root(factors, mode)
        contracted = self.tensors.contract(factors, mode).reshape(-1, len(root))
        # With one column the product is one by a number, for which BLAS has no call.
        turned = contracted * root if root.size == 1 else contracted @ root
        rows = turned.reshape(self.tensors.n, -1)
        gram = _gram(rows)
        program = self.problem.program(gram) if last is None else last.program.with_kernel(gram)
        solution = self.solve(program, None if last is None else last.solution.alpha)
        model = self.problem.read(solution, gram)
        if last is not None and not model.objective < last.objective:
            # Nothing to be gained beyond rounding errors, or the solver failed: then it is said.
            last.kkt_violation = max(last.kkt_violation, model.kkt_violation)
            last.dual_gap = max(last.dual_gap, model.dual_gap)
            return last
        total = float(solution.alpha.sum())
        combined = (model.coefficients @ rows).reshape(-1, root.shape[1])
        size = float(np.linalg.norm(combined / total)) if total > 0 else 0.0
        factor = combined @ root.T
        scales = _lengths(factor)
        used = scales > 0  # a term without weight keeps its direction
        factor = np.where(used, factor / np.where(used, scales, 1.0), factors[mode])
        fit = Fit(
            factors=[factor if m == mode else other for m, other in enumerate(factors)],
            scales=scales,
            coefficients=model.coefficients,
            objective=model.objective,
            program=program,
            solution=solution,
            kkt_violation=model.kkt_violation,
            dual_gap=model.dual_gap,
            degenerate=size <= DEGENERATE,
        )
        if last is not None:
            fit.history = last.history
        return fit

    def _record(self, fit: Fit, mode: int, earlier: list[tuple[Factors, Array]]) -> None:
        order = self.tensors.order
        old = earlier.pop(0) if len(earlier) > order else None
        entry = (
            fit.objective * self.problem.objective_scale,
            mode,
            _change(fit.factors, fit.scales, old),
            fit.solution.n_iter,
        )
        for values, value in zip(fit.history.values(), entry, strict=True):
            values.append(value)


def _gram(rows: Array) -> Any:
    """Return the inner products of the rows, stored when there are few."""
    if len(rows) <= STORED_UP_TO:
        return DenseMatrix(rows @ rows.T, definite=True, name="linear")
    return make_operator(rows, make_kernel("linear"))


def _lengths(factor: Array) -> Array:
    """Return the norms of the columns, of numbers whose squares may underflow."""
    largest = float(np.abs(factor).max())
    return np.asarray(largest * np.linalg.norm(factor / (largest or 1.0), axis=0))


def _change(factors: Factors, scales: Array, old: tuple[Factors, Array] | None) -> float:
    """Return ``|W - W'| / |W|`` from inner products of the factors; 1 when there is no ``W'``."""
    square = scales @ inner_products(factors, factors) @ scales
    if old is None or square == 0:
        return 1.0
    mixed = scales @ inner_products(factors, old[0]) @ old[1]
    other = old[1] @ inner_products(old[0], old[0]) @ old[1]
    return float(np.sqrt(max(square + other - 2.0 * mixed, 0.0) / square))
