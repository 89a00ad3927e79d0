"""Waiting for a cluster: never in silence, and not for ever where no worker is left."""

from __future__ import annotations

import logging
import time
from importlib import import_module
from typing import Any

MOST_SECONDS = 300.0  # that clusters which start workers on demand may take for the first
EVERY = 5.0  # seconds between two lines

log = logging.getLogger("scarce")
now = time.monotonic


class NoWorkerError(TimeoutError):
    """No worker of a cluster has run for a while; other errors of time are those of reading."""


def awaited(client: Any, futures: list[Any], timeout: float) -> None:
    """Return when all tasks have ended, well or not; raise if no worker runs for a while.

    ``timeout``: seconds that the cluster may be without a running worker.
    """
    wait: Any = import_module("distributed").wait
    alone: float | None = None  # since when no worker runs
    while True:
        left = timeout if alone is None else alone + timeout - now()
        patience = min(EVERY, left)
        try:
            wait(futures, timeout=patience)
        except TimeoutError:
            pass
        else:
            return
        state = _state_without_workers(client)
        if state is None:
            alone = None
            continue
        alone = now() - patience if alone is None else alone
        left = alone + timeout - now()
        if left <= 0:
            client.cancel(futures)
            raise NoWorkerError(
                f"the Dask cluster at {_address(client)} has had {state} for {timeout:g} s, and "
                f"{_number_unfinished(futures)} tasks are unfinished; start workers and fit "
                "again, or wait longer with DaskChunks(X, worker_timeout=...)"
            )
        log.warning(
            "waiting for a worker of the Dask cluster at %s, which has %s: %d tasks are "
            "unfinished, an error follows in %.0f s",
            _address(client),
            state,
            _number_unfinished(futures),
            left,
        )


def _state_without_workers(client: Any) -> str | None:
    """Return why nothing is computed; None if a worker runs."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    states = [worker.get("status", "running") for worker in workers]
    if "running" in states:
        return None
    return f"only {len(states)} workers that are {states[0]}" if states else "no workers"


def _address(client: Any) -> str:
    return str(client.scheduler.address)


def _number_unfinished(futures: list[Any]) -> int:
    return sum(future.status == "pending" for future in futures)
