"""The mapping-convergence loop on sets of rows; it knows rows only through `RowSource`.

Sets of all rows are arrays of bool, one byte a row, wherever the rows are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.positive_unlabeled.mapping_convergence._training import Trained, Training
from scarce.positive_unlabeled.rows._row_source import RowSource, are_among
from scarce.reductions import NoMarginError

History = dict[str, list[Any]]
Rule = Callable[[History], tuple[int, bool]]


@dataclass(frozen=True)
class Outcome:
    """The classifier kept, what every round recorded, and how the loop ended."""

    kept: Trained
    round_kept: int
    history: History
    ending: str  # "settled", "rule", "max_rounds", "stopped" or "no margin"
    problem: str = ""  # of a round without a margin

    @property
    def accepted_share(self) -> float:
        """Proportion of the unlabelled weight that no round up to the one kept has rejected."""
        return float(self.history["accepted_share"][self.round_kept])


@dataclass
class Loop:
    """Train, reject, train again until nothing more is rejected."""

    rows: RowSource  # where rows come from
    weights: Array  # (n,): weights of all rows
    codes: Array  # (n,): A number per row that equal rows share
    train: Training  # the second learner
    # whether to keep the negatives that equal a support vector (SVMC), or all (SMC). Of equal rows
    # a solver may choose any for its support, and a row given twice must not be half a row in the
    # next round.
    support_only: bool
    # whether a settled loop goes on with rejected rows that the classifier accepts again
    recheck: bool
    # each takes the history and returns the round whose classifier to keep, counted from 0, and
    # whether to go on
    rules: Sequence[Rule]
    max_rounds: int | None  # limit on the trainings
    # called with a function that runs one round; returns its result and whether to stop
    report: Callable[[Callable[[], Array]], tuple[Array, bool]]
    # always_accepted, unlabelled_weight: weight of the unlabelled rows that cannot be rejected, and
    # of all
    always_accepted: float
    unlabelled_weight: float

    def run(
        self, positives: Array, negatives: Array, candidates: Array, held_out: Array | None = None
    ) -> Outcome:
        """Run the loop.

        ``positives``: labelled positives, by number. ``negatives``, ``candidates``: strong
        negatives and the rows that may still become negatives. ``held_out``: positives that are not
        trained on, whose recall the rules look at.
        """
        self.history: History = {name: [] for name in COLUMNS}
        if held_out is not None:
            self.history["held_out_recall"] = []
        self.held_out = held_out
        kept: dict[int, Trained] = {}
        self.candidates = candidates
        all_rows = negatives | candidates
        taken_back = np.zeros_like(negatives)
        ending = problem = ""
        while not ending:
            try:  # the function is called at once, before `negatives` changes
                rejected, stopped = self.report(lambda: self._round(positives, negatives))  # noqa: B023
            except NoMarginError as error:
                if not kept:
                    raise
                ending, problem = "no margin", f"{int(negatives.sum())} negatives: {error}"
                break
            self._check_support()
            if self.recheck and not rejected.any():
                rejected = self._taken_back(all_rows)
                taken_back |= rejected
            self.history["taken_back"].append(int(taken_back.sum()))
            number = len(self.history["recall"]) - 1
            kept[number] = self.trained
            verdicts = [rule(self.history) for rule in self.rules]
            choice = min((which for which, _ in verdicts), default=number)
            if choice not in kept:
                raise ValueError(
                    f"stop must name a round from {min(kept)} to {number}, not before the one it "
                    f"named last, got {choice!r}"
                )
            kept = {which: trained for which, trained in kept.items() if which >= choice}
            if not rejected.any():
                ending = "settled"
            elif not all(go_on for _, go_on in verdicts):
                ending = "rule"
            elif stopped:
                ending = "stopped"
            elif number + 1 == self.max_rounds:
                ending = "max_rounds"
            if not ending:
                # Rows once taken back stay: each recheck finds others, and so there is a last one.
                negatives = self._useful(negatives) | rejected | taken_back
        return Outcome(kept[choice], choice, self.history, ending, problem)

    def _round(self, positives: Array, negatives: Array) -> Array:
        """Train, and return the candidates that are rejected now."""
        begin = time.perf_counter()
        self.trained = self.train(positives, np.flatnonzero(negatives))
        model = self.trained.model
        accepted = self.trained.accepted(self.rows, self.candidates)
        rejected = self.candidates & ~accepted
        self.candidates = accepted
        steps = getattr(model, "n_iter_", None)
        inside = self.always_accepted + float(np.sum(self.weights, where=accepted))
        record = {
            "negatives": int(negatives.sum()),
            "rejected": int(rejected.sum()),
            "accepted": int(accepted.sum()),
            "accepted_share": inside / self.unlabelled_weight,
            "recall": self._recall(positives),
            "nu": self.trained.nu,
            "support_vectors": len(getattr(model, "support_", ())),
            "n_iter": 0 if steps is None else int(np.max(steps)),
            "guard": self.trained.guard,
        }
        if self.held_out is not None:
            record["held_out_recall"] = self._recall(self.held_out)
        record["seconds"] = time.perf_counter() - begin
        for name, value in record.items():
            self.history[name].append(value)
        return rejected

    def _taken_back(self, all_rows: Array) -> Array:
        """Return the rejected rows, no longer trained on, that the classifier accepts."""
        dropped = all_rows & ~self.candidates
        dropped[self.trained.rows] = False
        return self.trained.accepted(self.rows, dropped)

    def _recall(self, positives: Array) -> float:
        """Return the proportion of some positives, by weight, on the positive side."""
        inside = self.trained.inside(self.rows, positives)
        weights = self.weights[positives]
        return float(weights[inside].sum() / weights.sum())

    def _check_support(self) -> None:
        """Refuse classifiers that do not say which rows they rest on, if those are to be kept."""
        if self.support_only and not hasattr(self.trained.model, "support_"):
            raise ValueError(
                'keep="support" needs a classifier with support_, got '
                f'{type(self.trained.model).__name__}; use keep="all"'
            )

    def _useful(self, negatives: Array) -> Array:
        """Return the negatives that the next round trains on beside the new ones."""
        if not self.support_only:
            return negatives
        support = self.trained.rows[self.trained.model.support_]
        useful = np.zeros_like(negatives)
        own = self.codes[support[negatives[support]]]
        useful[negatives] = are_among(self.codes[negatives], own)
        return useful


COLUMNS = (
    "negatives",
    "rejected",
    "accepted",
    "taken_back",
    "accepted_share",
    "recall",
    "nu",
    "support_vectors",
    "n_iter",
    "seconds",
    "guard",
)
