"""A callback that records its calls."""

from __future__ import annotations

from typing import Any


class Recorder:
    """A callback that records its calls, and does what it is asked to do."""

    def __init__(self, act: Any = lambda task: None) -> None:
        self.events: list[str] = []
        self.act = act

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any) -> Any:
        self.events.append(f"end {context.task_name}")
        return self.act(context.task_name)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
