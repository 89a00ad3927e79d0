"""Left-out scores of rows in chunks: parts of the rows are left out, one after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from scarce._arrays import Array
from scarce._by_chunks import Plan, solved_by_bands
from scarce._frame import collected_notes, keep_quality
from scarce.chunks import OneClassProblem
from scarce.chunks._without import Parts, WithoutPart, part_weights, without
from scarce.kernels import weighted_scores


def left_out_by_chunks(machine: Any, plan: Plan) -> tuple[Array, Array]:
    """Fit without each of some parts of the rows, and return their scores and weights.

    When a part is left out, `nu` stays, and the coefficients are scaled up to the sum that they
    have in the model of all rows, so that scores are on one scale. All fits see the kernel through
    the landmarks of the model of all rows: through others it would be another function, and the
    scores not comparable. Landmarks themselves are never left out. Given them, the other rows and
    fresh ones are exchangeable.

    Parameters
    ----------
    machine : OneClassSVM
        Fitted to all rows; the reads are added to its own.
    plan : Plan
        Of that fit.

    Returns
    -------
    scores, weights : ndarray
        Of the rows left out, in their order within each part.
    """
    landmarks = None if plan.landmarks is None else plan.landmarks.X
    parts = Parts.of(sum(plan.chunks.sizes), landmarks)
    own = part_weights(plan.chunks, parts)
    machine._check_left_out_rows(np.count_nonzero(own))
    machine.n_reads_ += 1
    weight = plan.survey.weight
    mass = machine.nu * weight
    found = []
    for which in np.flatnonzero(own[: parts.left_out]).tolist():
        others = WithoutPart(plan.chunks, parts, which)
        rest = weight - float(own[which])
        total = machine.nu * rest
        sample = without(plan.sample, parts, which)
        model = clone(machine)
        with collected_notes():  # said of the fit of all rows
            solution = solved_by_bands(
                model,
                replace(plan, chunks=others, sample=sample),
                OneClassProblem(total),
                np.array([rest]),
            )
            keep_quality(model, [solution])
        if model.fit_status_:
            machine._note_early_ends()
        plane = solution.planes.raw[0] * (mass / total)
        linear = landmarks is None
        score = partial(
            weighted_scores,
            support=plane[None, :] if linear else landmarks,
            coefficients=np.ones(1) if linear else plane,
            kernel=plan.kernel,
        )
        found.append(others.scores(score))
        machine.n_reads_ += solution.reads - 1  # nothing was surveyed or gathered
    if not found:
        raise ValueError(
            f"all distinct rows are landmarks (n_components={machine.n_components}), and none can "
            'be left out: use fewer, or offset="training"'
        )
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
