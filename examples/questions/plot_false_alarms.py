"""
Thresholds that hold on new rows
================================

A class is two clouds in ten columns. A model is fitted to a few dozen rows, and new rows of the
same class arrive: how many are rejected?

`nu` is a rule about training rows. The fewer there are, the more new rows fall outside. With
``offset="left_out"`` every training row is scored by a model that has not seen it, and the
threshold is put among these scores.

* The first panel shows them, the threshold at a rate of 0.1, and scores of rows of another class.
* The second shows p-values of new rows: if all is well, one tenth has a p-value up to
  one tenth, and so on along the diagonal. The band is what 40 rows can promise.
* The third shows the proportion of new rows rejected, means of several draws, where 0.1 was wanted.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import OneClassSVM
from scarce.one_class import LeftOutScoresDisplay, PValueDisplay

SIZES, DRAWS, WANTED = (10, 20, 40, 80, 160), 12, 0.1


def clouds(n, random):
    """Return rows of the class."""
    return random.normal(size=(n, 10)) + 2.0 * random.integers(0, 2, size=(n, 1))


def detector(offset):
    """Return a detector that is asked for one tenth of false alarms, each in its own way."""
    return OneClassSVM(nu=WANTED, offset=offset)  # one tenth is the default of "left_out"


# %%
# One model
# ---------
random = np.random.default_rng(0)
new, others = clouds(2000, random), random.normal(3.5, 1.5, size=(500, 10))
model = detector("left_out").fit(clouds(40, random))
print(f"new rows rejected: {np.mean(model.predict(new) < 0):.3f}, wanted {WANTED}")

# %%
# Many draws
# ----------
rates = {"training": [], "left_out": []}
for n in SIZES:
    for offset, found in rates.items():
        draws = [detector(offset).fit(clouds(n, random)) for _ in range(DRAWS)]
        found.append(np.mean([each.predict(new[:500]) < 0 for each in draws]))

# %%
# The figure
# ----------
figure, panels = plt.subplots(1, 3, figsize=(12.5, 3.6), layout="constrained")
LeftOutScoresDisplay.from_estimator(model, others, name="rows of another class", ax=panels[0])
panels[0].set(ylim=(0, 0.27))
panels[0].legend(frameon=False, fontsize=7, loc="upper left")
PValueDisplay.from_estimator(model, new, name="new rows", ax=panels[1])
panels[2].axhline(WANTED, color="#333333", linewidth=0.8)
for offset, colour in (("training", "#d55e00"), ("left_out", "#0072b2")):
    panels[2].plot(SIZES, rates[offset], "o-", color=colour, label=f'offset="{offset}"')
panels[2].set(xscale="log", xticks=SIZES, xticklabels=SIZES, ylim=(0, 1))
panels[2].minorticks_off()
panels[2].set(xlabel="training rows", ylabel="proportion of new rows rejected")
panels[2].legend(frameon=False)
plt.show()
