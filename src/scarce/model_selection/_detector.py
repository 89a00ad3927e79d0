"""What a threshold for any detector asks of it: fits of some rows, scores of one sign and scale."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator, check_cv

from scarce._arrays import Array
from scarce._frame import Notes, note, num_samples, refuse_unsafe, refuse_words, safe_indexing
from scarce._kernel_machine import KernelMachine, check_range
from scarce._kernel_sum import in_order
from scarce._sklearn import copied
from scarce._warnings import NarrowWidthWarning, ScarceDataWarning
from scarce.held_out import WIDE_NU, WIDER, left_out_parts, on_margin, warm_start
from scarce.kernels import distinct_rows
from scarce.one_class import OneClassSVM

SAME_SCORE = 1e-5  # relative difference up to which a row alone scores as it does among others
FAR = 100.0  # times the range of a column that no row of the class is away


@dataclass(frozen=True)
class FitData:
    """What a fit is given, and parts of it."""

    # X, y: rows, and labels or None
    X: Any
    y: Any
    given: dict[str, Any]  # other values of the rows for `fit`

    def own(self, detector: Any, name: str) -> Any:
        """Return values of a name, which for a pipeline may be named after its last step."""
        last = f"{detector.steps[-1][0]}__{name}" if hasattr(detector, "steps") else name
        return self.given.get(name, self.given.get(last))

    def fitted(self, detector: Any, rows: Array | None = None) -> Any:
        """Return the detector, fitted to some rows, all by default."""
        if rows is None:
            return detector.fit(self.X, self.y, **self.given)
        labels = None if self.y is None else safe_indexing(self.y, rows)
        kept = {name: safe_indexing(value, rows) for name, value in self.given.items()}
        return detector.fit(safe_indexing(self.X, rows), labels, **kept)

    def held_out(
        self, detector: Any, fitted: Any, rows: Array, parts: list[Array], alone: bool = False
    ) -> tuple[Array, list[Any]]:
        """Return the scores of the rows of each part by a detector of the others.

        ``rows`` are those that take part, in order.
        ``alone``: detectors know nothing of the one fitted to all rows, not even its width, as the
        proof of "cv+" asks for, and are returned too.
        """
        n = num_samples(self.X)
        found, models = np.empty(n), []
        unfitted = clone(detector) if alone else with_width_of(detector, fitted)
        # The fit to all rows has had the parameters checked.
        with config_context(skip_parameter_validation=True):
            for part in parts:
                stays = np.ones(n, bool)
                stays[part] = False
                kept, model = stays[rows], copied(unfitted)
                if not alone:
                    start_near(last_step(model), last_step(fitted), kept)
                self.fitted(model, rows[kept])
                found[part] = self.scores(model, part)
                if not alone:
                    found[part] = on_margin(found[part], margin(model), margin(fitted))
                models += [model] if alone else []
        return found, models

    def scores(self, model: Any, rows: Array) -> Array:
        """Return the scores of some rows."""
        return scores(model, safe_indexing(self.X, rows))


def last_step(model: Any) -> Any:
    """Return the detector at the end of a pipeline, or the one that is given."""
    return model[-1] if hasattr(model, "steps") else model


def wide(detector: Any, data: FitData) -> Any:
    """Return a detector that looks at the rows from afar: a wide kernel, if it has one."""
    model = clone(detector)
    if is_kernel_machine(model):
        last_step(model).set_params(gamma="scale", nu=WIDE_NU)
        scale = last_step(data.fitted(clone(model)))._gamma
        last_step(model).set_params(gamma=scale / WIDER)
    return model


def is_kernel_machine(detector: Any) -> bool:
    """Return whether the detector has a width that may be set."""
    last = last_step(detector)
    return isinstance(last, KernelMachine) and "nu" in last.get_params()


def with_width_of(detector: Any, fitted: Any) -> Any:
    """Return a detector with the width that one of all rows has found.

    One number: found anew from nine tenths of the rows it would be wider, and held-out scores too
    high.
    """
    model = clone(detector)
    if isinstance(last_step(model), KernelMachine):
        last_step(model).set_params(gamma=last_step(fitted)._gamma)
    return model


def start_near(machine: Any, fitted: Any, kept: Array) -> None:
    """Let the fit of some of the rows begin near the solution for all of them."""
    if not isinstance(machine, OneClassSVM) or fitted.approximation is not None:
        return
    alpha = np.zeros(kept.size)
    alpha[fitted.support_] = fitted._dual_variables()
    mass = float(alpha.sum()) * float(kept.mean())
    start = warm_start(np.where(kept, alpha, 0.0), mass)
    if start is not None:
        machine._start_at(start[kept])


def scores(model: Any, X: Any) -> Array:
    """Return scores on one scale, whatever the size of the sample, higher for more normal rows.

    A detector that ranks rows among those they come with, as pyod's ECOD does, gets one at a time:
    a threshold holds for no other score.
    """
    found = _own_scores(model, X)
    if found.size > 1 and not isinstance(last_step(model), KernelMachine):
        alone = _own_scores(model, safe_indexing(X, np.arange(1)))
        if not np.isclose(alone[0], found[0], rtol=SAME_SCORE, atol=0.0, equal_nan=True):
            each = np.arange(found.size)[:, None]
            found = np.concatenate([_own_scores(model, safe_indexing(X, row)) for row in each])
    if _is_pyod(last_step(model)):
        return -found

    def rows(places: Array) -> Any:
        some = safe_indexing(X, places)
        return model[:-1].transform(some) if len(getattr(model, "steps", ())) > 1 else some

    return in_order(last_step(model), found, rows) / score_scale(model)


def _own_scores(model: Any, X: Any) -> Array:
    scorer = getattr(model, "score_samples", None) or model.decision_function
    return np.asarray(scorer(X), dtype=np.float64).reshape(-1)


def score_scale(model: Any) -> float:
    """Return what scores are divided by: LIBSVM's grow with nu n."""
    last = last_step(model)
    return float(last.dual_coef_.sum()) if _is_one_class_svm(last) else 1.0


def margin(model: Any) -> float:
    """Return the score on the margin of a one-class SVM; 0 where it is not known."""
    last = last_step(model)
    if not _is_one_class_svm(last) or getattr(last, "_offset_rule", "training") != "training":
        return 0.0
    return float(last.offset_[0]) / score_scale(model)


def _is_one_class_svm(detector: Any) -> bool:
    """Return whether scores are in LIBSVM's scale: ours, or scikit-learn's."""
    return isinstance(detector, OneClassSVM) or type(detector).__name__ == "OneClassSVM"


def _is_pyod(detector: Any) -> bool:
    """Return whether higher means more odd, as in pyod."""
    return any(each.__module__.partition(".")[0] == "pyod" for each in type(detector).__mro__)


def refuse_upside_down(model: Any, X: Any, median: float) -> None:
    """Refuse a detector that scores rows far away on both sides above the median row."""
    last = last_step(model)
    if isinstance(last, KernelMachine) or _is_one_class_svm(last):
        return  # whose sign is known, and of which a polynomial kernel grows on both sides
    far = _far_rows(X)
    if far is None:
        return
    found = scores(model, far)
    if (found > median).all():
        raise ValueError(
            f"{type(last).__name__} scores rows that are {FAR:g} times the range of the columns "
            f"away {found.min():.3g}, above the median row ({median:.3g}), and higher must mean "
            "more normal: give a detector whose score_samples returns the negated scores"
        )


def _far_rows(X: Any) -> Any:
    """Return a row far above and one far below all rows of numbers; None for other rows."""
    values = np.asarray(X) if hasattr(X, "iloc") else X
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiu":
        return None
    low, high = values.min(axis=0).astype(float), values.max(axis=0).astype(float)
    away = FAR * (high - low)
    far = np.array([low - away, high + away])
    if not np.isfinite(far).all() or not away.any():
        return None
    return type(X)(far, columns=X.columns) if hasattr(X, "iloc") else far


def weights_for(detector: Any, sample_weight: Any) -> dict[str, Any]:
    """Return weights under the names that the fit of a detector, or of a pipeline, takes."""
    steps = getattr(detector, "steps", None)
    if steps is None:
        if not _takes_weights(detector):
            raise ValueError(
                f"sample_weight is given, and {type(detector).__name__}.fit takes no weights: "
                "leave it out, or give a detector that does, such as OneClassSVM"
            )
        return {"sample_weight": sample_weight}
    names = [name for name, step in steps if _takes_weights(step)]
    if steps[-1][0] not in names:
        raise ValueError(
            f"sample_weight is given, and {type(steps[-1][1]).__name__}.fit, the last step, takes "
            "no weights: leave it out, or give a detector that does, such as OneClassSVM"
        )
    return {f"{name}__sample_weight": sample_weight for name in names}


def _takes_weights(step: Any) -> bool:
    if not hasattr(step, "fit"):  # "passthrough"
        return False
    parameters = signature(step.fit).parameters
    kinds = [each.kind for each in parameters.values()]
    return "sample_weight" in parameters or Parameter.VAR_KEYWORD in kinds


def parts_to_leave_out(
    cv: Any, data: FitData, counted: Array, for_splitter: dict[str, Any]
) -> list[Array]:
    """Return the rows to be left out together, all of them rows that count."""
    rows = safe_indexing(data.X, counted)
    if cv is None:
        first, members = distinct_rows(comparable(rows))
        if first.size < 2:
            raise ValueError(
                "CalibratedOneClass needs at least 2 distinct rows of the class, and there is "
                f"one (n_samples={first.size}); give more rows, or use the detector by itself"
            )
        return [counted[np.isin(members, part)] for part in left_out_parts(first.size)]
    splitter: BaseCrossValidator = check_cv(cv)
    labels = None if data.y is None else safe_indexing(data.y, counted)
    kept = {name: safe_indexing(value, counted) for name, value in for_splitter.items()}
    parts = [test for _, test in splitter.split(rows, labels, **kept)]
    if isinstance(cv, Integral) or hasattr(cv, "split"):
        parts = [counted[test] for test in parts]
    else:  # rows as they were given, also those of weight 0
        parts = [np.intersect1d(test, counted) for test in parts]
    together = np.sort(np.concatenate(parts))
    if together.size != counted.size or (together != counted).any():
        raise ValueError(
            f"cv={cv!r} must leave out every row exactly once, such as KFold, GroupKFold "
            "or LeaveOneOut"
        )
    return parts


def equal_rows(data: FitData, counted: Array) -> Array:
    """Return the place of each row that counts among the distinct ones."""
    return distinct_rows(comparable(safe_indexing(data.X, counted)))[1]


def note_once(notes: Notes, n_fits: int) -> None:
    """Warn of what fits without some rows warned of, each category once."""
    firsts: dict[type[Warning], str] = {}
    for message, category in notes:
        if not issubclass(category, (NarrowWidthWarning, ScarceDataWarning)):
            firsts.setdefault(category, message)
    for category, message in firsts.items():
        note(f"of {n_fits} fits without some rows the first to warn gave: {message}", category)


def plain(X: Any) -> Any:
    """Return rows that can be compared and counted: arrays and CSR."""
    refuse_unsafe(X)
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)


def rows_for(detector: Any, X: Any) -> Any:
    """Return rows as a detector takes them, for the default one, None, as arrays of float64.

    So that their kind, precision and layout make no difference to a scaler.
    """
    if detector is not None or sparse.issparse(X):
        return X if hasattr(X, "iloc") else plain(X)
    values = plain(X)
    if values.dtype.kind not in "fiub":  # which the detector refuses
        refuse_words(X)
        return values
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isfinite(values).all() and values.ndim == 2:
        check_range(values)
    return values


def comparable(rows: Any) -> Any:
    """Return rows as `plain`, the texts of a frame's columns as numbers."""
    values = plain(rows)
    if values.dtype != object or not hasattr(rows, "iloc"):
        return values
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in values.T]
    return np.column_stack(codes)
