"""What the estimators for positive and unlabelled rows share: labels, guards, the fitted model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import fit_task, note, quality
from scarce._kernel_machine import KernelMachine
from scarce._kernel_sum import KernelSum
from scarce._sklearn import CallbackSupportMixin
from scarce._warnings import ScarceDataWarning
from scarce.positive_unlabeled._lee_liu import LeeLiuScored
from scarce.positive_unlabeled.mapping_convergence._best_round import best_round, held_out_rows
from scarce.positive_unlabeled.mapping_convergence._diagnosis import Diagnosis, held_out_recall
from scarce.positive_unlabeled.mapping_convergence._loop import History, Loop, Outcome
from scarce.positive_unlabeled.mapping_convergence._mapping import (
    lowest_share,
    mapping_scores,
    no_strong_negatives,
)
from scarce.positive_unlabeled.mapping_convergence._training import Trained, Training, n_begun_with
from scarce.positive_unlabeled.rows._given import Given, GivenRows
from scarce.positive_unlabeled.rows._row_source import (
    RowSource,
    are_among,
    checked_rows,
    learner_kernel,
    row_codes,
    row_keys,
)

BYTES_A_ROW = 68  # sets of rows, a code, and a score while there are strong negatives to find


def _of_classifier(name: str, what: str) -> property:
    def value(self: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.classifier_, name)

    return property(value, doc=what)


class PositiveUnlabeled(
    LeeLiuScored, GivenRows, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    """Base of both estimators; a subclass says what its learners and its kernel are."""

    _fits_by_chunks: ClassVar[bool] = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    support_vectors_ = _of_classifier("support_vectors_", "Support vectors of the classifier.")
    dual_coef_ = _of_classifier("dual_coef_", "Coefficients, positive for positives.")
    intercept_ = _of_classifier("intercept_", "Constant of the classifier's decisions.")
    coef_ = _of_classifier("coef_", "Weights of the features, for a linear kernel.")
    objective_ = _of_classifier("objective_", "Optimum of the last training kept.")
    dual_gap_ = _of_classifier("dual_gap_", "Relative duality gap of the last training kept.")
    kkt_violation_ = _of_classifier("kkt_violation_", "Violation of the optimality conditions.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        pairwise = learner_kernel(self._kernel()).pairwise
        tags.input_tags.sparse, tags.input_tags.pairwise = not pairwise, pairwise
        return tags

    def _kernel(self) -> Any:
        """Return the kernel, which says what rows are."""
        raise NotImplementedError

    def _learners(self, rows: RowSource, weights: Array) -> tuple[Any, Any]:
        """Return mapper and classifier, neither fitted."""
        raise NotImplementedError

    # Fitting.

    _on_round: Callable[[Any], None] | None = None  # looks at every round; displays set it

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Run both stages and keep the result; called by `fit` after parameters were checked."""
        given = self._given_rows(X, y, sample_weight, self._kernel(), BYTES_A_ROW)
        rows, weights = given.rows, given.weights
        positives = np.flatnonzero(given.positive & (weights > 0))
        unlabelled = ~given.positive & (weights > 0)
        mapper, classifier = self._learners(rows, weights)
        keys = row_keys(rows, positives)
        self._warn_if_equal(keys)
        held_out = self._held_out(positives, keys)
        trained_on = np.setdiff1d(positives, held_out, assume_unique=True)
        with fit_task(self) as task:
            begin = time.perf_counter()
            codes, shared = row_codes(rows, positives, unlabelled), np.zeros_like(unlabelled)
            if self.drop_shared:
                shared[unlabelled] = are_among(codes[unlabelled], codes[positives])
            strong, nearest = self._strong(mapper, given, trained_on, unlabelled, shared)
            self.mapping_seconds_ = time.perf_counter() - begin

            def report(round_: Callable[[], Array]) -> tuple[Array, bool]:
                with task.part("round") as part:
                    rejected = round_()
                    self._keep_trained(loop.trained)  # a callback may look at it
                    if self._on_round is not None:
                        self._on_round(self)
                return rejected, part.stopped

            loop = Loop(
                rows=rows,
                weights=weights,
                codes=codes,
                train=Training(
                    classifier, rows, weights, given.weighted, self.on_infeasible, nearest
                ),
                support_only=self.keep == "support",
                recheck=self.recheck,
                rules=self._rules(held_out),
                max_rounds=self.max_rounds,
                report=report,
                always_accepted=float(np.sum(weights, where=shared)),
                unlabelled_weight=float(np.sum(weights, where=unlabelled)),
            )
            outcome = loop.run(
                trained_on,
                strong,
                unlabelled & ~strong & ~shared,
                held_out if held_out.size else None,
            )
        self._keep_outcome(outcome)
        inside = outcome.kept.accepted(rows, unlabelled)
        self.accepted_share_ = float(np.sum(weights, where=inside)) / loop.unlabelled_weight
        # Of the rows that the classifier was not trained on, those inside that no round has
        # rejected are in the history; any others were rejected once, dropped, and taken back.
        free = inside & ~shared
        free[outcome.kept.rows] = False
        accepted = float(np.sum(weights, where=free)) + loop.always_accepted
        self.taken_back_ = max(0.0, accepted / loop.unlabelled_weight - outcome.accepted_share)
        self._diagnose(outcome, trained_on, loop, keys[np.isin(positives, trained_on)])
        self._warn(outcome)

    def _diagnose(self, outcome: Outcome, positives: Array, loop: Loop, keys: Array) -> None:
        """Refit without folds of the positives; store and tell what that says of the model."""
        self.class_prior_, self.held_out_recall_ = self.accepted_share_, float("nan")
        self.class_prior_interval_ = (float("nan"), float("nan"))
        if not self.diagnose:
            return
        # Without the last solution, but with the nu of the classifier that is looked at.
        train = replace(loop.train)
        train.begin_at(outcome.kept.nu)
        negatives = np.setdiff1d(outcome.kept.rows, positives)
        if outcome.kept.beyond is not None:
            negatives = np.union1d(negatives, np.flatnonzero(outcome.kept.beyond))
        self.held_out_recall_ = held_out_recall(
            positives,
            negatives,
            keys,
            loop.weights,
            train,
            lambda trained, some: trained.inside(loop.rows, some),
        )
        if np.isnan(self.held_out_recall_):
            self.class_prior_ = float("nan")
            return
        found = Diagnosis(
            outcome.history["recall"][outcome.round_kept],
            self.held_out_recall_,
            float(loop.weights[positives].sum()),
            self.accepted_share_,
        )
        if found.fault:
            self.class_prior_ = float("nan")
        else:
            self.class_prior_interval_ = found.prior_interval
        found.warn()

    def _warn_if_equal(self, keys: Array) -> None:
        if (keys == keys[0]).all():
            note(
                f"the {keys.size} positive rows are all equal: the model knows a single "
                "example of the class",
            )

    def _strong(
        self, mapper: Any, given: Given, positives: Array, unlabelled: Array, shared: Array
    ) -> tuple[Array, Array]:
        """Return which unlabelled rows are strong negatives, and numbers of the least strong ones.

        Shared rows are none. The numbers are as many as a training of many rows begins with.
        """
        self.mapper_, scores = mapping_scores(mapper, given, positives, unlabelled)
        strong = unlabelled & ~shared
        scores = scores[strong[unlabelled]]  # of the rows that may be
        below = scores < 0
        if not below.any():
            if self.map_fallback is None or scores.size == 0:
                raise no_strong_negatives(scores, int(shared.sum()))
            below = lowest_share(scores, given.weights[strong], self.map_fallback)
            note(
                f"the mapper found no strong negatives; the loop begins with the {below.sum()} "
                f"unlabelled rows of the lowest scores (map_fallback={self.map_fallback:g})",
                ScarceDataWarning,
            )
        strong[strong] = below
        nearest, few = np.flatnonzero(strong), n_begun_with(given.rows, positives.size)
        if nearest.size > few:
            nearest = np.sort(nearest[np.argpartition(-scores[below], few)[:few]])
        return strong, nearest

    def _held_out(self, positives: Array, keys: Array) -> Array:
        if self.stop == "held_out":
            return positives[held_out_rows(keys)]
        choose = getattr(self.stop, "hold_out", None)
        return positives[:0] if choose is None else positives[choose(positives.size)]

    def _rules(self, held_out: Array) -> list[Callable[[History], tuple[int, bool]]]:
        rules: list[Callable[[History], tuple[int, bool]]] = []
        if self.stop == "held_out":
            rules += [best_round] if held_out.size else []
        elif self.stop is not None:
            rules.append(self.stop)
        if self.stop_recall is not None:
            rules.append(lambda history: last_with_recall(history, self.stop_recall))
        return rules

    def _keep_trained(self, trained: Trained) -> None:
        self.classifier_ = trained.model
        # New rows of a precomputed kernel come with a column for every row of the fit.
        self._columns = trained.rows if learner_kernel(self._kernel()).pairwise else None

    def _keep_outcome(self, outcome: Outcome) -> None:
        self._keep_trained(outcome.kept)
        self.history_ = outcome.history
        self.n_rounds_ = len(outcome.history["recall"])
        self.round_kept_ = outcome.round_kept
        self.converged_ = outcome.ending in ("settled", "rule")
        self.n_iter_ = max(1, sum(outcome.history["n_iter"]))
        self.nu_ = outcome.kept.nu
        self.fit_status_ = int(self._cut_short() is not None or not self.converged_)
        if hasattr(self.classifier_, "support_"):
            self.support_ = outcome.kept.rows[self.classifier_.support_]

    def _cut_short(self) -> Any:
        """Return the learner of this library that did not reach its tolerance, if there is one."""
        mapped = [getattr(self.mapper_, name, None) for name in ("detector_", "bags_")]
        for learner in (self.classifier_, *mapped):
            if isinstance(learner, KernelMachine) and learner.fit_status_:
                return learner
        return None

    def _warn(self, outcome: Outcome) -> None:
        """Say once what went on in the rounds."""
        guards, values = outcome.history["guard"], outcome.history["nu"]
        for guard, why in GUARDS.items():
            rounds = [number + 1 for number, seen in enumerate(guards) if seen == guard]
            if rounds:
                note(
                    f"{guard} in the rounds {rounds}, to {values[rounds[0] - 1]:.4g} at first: "
                    f"{why}; history_ has the values",
                )
        if self.stop_recall is not None and max(outcome.history["recall"]) < self.stop_recall:
            note(
                f"no round has a recall of stop_recall={self.stop_recall:g} on the positives; the "
                f"first has {outcome.history['recall'][0]:.4g} and was kept",
            )
        # A fit that was cut short has a warning of its own, below.
        much = 0.1 * outcome.accepted_share + 0.001
        if self.taken_back_ > much and not self.fit_status_:
            note(
                f"the classifier accepts {self.accepted_share_:.3g} of the unlabelled weight, but "
                f"only {outcome.accepted_share:.3g} was accepted in every round: the negatives "
                f"that were kept (keep={self.keep!r}) do not hold the boundary. Use "
                'recheck=True, keep="all" or a narrower kernel.',
            )
        cause = ""
        if outcome.ending == "stopped":
            cause = "A callback stopped the solver."
        elif outcome.ending == "max_rounds":
            cause = (
                f"max_rounds={self.max_rounds} ended the fit while "
                f"{outcome.history['rejected'][-1]} more rows were rejected."
            )
        elif outcome.ending == "no margin":
            cause = (
                f"The round {self.n_rounds_ + 1} has no margin and ended the fit, with the "
                f"classifier of round {outcome.round_kept + 1}, which accepts "
                f"{self.accepted_share_:.3g} of the unlabelled weight. It had {outcome.problem}"
            )
        elif (learner := self._cut_short()) is not None:
            cause = (
                f"The solver of {type(learner).__name__} terminated early "
                f"(max_iter={learner.max_iter}). Consider pre-processing your data with "
                f"StandardScaler or MinMaxScaler. {quality(learner)}"
            )
        if cause:
            note(cause, ConvergenceWarning)

    # The fitted model.

    def _positive_is_second(self) -> bool:
        return bool(self.pos_label_ == self.classes_[1])

    def _scores(self, X: Any) -> Array:
        """Return the classifier's decisions, positive for positives, block by block."""
        check_is_fitted(self)
        rows = checked_rows(self, X, self._kernel(), reset=False)
        seen = rows if self._columns is None else rows.against(self._columns)
        return np.asarray(seen.scores(np.arange(rows.shape[0]), self.classifier_.decision_function))

    def _kernel_sum(self) -> KernelSum | None:
        if not isinstance(self.classifier_, KernelMachine):
            return None
        found = self.classifier_._kernel_sum()
        return found if found is None or self._positive_is_second() else found.scaled(-1.0)

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in memory or memory-mapped; for a precomputed kernel, their values with the
            training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``, whichever label is the positive one.
        """
        scores = self._scores(X)
        return scores if self._positive_is_second() else -scores

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in memory or memory-mapped; for a precomputed kernel, their values with the
            training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``; rows on the boundary are positive.
        """
        positive = self._scores(X) >= 0
        return np.asarray(self.classes_[(positive == self._positive_is_second()).astype(np.intp)])


GUARDS = {
    "nu lowered": "the smaller class does not allow a larger value",
    "nu raised": "the margin vanishes at smaller values, because the classes overlap",
}


def last_with_recall(history: History, least: float) -> tuple[int, bool]:
    """Return the last round of sufficient recall on the positives, and whether it is the latest."""
    latest = len(history["recall"]) - 1
    enough = history["recall"][latest] >= least
    return (latest, True) if enough else (max(0, latest - 1), False)
