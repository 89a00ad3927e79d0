"""The band fit: only rows near the boundary are solved for, all others act as one vector.

Outside a band around the boundary every dual variable sits at a bound. The rows there enter the
program of the band through the sum of their features, a linear term, and through their count,
which lowers the totals. The partition is frozen: a row that turns out to be on the wrong side is
taken out of the sum and joins the band for good, so that the objective falls with every round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from scarce._arrays import Array
from scarce._core import AT_BOUND, ROUNDED_OBJECTIVE
from scarce.chunks._chunks import ChunkError, Chunks
from scarce.chunks._features import Features
from scarce.chunks._passes import (
    Hyperplanes,
    Judged,
    Partition,
    RowSet,
    collect,
    joined_sets,
    judge,
)
from scarce.chunks._smooth import first_window, narrow
from scarce.chunks._start import Solver, Start, band_program, group_vectors, mixed_vectors
from scarce.reductions import Problem, Terms
from scarce.solvers import Solution, feasible_start

MOST_ROUNDS = 40
MOST_PARTITIONS = 10
GAP_SHARE = 0.3  # of the gap allowed, that the band alone may take
VIOLATION_SHARE = 0.4  # of the violation allowed
FEW = 1000  # violators that a new partition would not be worth
WIDER = 4.0  # band where the rows of one cannot make up for what the others lack
WINDOWS = 2.0  # widths of a band, from a window
GUESS = 0.02  # share of a band's width within which the first guess has variables off their bounds


@dataclass(frozen=True)
class BandSolution:
    """Answer of `band_fit`."""

    # (n_groups, width): ``sum of y alpha`` times raw numbers, by group, over all rows
    vectors: Array
    hyperplanes: Hyperplanes  # the model
    objective: float  # of the whole program, ``1/2 a'Qa + p'a``
    # the primal problem's value over all rows, at the hyperplanes and multipliers
    primal_objective: float
    # dual_gap, kkt_violation: the certificate, over all rows in float64
    dual_gap: float
    kkt_violation: float
    n_iter: int  # pairwise steps
    status: Literal["optimal", "max_iter", "stopped", "stalled"]  # as of `scarce.solvers.Solution`
    band: RowSet  # the rows that were solved for
    alpha: Array  # their dual variables
    settled: Array  # (n_groups,): what the other rows contribute to the totals
    scores: Array  # scores of the band's rows
    highest: Array  # (n_groups,): largest score of each group's rows
    reads: int  # passes over all rows
    # for every round: objective, gap, violation, rows in the band, violators
    history: dict[str, list[float]] = field(default_factory=dict)
    relative_infeasibility: ClassVar[float] = 0.0  # the band's own solver has judged it
    negative_curvature: ClassVar[bool] = False  # a linear kernel of features has none

    @property
    def multipliers(self) -> Array:
        """Of the equalities."""
        return self.hyperplanes.multipliers


@dataclass
class Settled:
    """What rows outside the band add up to, and how many there are by the frozen model."""

    vectors: Array
    counts: Array
    linear: float
    seen: list[tuple[int, int]]

    def without(self, judged: list[Judged]) -> Settled:
        """Take out the violators that were at their bounds."""
        vectors, counts, linear = self.vectors.copy(), self.counts.copy(), self.linear
        for each in judged:
            vectors -= each.sums[0]
            counts -= each.sums[1]
            linear -= each.sums[2]
        return Settled(vectors, counts, linear, self.seen)


def band_fit(
    chunks: Chunks,
    problem: Problem,
    features: Features,
    start: Start,
    solver: Solver,
    *,
    tol: float,
    most_rows: int,
    report: Callable[[str], None] | None = None,
) -> BandSolution:
    """Solve a problem of low rank over rows in chunks.

    ``problem``: what every row brings to the program. ``start``: a model to begin with. ``solver``:
    ``solver(program, start, tol)`` solves a program; `scarce.solvers.solve` in the end. ``tol``:
    goal for the violation of the optimality conditions and for the relative duality gap.
    ``most_rows``: rows that the band may have. ``report``: is given a line on how far the fit is.
    Returned: model and certificate.
    """
    return _BandFit(chunks, problem, features, solver, tol, most_rows, report).run(start)


class _BandFit:
    def __init__(
        self,
        chunks: Chunks,
        problem: Problem,
        features: Features,
        solver: Solver,
        tol: float,
        most_rows: int,
        report: Callable[[str], None] | None,
    ) -> None:
        self.chunks, self.problem, self.features = chunks, problem, features
        self.solver, self.tol, self.most_rows = solver, tol, most_rows
        self.report = report
        self.n_groups = problem.totals.size
        self.reads = self.steps = 0
        names = ("objective", "dual_gap", "kkt_violation", "band_rows", "violators")
        self.history: dict[str, list[float]] = {name: [] for name in names}

    def _tell(self, line: str) -> None:
        if self.report is not None:
            self.report(line)

    # Partitions.

    def _collect(self, partition: Partition) -> tuple[Settled, RowSet]:
        """Freeze a partition; narrow it first while the band is too large to be held."""
        for _ in range(MOST_PARTITIONS):
            parts = self.chunks.map(collect, self.problem, self.features, partition, self.most_rows)
            self.reads += 1
            n_band = sum(part.n_band for part in parts)
            self._tell(f"band of {n_band} rows, width {np.max(partition.widths):.3g}")
            if n_band > self.most_rows:
                partition = self._narrowed(partition, n_band)
                continue
            settled = Settled(
                sum(part.vectors for part in parts),
                sum(part.counts for part in parts),
                sum(part.linear for part in parts),
                [(part.n_band, part.n_upper) for part in parts],
            )
            band = joined_sets([part.band for part in parts])
            if self._feasible(settled, band):
                self.partition = partition
                return settled, band
            partition = Partition(partition.hyperplanes, WIDER * partition.widths)
        raise ValueError(
            f"no band of at most {self.most_rows} rows holds all rows near the boundary (the last "
            f"one had {n_band}): raise max_memory, use fewer components, or fit a sample of the "
            "rows"
        )

    def _narrowed(self, partition: Partition, n_band: int) -> Partition:
        """Return a partition of a better model, with a band of fewer rows."""
        share = 0.5 * self.most_rows / n_band
        found = narrow(
            self.chunks,
            self.problem,
            self.features,
            (self._vectors_of(partition.hyperplanes), partition.hyperplanes.multipliers),
            first_window(partition.widths),
        )
        self.reads += found.reads
        hyperplanes = Hyperplanes(self.features.to_raw(found.vectors), found.multipliers)
        return Partition(hyperplanes, np.minimum(WINDOWS * found.window, share * partition.widths))

    def _vectors_of(self, hyperplanes: Hyperplanes) -> Array:
        """Return the hyperplanes in features whose raw form is given."""
        unit = self.features.to_raw(np.eye(self.features.rank))
        return np.asarray(np.linalg.lstsq(unit.T, hyperplanes.raw.T, rcond=None)[0].T)

    def _feasible(self, settled: Settled, band: RowSet) -> bool:
        """Say whether the band's rows can make up for what the others lack."""
        missing = self.problem.totals - settled.counts
        terms = band.terms
        ends = [
            np.bincount(
                terms.groups, np.where(terms.signs == sign, sign * terms.upper, 0.0), self.n_groups
            )
            for sign in (-1.0, 1.0)
        ]
        room = 1e-12 * (np.abs(self.problem.totals) + np.abs(settled.counts))
        return bool((ends[0] <= missing + room).all() and (missing <= ends[1] + room).all())

    # Rounds.

    def run(self, start: Start) -> BandSolution:
        """Freeze, solve, judge; again with the violators until the certificate is met."""
        hyperplanes = Hyperplanes(self.features.to_raw(start.vectors), start.multipliers)
        settled, band = self._collect(Partition(hyperplanes, start.widths))
        scale = start.objective
        alpha, share, partitions = None, 1.0, 1
        solution: BandSolution | None = None
        for _ in range(MOST_ROUNDS):
            raw = self.features.raw(band.X)
            rows = self.features.from_raw(raw)
            held = self.features.from_raw(settled.vectors), settled.counts
            program = band_program(self.problem, rows, band.terms, held)
            guess = self._guess(band, raw) if alpha is None else alpha
            own = max(float(band.terms.upper.sum()), np.finfo(float).tiny)
            inner = min(VIOLATION_SHARE * self.tol, GAP_SHARE * self.tol * scale / own)
            answer = self.solver(program, feasible_start(program, guess), share * inner)
            self.steps += answer.n_iter
            solution, judged = self._judge(settled, band, (raw, rows), answer)
            scale = abs(solution.objective)
            n_violators = sum(each.n_violators for each in judged)
            self._tell(
                f"read {self.reads}: gap {solution.dual_gap:.3g}, violation "
                f"{solution.kkt_violation:.3g}, band {band.size}, violators {n_violators}"
            )
            if solution.status != "stalled":
                return solution
            if n_violators == 0:
                if answer.status == "stalled" or share < 1e-6:
                    return solution  # rounding allows no more
                share *= 0.1
                alpha = answer.alpha
                continue
            if n_violators > max(band.size, FEW) and partitions < MOST_PARTITIONS:
                partitions += 1
                widths = self.partition.widths
                settled, band = self._collect(Partition(solution.hyperplanes, widths))
                alpha = None
                continue
            found = joined_sets([each.violators for each in judged])
            at_bound = np.concatenate([each.at_bound for each in judged])
            settled = settled.without(judged)
            alpha = np.concatenate([answer.alpha, np.where(at_bound, found.terms.upper, 0.0)])
            band = joined_sets([band, found])
            if band.size > 2 * self.most_rows:
                return solution
        assert solution is not None
        return solution

    def _guess(self, band: RowSet, raw: Array) -> Array:
        """Return dual variables that fall with the frozen model's reduced gradient, steeply.

        At an optimum hardly more of them are within their bounds than there are features.
        """
        s = self.partition.hyperplanes.reduced(raw, band.terms)
        widths = GUESS * self.partition.widths
        width = np.maximum(widths[band.terms.groups], np.finfo(float).tiny)
        share = np.clip(0.5 - 0.5 * s / width, 0.0, 1.0)
        return np.asarray(band.terms.upper * share)

    def _judge(
        self, settled: Settled, band: RowSet, values: tuple[Array, Array], answer: Solution
    ) -> tuple[BandSolution, list[Judged]]:
        """Judge an answer by all rows. ``values``: raw numbers and features of the band's rows."""
        raw, rows = values
        problem, terms = self.problem, band.terms
        vectors = self.features.from_raw(settled.vectors)
        vectors = vectors + group_vectors(rows, terms, answer.alpha, self.n_groups)
        own = mixed_vectors(problem, vectors)
        hyperplanes = Hyperplanes(self.features.to_raw(own), answer.multipliers)
        members = np.sort(band.ids)
        judged = self.chunks.map(
            judge,
            problem,
            self.features,
            self.partition,
            hyperplanes,
            members,
            max(FEW, band.size // len(self.chunks.sizes)),
        )
        self.reads += 1
        for index, (each, seen) in enumerate(zip(judged, settled.seen, strict=True)):
            if (each.n_band, each.n_upper) != seen:
                raise ChunkError(
                    f"chunk {index} is not what it was at an earlier read: {seen} rows in the band "
                    f"and at their bounds then, {(each.n_band, each.n_upper)} now. Do the rows "
                    "change while they are read?"
                )
        s = Hyperplanes(own, answer.multipliers).reduced(rows, terms)
        linear = settled.linear + float(terms.linear @ answer.alpha)
        coupled = problem.coupling @ vectors
        quadratic = float(np.vdot(vectors, coupled))
        objective = 0.5 * quadratic + linear
        slack = sum(each.slack for each in judged)
        # The gap twice: as the primal minus the dual value over all rows, and term by term, where
        # nothing cancels. They differ by rounding.
        primal = 0.5 * quadratic + slack + float(hyperplanes.multipliers @ problem.totals)
        plain = abs(primal + objective)
        inside = float(answer.alpha @ s + terms.upper @ np.maximum(-s, 0.0))
        gap = max(plain, inside + sum(each.wrong for each in judged))
        relative = self._relative(gap, objective, rows, settled, band, answer.alpha)
        violation = self._violation(terms, answer.alpha, s, hyperplanes, judged)
        met = relative <= self.tol and violation <= self.tol
        self.history["objective"].append(objective)
        self.history["dual_gap"].append(relative)
        self.history["kkt_violation"].append(violation)
        self.history["band_rows"].append(float(band.size))
        self.history["violators"].append(float(sum(each.n_violators for each in judged)))
        status: Literal["optimal", "max_iter", "stopped", "stalled"] = "stalled"
        if met:
            status = "optimal"
        elif answer.status in ("max_iter", "stopped"):
            status = answer.status
        solution = BandSolution(
            settled.vectors + group_vectors(raw, terms, answer.alpha, self.n_groups),
            hyperplanes,
            objective,
            primal,
            relative,
            violation,
            self.steps,
            status,
            band,
            answer.alpha,
            settled.counts,
            Hyperplanes(own, hyperplanes.multipliers).scores(rows, terms.groups),
            np.max([each.highest for each in judged], axis=0),
            self.reads,
            self.history,
        )
        return solution, judged

    def _relative(
        self,
        gap: float,
        objective: float,
        rows: Array,
        settled: Settled,
        band: RowSet,
        alpha: Array,
    ) -> float:
        """Return the gap relative to the objective, or to its terms if that is zero to rounding.

        An optimum of zero (the origin inside the hull) is only known up to rounding of its terms.
        """
        largest = float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0))
        mass = float(np.abs(settled.counts).sum() + alpha.sum())
        terms = largest * mass * float(band.terms.upper.max(initial=0.0))
        size = max(abs(objective), abs(objective - gap))
        if abs(objective) <= ROUNDED_OBJECTIVE * terms:
            size = terms
        return gap / size if size > 0 else gap

    def _violation(
        self,
        band: Terms,
        alpha: Array,
        s: Array,
        hyperplanes: Hyperplanes,
        judged: list[Judged],
    ) -> float:
        """Return ``max over groups of m_g - M_g`` over all rows."""
        wanted = band.wanted_multipliers(s, hyperplanes.multipliers)
        room = AT_BOUND * band.upper
        low, high = alpha > room, alpha < band.upper - room
        positive = band.signs > 0
        grows = np.max([each.grows for each in judged], axis=0)
        shrinks = np.min([each.shrinks for each in judged], axis=0)
        up, down = np.where(positive, high, low), np.where(positive, low, high)
        np.maximum.at(grows, band.groups[up], wanted[up])
        np.minimum.at(shrinks, band.groups[down], wanted[down])
        return float(max(0.0, np.max(grows - shrinks)))
