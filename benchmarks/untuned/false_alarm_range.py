"""How often `false_alarm_range_` holds the proportion of new rows that is rejected (wanted: 90 %).

The number of new rows that are rejected has noise too, so that it is held against the beta-binomial
distribution that the range belongs to. Run ``python -m benchmarks.untuned.false_alarm_range``, with
the letters of SCARCE_DATA.
"""

import warnings

import numpy as np
from scipy.stats import betabinom

from papers.data import load_dataset
from scarce import CalibratedOneClass

LETTERS = "ADHMOSVY"
DRAWS, WANTED = 8, 0.1


def samples():
    letter = load_dataset("letter")
    random = np.random.default_rng(9)
    load = random.uniform(20, 90, 3000)
    pressure = 0.05 * load + random.normal(0, 0.15, 3000)
    mixing = np.array([[1, 0.9, 0.3], [0, 0.3, 0.5], [0, 0, 1]])
    found = {f"letter {c}": letter.data[letter.target == c].astype(float) for c in LETTERS}
    found["line and noise"] = np.c_[load, pressure, random.integers(0, 2, 3000)]
    found["normal, 10 columns"] = random.normal(size=(3000, 10))
    found["normal, correlated"] = random.normal(size=(3000, 3)) @ mixing
    found["three clouds"] = random.normal(size=(3000, 5)) + 4 * random.integers(0, 3, (3000, 1))
    return found


def rejected(rows, n, draw):
    """Return the proportion of new rows that is rejected, and whether the range holds it."""
    order = np.random.default_rng(draw).permutation(len(rows))
    model = CalibratedOneClass(false_alarms=WANTED).fit(rows[order[:n]])
    new = rows[order[n:]]
    number = np.sum(model.predict(new) == -1)
    k, counted = max(1, int(WANTED * (n + 1) + 1e-9)), max(0.15, 1 - 3 / np.sqrt(n))
    low, high = betabinom.ppf([0.05, 0.95], len(new), counted * k, counted * (n + 1 - k))
    return number / len(new), low <= number <= high


def main():
    warnings.simplefilter("ignore")  # of rates that are not attainable
    print("rows   mean share   range holds it   least of a set")
    for n in (20, 50, 80, 200):
        found = np.array(
            [[rejected(rows, n, draw) for draw in range(DRAWS)] for rows in samples().values()]
        )
        held = found[..., 1].mean(axis=1)
        print(f"{n:4}   {found[..., 0].mean():10.3f}   {held.mean():14.2f}   {held.min():14.2f}")


if __name__ == "__main__":
    main()
