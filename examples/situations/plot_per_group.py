"""
One model for every pump
========================

Each of 60 pumps has its own normal readings. One model of all of them accepts what is normal for
any pump; `PerGroup` fits one model to each.

* The first panel shows readings of five pumps, and a fault: readings of one that are normal for
  another.
* The second shows the proportion of such faults that is found, for one model of all pumps and for
  one each, where one tenth of normal readings may be rejected.
* The third shows the proportion of normal readings rejected, pump by pump.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import CalibratedOneClass, OneClassSVM, PerGroup

PUMPS, ROWS = 60, 60
random = np.random.default_rng(0)
centres = random.normal(0, 3, size=(PUMPS, 2))
pumps = np.repeat(np.arange(PUMPS), ROWS)


def readings():
    """Return normal readings of all pumps."""
    return centres[pumps] + random.normal(0, 0.7, size=(pumps.size, 2))


X, new = readings(), readings()
faults = new[np.roll(np.arange(pumps.size), 7 * ROWS)]  # those of another pump
detector = OneClassSVM(gamma="neighbors", nu=0.1, false_alarms=0.1)
model = PerGroup(detector).fit(X, groups=pumps)
together = CalibratedOneClass(false_alarms=0.1).fit(X)

# %%
# What is found
# -------------
found = {
    "one model": np.mean(together.predict(faults) == -1),
    "one each": np.mean(model.predict(faults, groups=pumps) == -1),
}
rejected = {
    "one model": together.predict(new) == -1,
    "one each": model.predict(new, groups=pumps) == -1,
}
print({name: round(float(value), 2) for name, value in found.items()})

# %%
# The figure
# ----------
figure, panels = plt.subplots(1, 3, figsize=(12.5, 3.6), layout="constrained")
for pump in range(5):
    panels[0].scatter(*X[pumps == pump].T, s=8)
panels[0].scatter(*faults[pumps == 0].T, s=16, marker="x", color="#333333")
panels[0].set(title="readings, crosses: faults of the first", xticks=(), yticks=())
colours = ["#d55e00", "#0072b2"]
panels[1].bar(list(found), list(found.values()), color=colours, width=0.5)
panels[1].set(ylim=(0, 1), ylabel="proportion of faults found")
bins = np.linspace(0, 0.6, 25)
for (name, values), colour in zip(rejected.items(), colours, strict=True):
    rates = values.reshape(PUMPS, ROWS).mean(axis=1)
    panels[2].hist(rates, bins=bins, color=colour, alpha=0.6, label=name)
panels[2].axvline(0.1, color="#333333", linewidth=0.8)
panels[2].set(xlabel="normal readings rejected", ylabel="pumps")
panels[2].legend(frameon=False)
plt.show()
