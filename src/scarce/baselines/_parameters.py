"""Parameters that the margin learners here share with `SVC`."""

from __future__ import annotations

from typing import Any

from scarce.classification import SVC

# What `SVC` has for the sake of scikit-learn's class, or to go on with a fit.
LEFT_OUT = {"shrinking", "decision_function_shape", "break_ties", "warm_start"}

SHARED: dict[str, Any] = {
    name: allowed for name, allowed in SVC._allowed_values.items() if name not in LEFT_OUT
}
