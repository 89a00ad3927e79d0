"""A paper whose figures can be worked out by hand."""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

from papers import Experiment, Outcome, Paper, both_protocols, fixed, run_papers


def measure(
    seed: int,
    size: int,
    pause: float = 0.0,
    data: str = "",
    grid: str = "quick",
    methods: tuple[str, ...] = ("better", "plain"),
) -> list[Outcome]:
    """Reach ``size`` plus noise by the better method, one less by the other."""
    time.sleep(pause)
    noise = np.random.default_rng(seed).uniform(0.0, 0.5)
    if size == 7:
        warnings.warn(f"seed {seed} is odd", UserWarning, stacklevel=1)
    better = both_protocols(
        "better",
        [{"c": 1}, {"c": 2}] if grid == "quick" else [{"c": 9}],
        lambda c: (-c, {"accuracy": size + noise + c}),  # the criterion prefers c = 1
    )
    found = [*better, *fixed("plain", lambda: {"accuracy": size + noise - 1.0})]
    return [outcome for outcome in found if outcome.method in methods]


def explode(seed: int, **options: object) -> list[Outcome]:
    raise ValueError("no such luck")


def toy(pause: float = 0.0, **changes: object) -> Paper:
    values = {
        "key": "sizes",
        "title": "Sizes",
        "caption": "All choices are ours.",
        "metrics": {"accuracy": "Accuracy, %"},
        "methods": ("plain", "better"),
        "reference": "better",
        "settings": {f"size {size}": {"size": size, "pause": pause} for size in (3, 5, 7)},
        "run": measure,
        "repetitions": 6,
        "quick_repetitions": 2,
        "quick_settings": ("size 3", "size 7"),
        "printed": {("size 3", "plain", "accuracy"): 2.5},
    }
    return Paper("toy", "A toy", "Nobody (2000)", (Experiment(**(values | changes)),))


def run_toy(out: Path, paper: Paper | None = None, **changes: object):
    options = {
        "full": True,
        "seed": 0,
        "n_jobs": 1,
        "missing": lambda name: None,
        "report": lambda name, done, total: None,
    }
    return run_papers([paper or toy()], out, **(options | changes)).papers[0]


if __name__ == "__main__":
    run_toy(Path(sys.argv[1]), toy(pause=0.02), n_jobs=int(sys.argv[2]))
