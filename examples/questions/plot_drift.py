"""
Has the distribution changed?
=============================

A model is fitted to 200 rows. New rows come in batches of 50: at first like those of the fit, later
moved, little by little. When should one begin to worry?

* The first panel shows what a `DriftMonitor` makes of them: its capital, which begins at 1 and wins
  by betting against the p-values of the rows. While nothing changes it hardly ever grows; the
  chance that it *ever* reaches 100 is at most one in a hundred.
* Grey are the same monitors on ten streams without any change.
* The second panel shows the moving average of the proportion of rejected rows, which is easy to
  read and bounds nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import DriftMonitor, OneClassSVM

BATCHES, SIZE, CHANGE = 60, 50, 30
random = np.random.default_rng(0)
model = OneClassSVM(nu=0.1, false_alarms=0.1).fit(random.normal(size=(200, 5)))


def watched(drift):
    """Return a monitor that has seen all batches, moved by a little more each after the change."""
    monitor = DriftMonitor(model)
    for batch in range(BATCHES):
        moved = drift * max(0, batch - CHANGE)
        monitor.update(random.normal(moved, 1.0, size=(SIZE, 5)))
    return monitor


# %%
# One stream with a change, ten without
# -------------------------------------
changed, others = watched(0.03), [watched(0.0) for _ in range(10)]
print(f"change after row {CHANGE * SIZE}, alarm at row {changed.alarm_}")
print("alarms without a change:", sum(each.alarm_ is not None for each in others))

# %%
# The figure
# ----------
figure, panels = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
for panel, name in zip(panels, ("capital", "rejected_proportion"), strict=True):
    for each in others:
        panel.plot(each.history_["n_rows"], each.history_[name], color="#bbbbbb", linewidth=0.7)
    panel.plot(changed.history_["n_rows"], changed.history_[name], color="#0072b2")
    panel.axvline(CHANGE * SIZE, color="#333333", linewidth=0.8, linestyle=":")
    panel.set(xlabel="rows")
panels[0].axhline(100, color="#d55e00", linewidth=0.8)
panels[0].set(yscale="log", ylabel="capital", ylim=(1e-2, 1e6))
panels[1].axhline(0.1, color="#333333", linewidth=0.8)
panels[1].set(ylabel="proportion rejected, moving average", ylim=(0, 0.6))
plt.show()
