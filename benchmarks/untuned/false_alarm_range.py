"""How often `false_alarm_range_` holds the share of fresh rows that is rejected (wanted: 90 %).

Run ``python -m benchmarks.untuned.false_alarm_range``, with the letters of SCARCE_DATA.
"""

import warnings

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.data import load_dataset
from scarce import CalibratedOneClass, OneClassSVM

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
    """Return the share of fresh rows that is rejected, and whether the range holds it."""
    order = np.random.default_rng(draw).permutation(len(rows))
    machine = make_pipeline(StandardScaler(), OneClassSVM(gamma="neighbors", nu=0.1))
    model = CalibratedOneClass(machine, false_alarms=WANTED).fit(rows[order[:n]])
    share = np.mean(model.predict(rows[order[n:]]) == -1)
    low, high = model.false_alarm_range_
    return share, low <= share <= high


def main():
    warnings.simplefilter("ignore")  # of rates that cannot be had
    print("rows   mean share   range holds it   least of a set")
    for n in (20, 50, 80, 200):
        found = np.array(
            [[rejected(rows, n, draw) for draw in range(DRAWS)] for rows in samples().values()]
        )
        held = found[..., 1].mean(axis=1)
        print(f"{n:4}   {found[..., 0].mean():10.3f}   {held.mean():14.2f}   {held.min():14.2f}")


if __name__ == "__main__":
    main()
