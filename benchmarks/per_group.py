"""One model for every group beside a loop over scikit-learn's, and what kernel values and steps alone take.

``python -m benchmarks.per_group`` takes about a minute: 200 rows of 10 columns a group, CPU time of one thread, three times in turn.
"""
# ruff: noqa: E501

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM as TheirOneClassSVM

from scarce import OneClassSVM, PerGroup
from scarce.kernels import make_kernel, make_operator
from scarce.reductions import one_class_program
from scarce.solvers import solve_many

ROWS, WIDTH, NU = 200, 10, 0.1


def milliseconds(call: Callable[[], Any], n_groups: int) -> float:
    """Return the CPU time of a call, for each group."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start) / n_groups


def compare(n_groups: int) -> None:
    """Print what a group takes."""
    random = np.random.default_rng(0)
    centres = 5.0 * random.normal(size=(n_groups, WIDTH))
    X = random.normal(size=(n_groups * ROWS, WIDTH)) + centres.repeat(ROWS, axis=0)
    groups = np.arange(n_groups).repeat(ROWS)
    parts = np.split(X, n_groups)
    kernels = [make_kernel("rbf", gamma=1.0 / (WIDTH * part.var())) for part in parts]
    operators = [make_operator(*each) for each in zip(parts, kernels, strict=True)]
    everyone, block, weights = np.arange(ROWS), np.empty((ROWS, ROWS)), np.ones(ROWS)
    programs = [one_class_program(each, nu=NU, weights=weights) for each in operators]
    ways: dict[str, Callable[[], Any]] = {
        "loop over scikit-learn's OneClassSVM": lambda: [
            TheirOneClassSVM(nu=NU).fit(part) for part in parts
        ],
        "PerGroup(OneClassSVM)": lambda: PerGroup(OneClassSVM(nu=NU), fallback=None).fit(
            X, groups=groups
        ),
        "the same in a loop": lambda: [OneClassSVM(nu=NU).fit(part) for part in parts],
        "solve_many alone": lambda: solve_many(programs),
        "kernel values alone": lambda: [each.write_block(everyone, block) for each in operators],
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(3):
        for name, way in ways.items():
            taken[name].append(milliseconds(way, n_groups))
    theirs = median(next(iter(taken.values())))
    print(f"{n_groups} groups\n\n| way | ms a group | share of the first |\n|---|---|---|")
    for name, times in taken.items():
        print(f"| {name} | {median(times):.3f} | {median(times) / theirs:.2f} |")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000, help="how many")
    compare(parser.parse_args().groups)


if __name__ == "__main__":
    main()
