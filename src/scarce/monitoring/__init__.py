"""Whether rows that keep coming are still like those that a model was fitted to."""

from scarce._names import publish
from scarce.monitoring._drift_monitor import DriftMonitor

__all__ = ["DriftMonitor"]

publish("monitoring", globals())
