"""
Updating a fitted model
=======================

A pump wears off: its normal readings move, slowly. A model that was fitted once rejects more and
more of them. One that is brought up to date with every batch, and forgets old rows, goes on
rejecting the proportion that was asked for.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import OneClassSVM

BATCH, BATCHES = 20, 150
random = np.random.default_rng(0)


def batch(number):
    """Return normal readings, which move by three standard deviations in all."""
    return random.normal(size=(BATCH, 4)) + 3.0 * number / BATCHES


once = OneClassSVM(nu=0.1, false_alarms=0.1, gamma=0.1)
moving = OneClassSVM(nu=0.1, false_alarms=0.1, gamma=0.1, window=300)
first = np.concatenate([batch(0) for _ in range(15)])
once.fit(first)
moving.partial_fit(first)

rejected = []
for number in range(BATCHES):
    X = batch(number)
    rejected.append([(model.predict(X) < 0).mean() for model in (once, moving)])
    moving.partial_fit(X)

# %%
# Averages over ten batches; .1 was asked for. A window lags behind by half its length, and rejects
# a little more than that.

averages = np.array(rejected).reshape(-1, 10, 2).mean(axis=1)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for line, name in zip(averages.T, ["fitted once", "window of 300 rows"], strict=True):
    axes.plot(np.arange(5, BATCHES, 10), line, label=name)
axes.axhline(0.1, color="grey", linestyle=":", label="asked for")
axes.set(xlabel="batch", ylabel="proportion rejected", ylim=(0, 1))
axes.legend()
plt.show()
