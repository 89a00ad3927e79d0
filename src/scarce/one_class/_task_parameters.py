"""Parameters per task, the target first."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from scarce._arrays import Array


def per_task(target: float, source: float | None, n_sources: int) -> Array:
    """Return the target's value and the sources', which are the same for None.

    Examples
    --------
    >>> from scarce.one_class._task_parameters import per_task
    >>> per_task(0.1, None, 2)
    array([0.1, 0.1, 0.1])
    """
    return np.array([target] + n_sources * [target if source is None else source], dtype=float)


def task_masses(source_weight: Any, sources: list[int]) -> Array:
    """Return the tasks' masses: 1 for the target, one number or one each for the sources.

    Examples
    --------
    >>> from scarce.one_class._task_parameters import task_masses
    >>> task_masses({4: 2.0, 7: 0.5}, [4, 7])
    array([1. , 2. , 0.5])
    """
    if not isinstance(source_weight, dict):
        return np.array([1.0] + len(sources) * [source_weight], dtype=float)
    masses = source_weight.values()
    positive = (isinstance(mass, Real) and 0 < float(mass) < np.inf for mass in masses)
    if set(source_weight) != set(sources) or not all(positive):
        raise ValueError(
            f"source_weight must give each of the sources {sources} a positive number, got "
            f"{source_weight}"
        )
    return np.array([1.0] + [source_weight[source] for source in sources], dtype=float)
