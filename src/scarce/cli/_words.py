"""What a fitted model promises, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce.cli._fit import LABELLED
from scarce.cli._info import estimator_of
from scarce.kernels import kernel_type

LEAST = 1e-4  # percent; a smaller gap says nothing more
SHOWN = 8  # names of rows on the screen
WIDE = 1000.0  # ratio of the columns' spreads beyond which a kernel of distances sees one alone


def counted(number: int, word: str) -> str:
    """Return a number of things in words: 1 row, 20,000 rows."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def promise(task: Any, model: Any) -> list[str]:
    """Return what a model says of new rows, a sentence a line."""
    estimator, kind = estimator_of(model), task.kind
    if kind in LABELLED:
        lines = _judged(kind, task.facts["held out"])
        if kind == "open-set":
            rate = f"about {estimator.false_alarms:.0%} of new rows of a known class, or less"
            lines.append(f"{rate}, will be called {estimator.unknown_label_}")
        return lines
    if kind == "pu":
        low, high = estimator.class_prior_interval_
        return [
            f"about {estimator.class_prior_:.0%} of the unlabelled rows belong to the class, "
            f"somewhere from {low:.0%} to {high:.0%}",
            f"labelled rows rank above unlabelled ones with an area under the curve of "
            f"{estimator.out_of_bag_auc_:.2f} (0.5 is chance, "
            f"{1 - estimator.class_prior_ / 2:.2f} is the maximum)",
        ]
    if kind == "groups":
        return [f"the proportions are worth about {estimator.effective_labels_:.0f} labelled rows"]
    if task.groups is not None:
        own = int((model.models_ == "own").sum())
        few = model.groups_.size - own
        line = (
            f"{counted(own, 'group')} with a model of its own"
            if own == 1
            else (f"{own:,} groups with a model of their own")
        )
        if few:
            line += f", {few:,} with fewer than {model.min_rows} rows share one of all rows"
        rate = model.estimator.false_alarms
        return [line, f"about {rate:.0%} of new rows of a group will be rejected"]
    low, high = model.false_alarm_range_
    # Few rows cannot be told to reject as little as was asked for, and a warning has said so.
    kept = task.n_rows - len(dropped_rows(model))
    rate = max(model.false_alarms_, 1.0 / (kept + 1.0))
    digits = 0 if high - low >= 0.015 else 1
    return [
        f"about {rate:.0%} of new rows of the class will be rejected; from so many rows "
        f"it may be roughly {low:.{digits}%} to {high:.{digits}%}"
    ]


def _judged(kind: str, found: dict[str, float]) -> list[str]:
    if not found:
        return ["too few rows to hold some out and judge by them"]
    ours, plain = found["ours"], found["plain"]
    if kind != "regress":
        line = f"right for {ours:.0%} of held-out rows; the largest class alone would be right for "
        return [f"{line}{plain:.0%}"]
    line = f"off by {ours:.3g} on average on held-out rows; the median alone would be off by "
    return [f"{line}{plain:.3g}"]


def dropped_rows(model: Any) -> Any:
    """Return the places of rows left out of a fit that may not belong to the class."""
    return getattr(model, "dropped_", np.empty(0, np.intp))


def left_out(task: Any, model: Any) -> list[str]:
    """Return which rows a fit has left out, in one sentence, none if there are none."""
    names = [str(name) for name in task.ids[dropped_rows(model)]]
    if not names:
        return []
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return [
        f"{len(names):,} of {counted(task.n_rows, 'row')} may not belong to the class and "
        f"{'was' if len(names) == 1 else 'were'} not learnt from: {task.id_name} "
        f"{', '.join(names[:SHOWN])}{more}"
    ]


def certified(estimator: Any) -> Any:
    """Return the part of a model that has a certificate: of a mean with trees the kernel model."""
    return getattr(estimator, "svc_", None) or estimator


def _worst(estimator: Any) -> Any:
    """Return the part with the largest duality gap, of models for each class or group."""
    if hasattr(estimator, "unknown_label_") or hasattr(estimator, "models_"):
        models = list(estimator.estimators_)
        if hasattr(estimator, "classifier_"):
            models.append(estimator.classifier_)
        parts = [certified(estimator_of(each)) for each in models]
        return max(parts, key=lambda part: float(part.dual_gap_))
    return certified(estimator)


def quality(model: Any) -> str:
    """Return the certificate in plain words, no more than it proves."""
    estimator = _worst(estimator_of(model))
    gap, violation = float(estimator.dual_gap_), float(estimator.kkt_violation_)
    what = "solved to optimality"
    if hasattr(estimator_of(model), "svc_"):
        what = "the kernel model beside the trees is solved to optimality"
    if getattr(estimator, "fit_status_", 0) != 0:
        what = "the tolerance was not met"
    if hasattr(estimator, "factors_"):
        # Not convex as a whole: each factor is the solution of a convex problem given the others.
        what = "the last convex step is " + what if "solved" in what else what
    if np.isnan(gap):
        return f"{what}: optimality conditions violated by {violation:.1e} at most"
    if 100 * gap < LEAST:
        return f"{what}, duality gap below {LEAST:.4f} %"
    return f"{what}, duality gap {100 * gap:.2g} %"


def unscaled(model: Any) -> str | None:
    """Return a warning if a kernel of distances gets columns of very different scales."""
    estimator = certified(estimator_of(model))
    rows, kernel = getattr(estimator, "support_vectors_", None), getattr(estimator, "kernel", None)
    if rows is None or sparse.issparse(rows) or np.ndim(rows) != 2 or len(rows) < 2:
        return None
    if kernel is None or not kernel_type(kernel).vanishes:
        return None
    spreads = np.asarray(rows, dtype=np.float64).std(axis=0)
    spreads = spreads[spreads > 0]
    if not spreads.size or spreads.max() <= WIDE * spreads.min():
        return None
    return (
        f"the columns that the kernel sees differ in spread by a factor of "
        f"{spreads.max() / spreads.min():.2g}: the widest decides alone. Scale them, by a "
        "StandardScaler before the estimator or by scarce fit"
    )
