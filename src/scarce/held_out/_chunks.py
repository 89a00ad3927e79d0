"""Rows in chunks without a part of them, and what a model of the others says of that part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from scarce._arrays import Array
from scarce._by_chunks import Plan, solved_by_bands
from scarce._frame import collected_notes, keep_quality
from scarce.chunks import Chunks, Part
from scarce.held_out._programs import on_margin
from scarce.kernels import weighted_scores
from scarce.kernels.rows._rows import row_bits
from scarce.reductions import OneClassProblem

FEWEST_PARTS = 10
ENOUGH = 100_000  # rows left out, from which a threshold is as exact as anybody needs


@dataclass(frozen=True)
class Parts:
    """A cut of all rows into parts by the values of the rows alone: equal rows are together."""

    number: int  # how many parts
    left_out: int  # how many of them, the first ones, are to be left out, one after the other
    kept: Array  # bits of rows that are in no part, ascending

    @classmethod
    def of(cls, n_rows: int, kept: Array | None = None) -> Parts:
        """Return ten parts, all to be left out; of many rows as many as are enough.

        ``kept`` are rows that are never left out, nor their equals.
        """
        number = max(FEWEST_PARTS, n_rows // ENOUGH)
        left_out = int(np.clip(-(-ENOUGH * number // n_rows), 1, FEWEST_PARTS))
        bits = np.zeros(0, np.uint64) if kept is None else np.unique(row_bits(kept))
        return cls(number, left_out, bits)

    def of_rows(self, X: Array) -> Array:
        """Return the part of every row, one more than the last for rows of none."""
        bits = row_bits(X)
        found = ((bits >> np.uint64(33)) % np.uint64(self.number)).astype(np.intp)
        # By sorting: NumPy 2.0 takes the range of unsigned numbers of 64 bits for negative.
        found[np.isin(bits, self.kept, kind="sort")] = self.number
        return np.asarray(found)


class WithoutPart:
    """Rows in chunks of which one part has no weight.

    ``which``: the part left out.
    """

    def __init__(self, chunks: Chunks, parts: Parts, which: int) -> None:
        self.chunks = chunks
        self.parts = parts
        self.which = which
        self.sizes = chunks.sizes  # rows left out count too
        self.n_features = chunks.n_features
        self.dtype = chunks.dtype
        self.feature_names = chunks.feature_names

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order."""
        return self.chunks.map(_others, self.parts, self.which, function, *broadcast, only=only)

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return ``function(part, *broadcast)`` of all chunks, joined to one answer."""
        return self.chunks.reduce(_others, join, self.parts, self.which, function, *broadcast)

    def scores(self, score: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return a score for every row left out that has a weight, and the weights."""
        found = self.chunks.map(_scored, self.parts, self.which, score)
        return np.concatenate([each[0] for each in found]), np.concatenate(
            [each[1] for each in found]
        )


def without(part: Part, parts: Parts, which: int) -> Part:
    """Return the same rows, those of a part without weight."""
    weights = np.where(parts.of_rows(part.X) == which, 0.0, part.weights)
    return replace(part, values={**part.values, "sample_weight": weights})


def _others(
    part: Part, parts: Parts, which: int, function: Callable[..., Any], *broadcast: Any
) -> Any:
    return function(without(part, parts, which), *broadcast)


def _scored(
    part: Part, parts: Parts, which: int, score: Callable[[Array], Array]
) -> tuple[Array, Array]:
    some = np.flatnonzero((parts.of_rows(part.X) == which) & (part.weights > 0))
    scores = np.asarray(score(part.X[some])) if some.size else np.zeros(0)
    return scores, part.weights[some]


def _weights(part: Part, parts: Parts) -> Array:
    return np.bincount(parts.of_rows(part.X), part.weights, minlength=parts.number + 1)


def part_weights(chunks: Chunks, parts: Parts) -> Array:
    """Return the weight of every part.

    Returned: sums of the weights of their rows; the last of rows that are in none.
    """
    return np.asarray(chunks.reduce(_weights, np.add, parts))


def left_out_by_chunks(estimator: Any, plan: Plan, margin: float) -> tuple[Array, Array, int]:
    """Fit without each of some parts of the rows; return their scores, weights and the reads.

    When a part is left out, `nu` stays, and the coefficients are scaled up to the sum that they
    have in the model of all rows, whose ``margin`` is given, so that scores are on one scale. All
    fits see the kernel through the landmarks of the model of all rows: through others it would be
    another function, and the scores not comparable. Landmarks themselves are never left out. Given
    them, the other rows and new ones are exchangeable.

    Returned: of the rows left out, in their order within each part.
    """
    landmarks = None if plan.landmarks is None else plan.landmarks.X
    parts = Parts.of(sum(plan.chunks.sizes), landmarks)
    own = part_weights(plan.chunks, parts)
    estimator._check_left_out_rows(np.count_nonzero(own))
    reads = 1
    weight = plan.survey.weight
    mass = estimator.nu * weight
    found = []
    for which in np.flatnonzero(own[: parts.left_out]).tolist():
        others = WithoutPart(plan.chunks, parts, which)
        rest = weight - float(own[which])
        total = estimator.nu * rest
        sample = without(plan.sample, parts, which)
        larger = None if plan.larger is None else without(plan.larger, parts, which)
        model = clone(estimator)
        with collected_notes():  # said of the fit of all rows
            solution = solved_by_bands(
                model,
                replace(plan, chunks=others, sample=sample, larger=larger),
                OneClassProblem(total),
                np.array([rest]),
            )
            keep_quality(model, [solution])
        if model.fit_status_:
            estimator._note_early_ends()
        vector = solution.hyperplanes.raw[0] * (mass / total)
        linear = landmarks is None
        score = partial(
            weighted_scores,
            support=vector[None, :] if linear else landmarks,
            coefficients=np.ones(1) if linear else vector,
            kernel=plan.kernel,
        )
        scores, own_weights = others.scores(score)
        own_margin = -float(solution.multipliers[0]) * (mass / total)
        found.append((on_margin(scores, own_margin, margin), own_weights))
        reads += solution.reads - 1  # nothing was surveyed or gathered
    if not found:
        raise ValueError(
            f"all distinct rows are landmarks (n_components={estimator.n_components}), and none "
            'can be left out: use fewer, or offset="training"'
        )
    scores, weights = (np.concatenate([each[k] for each in found]) for k in (0, 1))
    return scores, weights, reads
