"""Small tables for the tests of the commands."""

import numpy as np
import pandas as pd


def customers(n, shift=0.0, seed=0):
    random = np.random.default_rng(seed)
    income = random.normal(30 + shift / 2, 5, n).round(2)
    return pd.DataFrame(
        {
            "customer": [f"c{seed}-{i}" for i in range(n)],
            "age": random.normal(40 + shift, 8, n).round(1),
            "income": np.where(random.random(n) < 0.1, np.nan, income),
            "town": random.choice(["Bonn", "Köln", "Ulm"], n),
        }
    )


def districts(n_groups=12, size=20, seed=0):
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    x = random.normal(size=(group.size, 2)) + np.c_[group % 5 - 2, np.zeros(group.size)]
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "district": [f"d{g}" for g in group]})
    frame["share"] = (x[:, 0] > 0).astype(float)
    frame["share"] = frame.groupby("district")["share"].transform("mean")
    return frame


def images(n=10, seed=0):
    random = np.random.default_rng(seed)
    pattern = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 1.0])
    return pattern + 0.1 * random.normal(size=(n, 3, 4))
