"""What a fitted model promises, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from scarce.kernels import kernel_type

WIDE = 1000.0  # ratio of the columns' spreads beyond which a kernel of distances sees one alone


def machine_of(model: Any) -> Any:
    """Return the machine inside a calibrated model or a pipeline."""
    model = getattr(model, "estimator_", model)
    return model[-1] if isinstance(model, Pipeline) else model


def promise(kind: str, model: Any) -> list[str]:
    """Return what a model says of fresh rows, a sentence a line.

    Parameters
    ----------
    kind : str
        What it was learnt from.
    model : estimator
        Fitted.

    Returns
    -------
    list of str
        Sentences.
    """
    machine = machine_of(model)
    if kind == "pu":
        low, high = machine.class_prior_interval_
        return [
            f"about {machine.class_prior_:.0%} of the unlabelled rows belong to the class, "
            f"somewhere from {low:.0%} to {high:.0%}",
            f"labelled rows rank above unlabelled ones with an area under the curve of "
            f"{machine.out_of_bag_auc_:.2f} (0.5 is chance, "
            f"{1 - machine.class_prior_ / 2:.2f} the most there can be)",
        ]
    if kind == "groups":
        return [f"the shares are worth about {machine.effective_labels_:.0f} labelled rows"]
    low, high = model.false_alarm_range_
    rate = model.false_alarms_
    return [
        f"about {rate:.0%} of fresh rows of the class will be rejected; from so many rows "
        f"it may be roughly {low:.0%} to {high:.0%}"
    ]


def quality(model: Any) -> str:
    """Return the certificate in plain words.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    str
        One sentence.
    """
    machine = machine_of(model)
    gap, violation = float(machine.dual_gap_), float(machine.kkt_violation_)
    held = f"conditions of the optimum hold to {violation:.1e}"
    if np.isnan(gap):
        return f"certificate: the {held}"
    share = f"{max(100 * gap, 1e-4):.2g} %"
    status = "" if getattr(machine, "fit_status_", 0) == 0 else "; the tolerance was not met"
    return f"certificate: no solution is better by more than {share}, and the {held}{status}"


def unscaled(model: Any) -> str | None:
    """Return a warning if a kernel of distances sees columns of very different spread.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    str or None
        The warning.
    """
    machine = machine_of(model)
    rows, kernel = getattr(machine, "support_vectors_", None), getattr(machine, "kernel", None)
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
        "StandardScaler before the machine or by scarce fit"
    )
