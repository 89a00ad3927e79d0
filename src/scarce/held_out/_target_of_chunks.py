"""Held-out scores of a target whose sources' rows stay in chunks.

Of a fit by bands the sources leave a vector and a count each, and the rows of their band. A fit
without some of the target's rows begins there: the target's rows and the sources' band are solved
for again, the vectors stay. One more read of all rows gives every such fit its duality gap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import BAND_CACHE, Plan
from scarce.chunks import BandSolution, LinearFeatures, Part, landmark_features
from scarce.chunks._features import Features
from scarce.chunks._passes import Hyperplanes
from scarce.chunks._start import band_program, group_vectors, mixed_vectors
from scarce.held_out._programs import scores_by_parts
from scarce.reductions import TaskProblem, Terms
from scarce.solvers import feasible_start, solve


class LeftOutOfChunks:
    """Fits without some rows of the target.

    ``plan``, ``problem``, ``solution``: those of the fit of all rows. ``members``: set of equal
    rows that each of them is of. ``estimator``: whose tolerance and limits are used. ``solved``:
    whether every fit so far is within the tolerance over all rows. ``reads``: passes over all rows.
    """

    def __init__(
        self,
        plan: Plan,
        problem: TaskProblem,
        solution: BandSolution,
        target: Part,
        members: Array,
        estimator: Any,
    ) -> None:
        self.plan, self.problem, self.solution = plan, problem, solution
        self.target, self.members, self.estimator = target, members, estimator
        self.solved, self.reads = True, 0
        band, n_groups = solution.band, problem.totals.size
        raw = plan.features.raw(band.X)
        own = group_vectors(raw, band.terms, solution.alpha, n_groups)
        self.vectors, self.counts = solution.vectors - own, solution.settled.copy()
        self.vectors[0], self.counts[0] = 0.0, 0.0
        keep = np.flatnonzero(band.terms.groups > 0)
        self.sources, self.source_X = band.terms.rows(keep), band.X[keep]
        self.source_alpha = solution.alpha[keep]
        self.terms = problem.terms(target.weights, target.values)
        self.alpha = self._target_alpha()

    def _target_alpha(self) -> Array:
        """Return about what dual variables the target's rows have."""
        raw = self.plan.features.raw(self.target.X)
        s = self.solution.hyperplanes.reduced(raw, self.terms)
        room = 1e-2 * float(np.abs(s).max())
        return np.asarray(self.terms.upper * np.clip(0.5 - 0.5 * s / max(room, 1e-300), 0.0, 1.0))

    def scores(self, parts: list[Array], first: Array) -> Array:
        """Return the scores of the distinct rows ``first``, each by a fit without its part."""
        fits = []

        def without(part: Array) -> tuple[Array, float]:
            fits.append(self._without(np.isin(self.members, part)))
            model = fits[-1][0]
            raw = self.plan.features.raw(self.target.X[first[part]])
            return raw @ model.raw[0], -float(model.multipliers[0])

        margin = -float(self.solution.multipliers[0])
        scores = scores_by_parts(without, first.size, parts, margin)
        models = [hyperplanes for hyperplanes, _ in fits]
        slacks = np.sum(self.plan.chunks.map(_slacks, self.problem, self.plan.features, models), 0)
        self.reads += 1
        for (_, (rest, objective)), slack in zip(fits, slacks, strict=True):
            gap = abs(rest + slack)
            self.solved &= bool(gap <= self.estimator.tol * max(abs(objective), 1e-300))
        return scores

    def _without(self, out: Array) -> tuple[Hyperplanes, tuple[float, float]]:
        """Return the hyperplanes of a fit, and what all but the sources' slacks give of its gap."""
        problem, n_groups = self.problem, self.problem.totals.size
        columns, features = self._features(self.target.X[out])
        rest = self.terms.rows(np.flatnonzero(~out))
        # The bounds stay, unless the rows that are left cannot carry the mass with them.
        room = problem.totals[0] / float(rest.upper.sum())
        if room > 1.0:
            rest = rest.bounded(room * rest.upper)
        terms = Terms.joined([rest, self.sources])
        rows = features.rows(np.concatenate([self.target.X[~out], self.source_X]))
        held = features.from_raw(self.vectors[:, columns])
        program = band_program(problem, rows, terms, (held, self.counts))
        start = np.concatenate([self.alpha[~out], self.source_alpha])
        answer = solve(
            program,
            tol=0.1 * self.estimator.tol,  # the gap of all rows takes the rest
            max_iter=self.estimator.max_iter,
            start=feasible_start(program, start),
            cache_size=min(BAND_CACHE, self.estimator.cache_size),
        )
        vectors = held + group_vectors(rows, terms, answer.alpha, n_groups)
        own = mixed_vectors(problem, vectors)
        raw = np.zeros((own.shape[0], self.plan.features.width))
        raw[:, columns] = features.to_raw(own)
        quadratic = float(np.vdot(vectors, problem.coupling @ vectors))
        reduced = Hyperplanes(own, answer.multipliers).reduced(rows, terms)[: rest.upper.size]
        slack = float(rest.upper @ np.maximum(-reduced, 0.0))
        known = quadratic + slack + float(answer.multipliers @ problem.totals)
        return Hyperplanes(raw, answer.multipliers), (known, 0.5 * quadratic)

    def _features(self, out: Array) -> tuple[Array, Features]:
        """Return the landmarks that a fit may use, none that is left out, and their features."""
        features = self.plan.features
        if isinstance(features, LinearFeatures):
            return np.arange(features.width), features
        landmarks = features.landmarks
        mine = {row.tobytes() for row in np.ascontiguousarray(out)}
        seen = [row.tobytes() not in mine for row in np.ascontiguousarray(landmarks)]
        if all(seen) or not any(seen):
            return np.arange(features.width), features
        columns = np.flatnonzero(seen)
        return columns, landmark_features(features.kernel, landmarks[columns])


def _slacks(
    part: Part, problem: TaskProblem, features: Features, models: list[Hyperplanes]
) -> Array:
    """Return the sources' slacks in the rows of a part, for every model."""
    slacks = np.zeros(len(models))
    for block in part.blocks(features.width):
        terms, raw = problem.terms(block.weights, block.values), features.raw(block.X)
        some = np.flatnonzero((terms.groups > 0) & (terms.upper > 0))
        terms, raw = terms.rows(some), raw[some]
        for place, hyperplanes in enumerate(models):
            slacks[place] += float(terms.upper @ np.maximum(-hyperplanes.reduced(raw, terms), 0.0))
    return slacks
