"""What the learners from proportions have in common: input, the fitted model, prediction, score."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._classes import check_labels, check_lengths, two_classes
from scarce._data import comes_in_chunks
from scarce._frame import NOT_FINITE, Interval, StrOptions, checked_weights, note
from scarce._kernel_machine import KernelMachine
from scarce._kernel_sum import KernelSum
from scarce._predictions import no_nan
from scarce.kernels import Kernel, make_kernel, make_operator, weighted_scores
from scarce.parallel import single_threaded_blas
from scarce.proportions._calibrated import (
    FEWEST_GROUPS,
    MOST_ROWS,
    GroupRows,
    LeftOut,
    calibration_rows,
    has_mixed_groups,
    note_few_labels,
    note_one_label,
    plain,
    worth_of,
)
from scarce.proportions._calibration import (
    accepting_cut,
    wanted_scores,
    warn_of_equal_shares,
    warn_of_silent_groups,
)
from scarce.proportions._fitting import bags_in_memory
from scarce.proportions._groups import Bags, grouped_rows, read_shares, single_rows
from scarce.proportions._prediction import SharePrediction, has_several_columns
from scarce.proportions._share_loss import RowGroups, fit_share_calibration
from scarce.proportions._soft_labels._features import MOST_SOFT_ROWS
from scarce.proportions._soft_labels._fitting import SoftLabelled, Start
from scarce.proportions._space import BagSpace, Expansion, bag_space

if TYPE_CHECKING:
    from scarce._by_chunks import Plan

SHARED = (
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "tol",
    "verbose",
    "max_iter",
    "approximation",
    "n_components",
    "random_state",
)
FROM_SOFT_LABELS = (
    "soft_label_gap_",
    "share_slope_",
    "shrinkage_",
    "left_out_shares_",
    "left_out_sizes_",
    "_share_lines",
)


class ShareMachine(SharePrediction, SoftLabelled):
    """Base of classifiers that learn from the proportions of the classes in groups."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        **{name: KernelMachine._allowed_values[name] for name in SHARED},
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "clip": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="neither")],
        "classes": ["array-like", None],
        "cost_per": [StrOptions({"row", "group"})],
        "price": [StrOptions({"row", "group", "deprecated"})],
        "calibrate": [StrOptions({"em", "shares"}), None],
        "threshold": [StrOptions({"half", "proportion"})],
    }

    intercept_: Array
    _cut: Any = 0.0  # what the offset holds for labels, and probabilities do not

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True, "sample_weight": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False  # labels are two; shares may be of more
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "cost_per" not in state:  # written when `price` was its name
            state = {**state, "cost_per": state.get("price", "row"), "price": "deprecated"}
        super().__setstate__(state)

    # The way of a fit: bags, their features, the estimator's own problem, calibration. Subclasses
    # have `_refuse_common`, `_learnt` and `_judge`.

    def _fit_shares(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> None:
        """Fit rows in memory, or in chunks, of which the bags are added up by passes."""
        self._forget_reads()
        if self.price != "deprecated":
            note(
                f"price={self.price!r} is deprecated and will be removed in version 0.2: use "
                f"cost_per={self.price!r}",
                FutureWarning,
            )
        # Hundreds of short products: threads of BLAS would spin between them, and change the sums.
        with single_threaded_blas:
            if comes_in_chunks(X) or (groups is not None and self._reads_chunks(X)):
                chunks = self._opened(X, y=y, groups=groups, sample_weight=sample_weight)
                data = import_module("scarce.proportions._collected").collected_bags(self, chunks)
            else:
                data = bags_in_memory(self, X, y, groups, sample_weight)
            wanted = self._wanted(data.bags, data.mixed)
            models, solutions = self._learnt(
                data.space, data.bags, wanted, data.sources, data.functions
            )
            data.keep(self, models)
            self._add_source(data.sources)
            data.calibrate(self, models)
            self._judge(data.bags, solutions, data.mixed)

    # Input.

    def _prepared(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Any, Bags]:
        """Return checked rows and their bags; set `classes_`."""
        if groups is None and not has_several_columns(y):
            return self._labelled(X, y, sample_weight)
        if y is None:
            self._validated(X, y, reset=True)  # says that y is required
        X = self._validated(X, reset=True)
        weights = checked_weights(sample_weight, X)
        if groups is None:
            shares = read_shares(y, X.shape[0])
            missing = np.flatnonzero(np.isnan(shares).any(axis=1))
            if missing.size:
                raise ValueError(
                    f"y must hold the proportions of each row, got NaN in row {missing[0]}"
                )
            bags = single_rows(shares, weights)
        else:
            bags = grouped_rows(y, groups, weights)
        self._name_classes(max(2, bags.shares.shape[1]))
        if bags.shares.shape[1] == 2:  # two columns say one thing
            bags = replace(bags, shares=bags.shares[:, 1:])
        return X, bags

    def _name_classes(self, n_classes: int) -> None:
        """Set `classes_` to the names that were given, or to numbers."""
        self.classes_ = np.arange(n_classes) if self.classes is None else np.asarray(self.classes)
        if self.classes_.shape != (n_classes,) or len(set(self.classes_.tolist())) != n_classes:
            raise ValueError(
                f"classes must be {n_classes} different names, one for each class of y, got "
                f"{self.classes!r}"
            )

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Bags]:
        """Return rows that are groups of their own, with labels for proportions."""
        X, y = self._validated(X, y, reset=True)
        y = column_or_1d(y, warn=True)
        check_lengths(X, y)
        try:
            check_labels(y)
        except ValueError as error:
            raise ValueError(
                f"{error} Proportions of groups need `groups`, the group of each row; a search or "
                "cross-validation passes them on to the estimator only with "
                "sklearn.set_config(enable_metadata_routing=True)."
            ) from None
        weights = checked_weights(sample_weight, X)
        advice = "give y of shape (n_samples, n_classes), or "
        classes, signs = two_classes(y, weights, type(self).__name__, advice=advice)
        if self.classes is not None and list(self.classes) != classes.tolist():
            raise ValueError(
                f"classes={self.classes!r} names the columns of proportions; the labels in y are "
                f"{classes.tolist()}. Leave classes=None for labels."
            )
        self.classes_ = classes
        return X, single_rows((signs > 0)[:, None].astype(float), weights)

    def _wanted(self, bags: Bags, mixed: bool) -> list[tuple[Array, Array]]:
        """Return wanted scores and tubes of the groups for every problem; warn of useless ones."""
        warn_of_equal_shares(bags.shares, bags.n_common)
        pairs = [
            wanted_scores(column, bags.sizes, self.epsilon, self.clip) for column in bags.shares.T
        ]
        if pairs:
            scores, tubes = (np.concatenate(each) for each in zip(*pairs, strict=True))
            # Proportions within the tolerance of one half are no fault where the scores only begin.
            half = self.epsilon if mixed and self.calibrate == "em" else 0.0
            warn_of_silent_groups(scores, tubes, self.epsilon, half)
        return pairs

    def _scored(self, X: Any, bags: Bags, grouped: bool) -> GroupRows | None:
        """Return the rows whose scores say how groups are met, if groups of several rows are."""
        if not (grouped and bags.sizes.size and has_mixed_groups(X, bags)):
            return None
        cheap = self._kernel_type.explicit
        if self.calibrate == "em":  # for a start: few rows do, unless all get soft labels
            few = bags.rows.size <= MOST_SOFT_ROWS
            cheap = few and (cheap or self.approximation is not None)
        return calibration_rows(bags, cheap)

    def _bag_space(self, X: Any, bags: Bags, kernel: Kernel, scored: GroupRows | None) -> BagSpace:
        rows = bags.rows
        if kernel.has_formula:
            self._check_diagonal(make_operator(X[rows], kernel))
        landmarks = None
        if self.approximation is not None:
            landmarks = rows[self._choose_landmarks(rows.size)]
        return bag_space(X, bags, kernel, landmarks, None if scored is None else scored.rows)

    def _factors(self, bags: Bags) -> Array:
        """Return the factor of every bag's cost."""
        cost_per = self.cost_per if self.price == "deprecated" else self.price
        if cost_per == "group":
            return bags.masses
        return np.asarray(bags.masses * np.append(np.ones(bags.n_common), bags.sizes))

    # The fitted model.

    def _keep_models(self, X: Any, models: list[Expansion]) -> None:
        """Store one expansion per problem over the rows that any of them needs."""
        support = np.unique(np.concatenate([model.support for model in models]))
        dual = np.zeros((len(models), support.size))
        for row, model in zip(dual, models, strict=True):
            row[np.searchsorted(support, model.support)] = model.coefficients
        if not np.isfinite(dual).all():
            raise ValueError(NOT_FINITE)
        self._keep(X, support, dual[0])
        self.dual_coef_ = sparse.csr_matrix(dual) if self._sparse else dual
        if self._kernel_type.explicit:
            self._coef = np.array([model.coef for model in models])

    def _keep_weight_vector(self, plan: Plan, weight_vector: Array) -> None:
        """Store a model of rows in chunks, in raw numbers."""
        self._keep_planned(plan, weight_vector)
        if plan.landmarks is None:
            self._coef = weight_vector[None, :]

    def _calibrate(
        self,
        X: Any,
        bags: Bags,
        scored: GroupRows | None,
        models: list[Expansion],
        space: BagSpace,
        sources: list[Any],
    ) -> None:
        """Turn scores into probabilities by the proportions, and say what these are worth."""
        if scored is None:
            self._calibrate_by(bags, None)
            return
        part = X[scored.rows]
        own = [model.scores for model in models if model.scores is not None]
        decisions = self._raw_decisions(part, np.column_stack(own) if own else None)
        test = None
        enough = bags.sizes.size >= FEWEST_GROUPS and bags.rows.size <= MOST_ROWS
        if enough and self.calibrate == "shares":
            test = LeftOut(self, X, bags, self._block)
        logits = self._calibrate_by(
            bags, (decisions, self._source_decisions(part)), scored.in_groups, scored.chosen, test
        )
        if self.calibrate == "em":
            start = Start(scored.rows, scored.in_groups, scored.chosen, logits)
            self._learn_soft_labels(X, bags, space, start, sources)

    def _calibrate_by(
        self,
        bags: Bags,
        decisions: tuple[Array, Array | None] | None,
        in_groups: RowGroups | None = None,
        chosen: Array | None = None,
        test: LeftOut | None = None,
    ) -> Array:
        """Calibrate by decisions, and the source's, of rows of some groups; return their logits.

        None where groups say nothing of rows; ``test`` says whether it harms.
        """
        self._forget_calibration()
        self.effective_labels_ = worth_of(bags)
        if decisions is None or in_groups is None:
            return np.zeros((0, 1))
        own, source = decisions
        shares = bags.shares[chosen]
        if source is not None:
            self.source_calibration_ = plain(fit_share_calibration(source, in_groups, shares))
        if self.calibrate is not None:
            self.left_out_loss_ = {} if test is None else test.loss
            if test is None or not test.harmful:
                slope, shifts = fit_share_calibration(own, in_groups, shares)
                self.calibration_ = plain((slope, shifts))
                self.intercept_ = self.intercept_ + shifts / slope
                own = own + shifts / slope
        if self.calibrate != "em":  # whose model is another one
            self._settle(own, in_groups, bags)
        return np.asarray(own if self.calibration_ is None else self.calibration_[0] * own)

    def _forget_calibration(self) -> None:
        """Drop what an earlier fit has stored."""
        self.calibration_ = None
        self.left_out_loss_ = {}
        self._cut = 0.0
        for name in FROM_SOFT_LABELS:
            self.__dict__.pop(name, None)

    def _settle(self, decisions: Array, in_groups: RowGroups, bags: Bags) -> None:
        """Put the threshold of labels into the offset, given decisions of rows; warn if scarce."""
        if self.threshold == "proportion":
            overall = np.average(bags.shares, axis=0, weights=bags.sizes)
            weights = in_groups.parts * in_groups.sizes[in_groups.codes]
            self._cut = accepting_cut(decisions, weights, overall)
            self.intercept_ = self.intercept_ - self._cut
        note_few_labels(bags, self.effective_labels_)
        note_one_label(decisions - self._cut, bags)

    def _block(self, X: Any, rows: Array, columns: Array) -> Any:
        """Return some rows; of a kernel matrix, their values with some others."""
        return X[np.ix_(rows, columns)] if self._kernel_type.pairwise else X[rows]

    def _raw_decisions(self, X: Any, scores: Array | None = None) -> Array:
        """Return the decisions of checked rows, whose scores may be known, a column per problem."""
        scores = self._scores(X) if scores is None else scores
        return np.asarray(scores + self._source_part(X) + self.intercept_)

    def _read_sources(self, X: Any, kernel: Kernel, n_problems: int) -> list[Any]:
        """Return one source a problem, or none."""
        return []

    def _add_source(self, sources: list[Any]) -> None:
        """Add what the sources are to a model that is stored."""

    def _source_part(self, X: Any) -> Array | float:
        """Return what a source adds to the scores."""
        return 0.0

    def _source_decisions(self, X: Any) -> Array | None:
        """Return those of the source, if there is one."""
        return None

    @property
    def coef_(self) -> Array:
        """Weights of the features, for a linear kernel."""
        if not self._kernel_type.explicit:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef = self._coef.view()
        coef.flags.writeable = False
        return coef

    def _scores(self, X: Any) -> Array:
        """Return the scores of checked rows without the offset, one column per problem."""
        if self._kernel_type.explicit:
            vectors = [sparse.csr_array(w) if sparse.issparse(X) else w for w in self._vectors]
            kernel = make_kernel("linear")
            scores = [no_nan(weighted_scores(X, w, np.ones(1), kernel)) for w in vectors]
            return np.column_stack(scores)
        dual, zeros = self._dense_dual(), np.zeros(X.shape[0], np.int64)
        return np.column_stack([self._scores_of(X, row[None, :], zeros) for row in dual])

    def _kernel_sum(self) -> KernelSum | None:
        if self._kernel_type.explicit:
            n = self._coef.shape[0]
            return KernelSum(self._fitted_kernel(), self._coef, np.eye(n), self.intercept_)
        return super()._kernel_sum()

    @property
    def _vectors(self) -> list[Array]:
        return [vector[None, :] for vector in self._coef]
