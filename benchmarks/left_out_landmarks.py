"""False alarms of Nystroem machines whose left-out fits keep their landmarks.

``python -m benchmarks.left_out_landmarks [data ...]`` writes
``results/left_out_landmarks.json``: in memory, by chunks, and beside them the offset of the
training rows. Rows of a data set, all classes together, are drawn for training; the others are
fresh. None of these sets was looked at when the rule was made. ``SCARCE_DATA`` names the folder of
letter, isolet and positions.
"""

import gzip
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import scale

from scarce import OneClassSVM
from scarce.chunks import ArrayChunks

RESULTS = Path(__file__).parent / "results" / "left_out_landmarks.json"
SIZES = (100, 300, 1000, 5000)
RATES = (0.05, 0.1)
FEWEST_FRESH = 75
DRAWS = {100: 20, 300: 20, 1000: 10, 5000: 5}


def table(name, columns):
    path = Path(os.environ["SCARCE_DATA"]) / name
    with gzip.open(path, "rt") as file:
        return np.genfromtxt(file, delimiter=",", skip_header=1, usecols=columns)


def cover():
    """Rows like a forest's: skewed measurements, and which of several kinds each row is of."""
    random = np.random.default_rng(11)
    kind = random.choice(7, size=30_000, p=[0.35, 0.3, 0.15, 0.1, 0.05, 0.03, 0.02])
    centres = 2.0 * random.normal(size=(7, 10))
    measured = centres[kind] + random.gamma(2.0, size=(kind.size, 10)) * random.uniform(
        0.3, 1.5, 10
    )
    soil = (kind * 3 + random.integers(0, 5, size=kind.size)) % 20
    return np.hstack([measured, 2.0 * np.eye(20)[soil]])


DATA = {
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data,
    "digits": lambda: load_digits().data,
    "letter": lambda: table("letter.csv.gz", range(16)),
    "positions": lambda: table("ldpa_a01_a03_full_precision.csv.gz", (-4, -3, -2)),
    "isolet": lambda: np.load(Path(os.environ["SCARCE_DATA"]) / "isolet.npz")["X"],
    "cover": cover,
}


def one_draw(X, n, width, seed):
    """Rates at which fresh rows are rejected, for every wanted rate and way."""
    order = np.random.default_rng([99, seed]).permutation(len(X))
    rows, fresh = np.ascontiguousarray(X[order[:n]]), X[order[n:]][:5000]
    gamma = OneClassSVM(gamma=width, offset="left_out").fit(rows[:1000])._gamma
    low_rank = {
        "gamma": gamma,
        "approximation": "nystroem",
        "n_components": n // 5 if n < 1500 else 300,
        "random_state": seed,
    }
    ways = {
        "memory": OneClassSVM(nu=0.1, offset="left_out", **low_rank).fit(rows),
        "chunks": OneClassSVM(nu=0.1, offset="left_out", **low_rank).fit(
            ArrayChunks(rows, rows=-(-n // 3))
        ),
    }
    found = {}
    for rate in RATES:
        for name, model in ways.items():
            found[f"{name} {rate}"] = float(np.mean(model.p_values(fresh) <= rate))
        own = OneClassSVM(nu=rate, **low_rank).fit(rows)
        found[f"training {rate}"] = float(np.mean(own.predict(fresh) == -1))
    return found


def main(names):
    warnings.simplefilter("ignore")
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for name in names or DATA:
        X = scale(np.asarray(DATA[name](), dtype=np.float64))
        for n in SIZES:
            if len(X) < n + FEWEST_FRESH:
                continue
            for width in ("scale", "neighbors"):
                draws = [one_draw(X, n, width, seed) for seed in range(DRAWS[n])]
                entry = {"data": name, "rows": n, "width": width, "draws": len(draws)}
                for key in draws[0]:
                    values = [draw[key] for draw in draws]
                    entry[key] = [round(float(f(values)), 4) for f in (np.mean, np.std, min, max)]
                kept = [
                    each
                    for each in kept
                    if (each["data"], each["rows"], each["width"]) != (name, n, width)
                ]
                kept.append(entry)
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
                print(entry, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
