"""`--monitor FILE`: evidence of a change, kept from one table to the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scarce._model_files import write_whole
from scarce.cli._outputs import UsageError
from scarce.cli._words import counted
from scarce.monitoring import DriftMonitor


def opened(model: Any, path: Path) -> DriftMonitor:
    """Return the monitor of a file, or a new one if there is none."""
    try:
        if not path.exists():
            return DriftMonitor(model)
        return DriftMonitor.from_state(model, json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"--monitor {path}: {error}") from None


def store(monitor: DriftMonitor, path: Path) -> str:
    """Write what a monitor has seen, as a whole; return a line that says it."""
    write_whole(path, json.dumps(monitor.to_state()))
    if monitor.alarm_ is not None:
        return (
            f"drift: the rows changed, alarm at row {monitor.alarm_ + 1:,} of all that were "
            f"monitored (chance of a false alarm at most {monitor.alpha:g})"
        )
    return (
        f"monitor: {counted(monitor.n_rows_, 'row')} so far, evidence of a change "
        f"{monitor.capital_:.3g} (alarm at {1 / monitor.alpha:g}); lately "
        f"{monitor.rejected_proportion_:.0%} rejected"
    )
