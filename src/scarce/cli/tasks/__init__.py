"""From tables to what is fitted, one file a kind of supervision."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from scarce.cli._outputs import NoAnswerError
from scarce.cli.tasks._groups import groups
from scarce.cli.tasks._labelled import classify, open_set, regress
from scarce.cli.tasks._one_class import one_class, tensor
from scarce.cli.tasks._positive_unlabelled import positive_unlabelled
from scarce.cli.tasks._task import Task
from scarce.cli.tasks._transfer import transfer

__all__ = ["Task", "make_task"]

CACHE = 100  # MB of kernel values: 20,000 rows take no longer than with 200, and all 100 MB less


def make_task(kind: str, arguments: argparse.Namespace) -> Task:
    """Read the tables and return what is to be fitted."""
    makers: dict[str, Callable[[argparse.Namespace], Task]] = {
        "one-class": one_class,
        "transfer": transfer,
        "pu": positive_unlabelled,
        "groups": groups,
        "tensor": tensor,
        "classify": classify,
        "regress": regress,
        "open-set": open_set,
    }
    task = makers[kind](arguments)
    task.kind = kind
    own = {"random_state": arguments.seed, "cache_size": CACHE}
    known = task.estimator.get_params(deep=False)
    task.estimator.set_params(**{name: own[name] for name in own if name in known})
    if task.n_rows < 2:
        raise NoAnswerError(f"{arguments.table} has one row; nothing can be learnt from it")
    return task
