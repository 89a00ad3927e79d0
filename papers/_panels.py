"""The scores of a table under one metric and one protocol, and how they compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from papers._numbers import FormatNumber, common_format, given_decimals
from papers._results import FIXED, PROTOCOLS, Score, Table

LEVEL = 0.05
"""A Holm-corrected p-value below this is a difference."""

BETTER, WORSE, SAME, TOO_FEW = "better", "worse", "same", "too-few"
MARKS = {
    BETTER: ("▲", "significantly better than the reference"),
    WORSE: ("▼", "significantly worse than the reference"),
    SAME: ("=", "no significant difference from the reference"),
    TOO_FEW: ("·", "too few repetitions for the test to find any difference"),
}
"""Sign and meaning of each verdict."""


@dataclass(frozen=True)
class Panel:
    """One grid of figures: settings down, methods across, all in one unit."""

    table: Table
    metric: str
    protocol: str
    scores: tuple[Score, ...]

    @cached_property
    def _at(self) -> dict[tuple[str, str], Score]:
        return {(score.setting, score.method): score for score in self.scores}

    @property
    def label(self) -> str:
        """Return what the figures are, unit included."""
        return self.table.metrics.get(self.metric, self.metric)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Return the rows that have a figure, in the order of the table."""
        return _in_order(self.table.settings, [score.setting for score in self.scores])

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Return the columns that have a figure, in the order of the table."""
        return _in_order(self.table.methods, [score.method for score in self.scores])

    @cached_property
    def write(self) -> FormatNumber:
        """Return how the figures are written."""
        printed = (score.printed for score in self.scores)
        means = (score.mean for score in self.scores)
        return common_format([*means, *(value for value in printed if value is not None)])

    @cached_property
    def write_printed(self) -> FormatNumber:
        """Return how the paper's figures are written: with the decimals they were given with."""
        return given_decimals(score.printed for score in self.scores if score.printed is not None)

    def score(self, setting: str, method: str) -> Score | None:
        """Return one figure, None where there is none."""
        return self._at.get((setting, method))

    def row(self, setting: str) -> tuple[Score, ...]:
        """Return the figures of one setting."""
        found = (self.score(setting, method) for method in self.methods)
        return tuple(score for score in found if score is not None)

    def best(self, setting: str) -> float:
        """Return the best mean of one setting."""
        return max(score.mean for score in self.row(setting))

    def repetitions(self, setting: str) -> str:
        """Return over how many repetitions the figures of one setting are means: "3", "1 to 3"."""
        counts = sorted({score.n for score in self.row(setting)})
        return " to ".join(map(str, dict.fromkeys([counts[0], counts[-1]])))

    def reference(self, setting: str) -> Score | None:
        """Return the reference's figure; that of fixed parameters, if it has no others."""
        wanted = (setting, self.table.reference, self.metric)
        found = {
            score.protocol: score
            for score in self.table.scores
            if (score.setting, score.method, score.metric) == wanted
        }
        return found.get(self.protocol) or found.get(FIXED)

    @property
    def reference_name(self) -> str:
        """Return what the figures are compared with; empty where nothing was tested."""
        if not self.verdicts():
            return ""
        own = self.table.reference in self.methods
        return self.table.reference + ("" if own else " with fixed parameters")

    def verdict(self, score: Score) -> str | None:
        """Say how a figure compares with the reference's; None where nothing was tested."""
        reference = self.reference(score.setting)
        if score.p_value is None or reference is None or score is reference:
            return None
        if score.p_value >= LEVEL and not self._can_differ(score, min(score.n, reference.n)):
            return TOO_FEW
        if score.p_value >= LEVEL or score.mean == reference.mean:
            return SAME
        return BETTER if score.mean > reference.mean else WORSE

    def _can_differ(self, score: Score, n: int) -> bool:
        """Return whether the test could find anything with so few repetitions of both.

        The smallest p-value of n signed ranks is 2 / 2^n, and Holm's correction multiplies the
        smallest of a row by the number of its comparisons.
        """
        comparisons = sum(other.p_value is not None for other in self.row(score.setting))
        return comparisons * 2.0 ** (1 - n) < LEVEL

    def verdicts(self) -> Counter[str]:
        """Count how the figures compare with the reference's."""
        found = (self.verdict(score) for score in self.scores)
        return Counter(verdict for verdict in found if verdict is not None)


def panels(table: Table) -> Iterator[Panel]:
    """Yield the panels of a table that have figures."""
    for metric in _in_order(table.metrics, [score.metric for score in table.scores]):
        of_metric = [score for score in table.scores if score.metric == metric]
        for protocol in _in_order(PROTOCOLS, [score.protocol for score in of_metric]):
            scores = (score for score in of_metric if score.protocol == protocol)
            yield Panel(table, metric, protocol, tuple(scores))


def _in_order(names: Iterable[str], present: list[str]) -> tuple[str, ...]:
    """Return the names that are present, those nobody announced last."""
    return tuple(name for name in dict.fromkeys([*names, *present]) if name in present)
