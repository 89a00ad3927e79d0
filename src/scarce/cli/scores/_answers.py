"""What a model answers to rows, and what is counted meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.cli._info import estimator_of
from scarce.cli._words import counted
from scarce.cli.scores._drift import ScoreCounts
from scarce.cli.scores._model import Batch, FittedModel
from scarce.io import tables_library
from scarce.model_selection import CalibratedOneClass
from scarce.monitoring import DriftMonitor


class Answers:
    """What a model answers, and what is counted meanwhile.

    ``id_name``: the column that names rows. ``monitor``: is given all rows. ``key``: the column of
    answers that rows are ranked by. ``lowest_first``: whether the rows to look at first have the
    lowest scores: those that a detector rejects.
    """

    def __init__(
        self, fitted: FittedModel, id_name: str | None, monitor: DriftMonitor | None = None
    ) -> None:
        self.model, self._kind = fitted.model, fitted.kind
        self._id = id_name or "row"
        self._estimator = estimator_of(self.model)
        self.has_p = hasattr(self.model, "left_out_scores_")
        self.lowest_first = not hasattr(self._estimator, "classes_")
        self.key = "score"
        if fitted.kind == "open-set":
            self.lowest_first = True  # what is unknown comes first
        elif fitted.per is not None:
            self.key = "p_value"  # scores of different groups do not compare
        elif not hasattr(self.model, "decision_function"):
            self.key, self.lowest_first = "prediction", False
        self.rows = 0
        self.decisions: dict[str, int] = {}
        self.gaps: dict[str, int] = {}
        self.new: dict[str, dict[str, int]] = {}
        self.unseen: dict[str, int] = {}  # groups, and rows of each
        self._sign = direction(self.model)
        self._known = _categories(self.model)
        self._counts = ScoreCounts(self.model.left_out_scores_) if self.has_p else None
        self._monitor = monitor

    def of(self, batch: Batch) -> Any:
        """Return the frame of answers to some rows: name, score, what it means, decision."""
        self._count(batch.X)
        named = hasattr(self.model, "feature_names_in_") or not hasattr(batch.X, "columns")
        X = batch.X if named else batch.X.to_numpy()
        try:
            columns = {self._id: batch.ids, **self._answers(X, batch.groups)}
        except ValueError as error:
            raise batch.refused(str(error)) from None
        frame = tables_library("pandas").DataFrame(columns)
        self.rows += len(frame)
        if "decision" in frame:
            for value, number in frame["decision"].value_counts().items():
                self.decisions[str(value)] = self.decisions.get(str(value), 0) + int(number)
        return frame

    def _answers(self, X: Any, groups: Any = None) -> dict[str, Any]:
        if groups is not None:
            unseen = groups[~np.isin(groups, self._estimator.groups_)]
            for name, number in zip(*np.unique(unseen, return_counts=True), strict=True):
                self.unseen[str(name)] = self.unseen.get(str(name), 0) + int(number)
            decisions = self.model.predict(X, groups=groups)
            return {
                "group": groups.astype(object),
                "score": self.model.decision_function(X, groups=groups),
                "p_value": self.model.p_values(X, groups=groups),
                "decision": np.where(decisions == 1, "accepted", "rejected").astype(object),
            }
        if self.key == "prediction":
            return {"prediction": np.asarray(self.model.predict(X), dtype=np.float64)}
        if self._kind == "open-set":
            scores = np.asarray(self.model.score_samples(X))
            likely = self._estimator.p_values(self.model[:-1].transform(X)).max(axis=1)
            decisions = np.asarray(self.model.predict(X)).astype(str).astype(object)
            return {"score": scores, "p_value": likely, "decision": decisions}
        if isinstance(self.model, CalibratedOneClass) and self.model.method == "one_model":
            scored = self.model.score_samples(X)  # once for all answers
            scores = scored - self.model.offset_
            decisions = np.where(scores >= 0, 1, -1)  # as its predict
            found = {"score": scores, "p_value": self.model._left_out().p_values(scored)}
        else:
            scores = np.asarray(self.model.decision_function(X), dtype=np.float64)
            decisions = self._at(scores, "labels", X, "predict")
            found = {"score": self._sign * scores if scores.ndim == 1 else ahead(scores)}
            if self.has_p:
                scored = self.model.score_samples(X)
                found["p_value"] = self.model.p_values(X)
            elif hasattr(self.model, "predict_proba"):
                both = self._at(scores, "probabilities", X, "predict_proba")
                found["probability"] = both[:, self._column]
        if self.has_p:
            distances = self._distances(X, np.asarray(scored))
            found = {"score": found.pop("score"), **distances, **found}
        if self._counts is not None:
            self._counts.add(np.asarray(scored), int((decisions == -1).sum()))
        if self._monitor is not None:  # of a model that has p-values
            self._monitor.update_scores(np.asarray(scored), decisions == -1)
        return found | {"decision": self._in_words(decisions)}

    def _at(self, scores: Array, what: str, X: Any, method: str) -> Array:
        """Return what follows from decision values, without asking for them again if that can be.

        It can where they are the model's own, and nothing around it decides in another way.
        """
        last = self.model[-1] if hasattr(self.model, "steps") else self.model
        follows = getattr(last, f"_{what}_at", None)
        return np.asarray(getattr(self.model, method)(X) if follows is None else follows(scores))

    def _distances(self, X: Any, scores: Array) -> dict[str, Array]:
        """Return how far rows are from the class, if the model knows."""
        ratios = self.model._distance_ratios_at(scores)
        if ratios is None:
            return {}
        lost = np.flatnonzero(np.isnan(ratios))
        if lost.size:  # so far away that scores are all the same
            ratios[lost] = self.model.distance_ratio(
                X.iloc[lost] if hasattr(X, "iloc") else X[lost]
            )
        return {"distance_ratio": ratios}

    def keys(self, frame: Any) -> Array:
        """Return what rows are ranked by; distances keep the order of rows that are far away."""
        if "distance_ratio" in frame:
            return np.asarray(-frame["distance_ratio"])
        return np.asarray(frame[self.key])

    @property
    def _column(self) -> int:
        """Of the probabilities: that of the positive class, where one is named."""
        positive = getattr(self._estimator, "pos_label_", None)
        return -1 if positive is None else list(self._estimator.classes_).index(positive)

    def _in_words(self, decisions: Array) -> Array:
        if not hasattr(self._estimator, "classes_"):
            return np.where(decisions == 1, "accepted", "rejected").astype(object)
        positive = getattr(self._estimator, "pos_label_", None)
        if positive is not None:  # the others are not known to be anything
            return np.where(decisions == positive, f"{positive}", f"not {positive}").astype(object)
        if self._kind == "groups":
            return np.where(decisions == 1, "positive", "negative").astype(object)
        return decisions.astype(str).astype(object)

    def _count(self, X: Any) -> None:
        if not hasattr(X, "columns"):
            return
        for name in X.columns:
            values = X[name]
            missing = int(values.isna().sum())
            if missing:
                self.gaps[name] = self.gaps.get(name, 0) + missing
            if name in self._known:
                found = values[~values.isin(self._known[name]) & values.notna()]
                counts = self.new.setdefault(name, {})
                for value, number in found.value_counts().items():
                    if value in counts or len(counts) < 1000:
                        counts[str(value)] = counts.get(str(value), 0) + int(number)

    def summary(self) -> list[str]:
        """Return what was counted, a line each."""
        most = sorted(self.decisions.items(), key=lambda pair: -pair[1])
        parts = ", ".join(f"{number:,} {value}" for value, number in most)
        lines = [counted(self.rows, "row") + (f": {parts}" if parts else "")]
        if self.gaps:
            gaps = ", ".join(f"{name} {number:,}" for name, number in self.gaps.items())
            lines.append(f"missing values, filled as at the fit: {gaps}")
        for name, counts in self.new.items():
            if counts:
                lines.append(
                    f"new values in column {name!r}, unknown to the model: {_listed(counts)}"
                )
        if self.unseen:
            some = _listed(self.unseen)
            lines.append(f"groups that the fit did not see, judged by the model of all: {some}")
        return lines

    def drift(self) -> str | None:
        """Return in what the rows differ from those of the fit, None if they need not."""
        return None if self._counts is None else self._counts.drift()


def _listed(counts: dict[str, int]) -> str:
    some = ", ".join(f"{value!r} {number}" for value, number in list(counts.items())[:5])
    return some + (f" and {len(counts) - 5} more" if len(counts) > 5 else "")


def ahead(scores: Array) -> Array:
    """Return how far the class with the highest of several values is ahead of the next."""
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def direction(model: Any) -> float:
    """Return 1 if higher decision values mean the class that was learnt, else -1.

    Classifiers have positive values for the label that sorts last, whichever the positive one is.
    """
    estimator = estimator_of(model)
    positive = getattr(estimator, "pos_label_", None)
    return -1.0 if positive is not None and positive == estimator.classes_[0] else 1.0


def _categories(model: Any) -> dict[str, list[str]]:
    """Return the values that a model knows of each category column."""
    model = getattr(model, "estimator_", model)
    columns = model[0] if hasattr(model, "steps") else None
    columns = getattr(columns, "estimator", columns)  # a frozen one
    found: dict[str, list[str]] = {}
    for _, step, names in getattr(columns, "transformers_", ()):
        for name, values in zip(names, getattr(step, "categories_", ()), strict=False):
            found[str(name)] = [value for value in values if isinstance(value, str)]
    return found
