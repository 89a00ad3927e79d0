"""A model of a related domain as the source of a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from scarce._model_files import load, read_card
from scarce.cli._outputs import UsageError
from scarce.io import Column, ColumnPlan, TableError


def source_estimator(path: Path, plan: ColumnPlan) -> tuple[Any, Any, ColumnPlan]:
    """Return the step that makes numbers of columns, and an estimator, both of a source's.

    Both domains must be seen in one way: the source's columns, scaled as there, its kernel.

    ``path``: the model file of the source, which `scarce fit` wrote. ``plan``: what would be done
    with the target's columns alone.
    """
    from scarce import TransferGroupProbabilitySVM

    card, model = read_card(path), load(path)
    if not (isinstance(model, Pipeline) and "fit" in card and hasattr(model, "classes_")):
        raise UsageError(
            f"--source-model must be a model that scarce fit wrote from proportions, or from "
            f"positive and unlabelled rows; {path} holds {type(model).__name__}"
        )
    learnt = ColumnPlan.from_dicts(card["fit"]["columns"])
    absent = [name for name in learnt.types if name not in [c.name for c in plan.columns]]
    if absent:
        raise TableError(f"{path} was learnt from columns that are not there: {', '.join(absent)}")
    estimator = model[-1]
    own = estimator.get_params(deep=False)
    kernel = {name: own[name] for name in ("kernel", "degree", "coef0")}
    transfer = TransferGroupProbabilitySVM(
        source=FrozenEstimator(estimator), gamma=estimator._gamma, **kernel
    )
    columns = [
        next(each for each in learnt.columns if each.name == column.name)
        if column.name in learnt.types
        else column if column.use not in ("number", "category")
        else Column(column.name, "left out", column.values, column.missing, "not in the source")
        for column in plan.columns
    ]  # fmt: skip
    return FrozenEstimator(model[0]), transfer, ColumnPlan(tuple(columns))
