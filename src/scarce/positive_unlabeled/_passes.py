"""The passes of a fit: widths, once more for a rare class, and cleaner bags for the class prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce._frame import FitTask
from scarce.kernels import Kernel
from scarce.positive_unlabeled._out_of_bag import (
    Design,
    OutOfBag,
    clearly_best,
    out_of_bag,
    second_pass,
)
from scarce.positive_unlabeled._programs import Answer, MeanModel, Programs, mean_model
from scarce.positive_unlabeled._threshold import PUThreshold, estimated_shares, found_threshold

WORTH_OF_SHAPE = 10.0  # labelled rows that two heaps of unlabelled scores count as
WORTH_OF_SHARE = 30.0  # labelled rows that the share to accept counts as in the class prior


@dataclass(frozen=True)
class Passes:
    """What the passes found.

    Attributes
    ----------
    class_prior : float or None
        The class prior that was given.
    best : OutOfBag
        The programs of the width taken, larger bags if the class is rare.
    unlabelled : ndarray
        Their out-of-bag scores of all unlabelled rows.
    model : MeanModel
        The model: the mean of these programs, or the one program of all rows.
    answers : sequence of Answer
        The programs it is the mean of.
    prior, prior_interval
        The class prior, and its approximate interval, of the second pass; else the one given, or
        NaN.
    """

    class_prior: float | None
    best: OutOfBag
    unlabelled: Array
    model: MeanModel
    answers: Sequence[Answer]
    prior: float
    prior_interval: tuple[float, float]

    def threshold(self) -> PUThreshold:
        """Return the threshold, so that the share given or estimated is accepted."""
        design = self.best.design
        return found_threshold(
            self.best.positive,
            self.unlabelled,
            design.positives.weights,
            design.unlabelled.weights,
            self.class_prior,
            worth_of_shape=WORTH_OF_SHAPE,
        )

    def prior_beside(self, accepted: PUThreshold) -> tuple[float, tuple[float, float]]:
        """Return the prior and the share to accept as one estimate, and an interval of both.

        Both are approximate, and err in different ways.
        """
        prior, (low, high) = self.prior, accepted.interval
        if self.class_prior is None:
            n = self.best.design.positives.total
            trust = n / (n + WORTH_OF_SHARE)
            prior = prior**trust * accepted.share ** (1.0 - trust)
        return prior, (min(low, self.prior_interval[0]), max(high, self.prior_interval[1]))


def all_passes(
    design: Design,
    programs: Programs,
    kernels: Sequence[Kernel],
    class_prior: float | None,
    random: np.random.Generator,
    task: FitTask,
    *,
    ranking_only: bool,
) -> Passes:
    """Run the passes; without the one for the class prior where that is given or not wanted."""
    everyone = np.arange(design.unlabelled.n), design.unlabelled.weights
    some = design.ranked(random)
    parts = design.parts(random, everyone)
    tried = []
    for kernel in kernels:
        with task.part("width", None) as bags:
            tried.append(out_of_bag(design, programs, kernel, parts, bags))
    best, scores = clearly_best(tried, some)
    share = class_prior
    if share is None:
        seen = design.positives.weights, some[1]
        share = estimated_shares(best.positive, scores, seen, WORTH_OF_SHAPE).both
    grown = design.grown(share)
    if grown is not None:
        with task.part("rare class", None) as bags:
            parts = grown.parts(random, everyone)
            best = out_of_bag(grown, programs, best.kernel, parts, bags)
    unlabelled = best.unlabelled(everyone[0])
    model, answers = best.model, best.answers
    if not design.n_bags:
        whole = [design.everything()]
        answers = programs.answers(whole, best.kernel, task)
        model = mean_model(whole, answers)
    prior = float("nan") if class_prior is None else float(class_prior)
    interval = prior, prior
    if class_prior is None and not ranking_only:
        with task.part("prior", None) as bags:
            prior, interval = second_pass(best, unlabelled, programs, some, random, bags)
    return Passes(class_prior, best, unlabelled, model, answers, prior, interval)
