"""
Open-set classification
=======================

Three classes are known. New rows may belong to one of them, to two that overlap, or to none.

* The first panel shows what `predict` of an `OpenSetClassifier` answers everywhere; white is
  "unknown". Crosses are rows of a fourth class that no training row came from.
* The second shows how many classes are in the set of each place: none, one, or two.
* The third shows the proportion of new rows of the known classes that are called unknown, where
  `false_alarms` was allowed: on the line or below it.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from scarce import OpenSetClassifier

COLOURS = ["#0072b2", "#d55e00", "#009e73"]
CENTRES = np.array([[0.0, 0.0], [3.0, 0.5], [0.5, 4.5]])
random = np.random.default_rng(0)


def rows_of(n):
    """Return n rows of each class, and their classes."""
    y = np.repeat(np.arange(3), n)
    return CENTRES[y] + random.normal(size=(y.size, 2)), y


X, y = rows_of(80)
others = random.normal([6.0, 6.0], 0.7, size=(30, 2))
model = OpenSetClassifier(false_alarms=0.05).fit(X, y)
print(f"rows of the fourth class called unknown: {np.mean(model.predict(others) == -1):.2f}")

# %%
# Called unknown, of the known classes
# ------------------------------------
rates = (0.02, 0.05, 0.1, 0.2)
new, _ = rows_of(500)
called = [
    np.mean(OpenSetClassifier(false_alarms=rate).fit(X, y).predict(new) == -1) for rate in rates
]
print("allowed and called unknown:", dict(zip(rates, np.round(called, 3).tolist(), strict=True)))

# %%
# The figure
# ----------
figure, panels = plt.subplots(1, 3, figsize=(12.5, 3.8), layout="constrained")
a, b = np.meshgrid(np.linspace(-4, 9, 90), np.linspace(-4, 9, 90))
grid = np.c_[a.ravel(), b.ravel()]
pale = ListedColormap(["#ffffff", "#b3d4e8", "#f2cfb3", "#b3e0d3"])
panels[0].pcolormesh(a, b, model.predict(grid).reshape(a.shape), cmap=pale, vmin=-1, vmax=2)
for label, colour in enumerate(COLOURS):
    panels[0].scatter(*X[y == label].T, s=8, color=colour)
panels[0].scatter(*others.T, s=16, marker="x", color="#333333")
sizes = model.predict_set(grid).sum(axis=1).reshape(a.shape)
shades = ListedColormap(["#ffffff", "#cccccc", "#777777", "#333333"])
panels[1].pcolormesh(a, b, sizes, cmap=shades, vmin=0, vmax=3)
for panel, title in zip(panels, ("class, white: unknown", "classes in the set"), strict=False):
    panel.set(title=title, xticks=(), yticks=())
panels[2].plot([0, 0.22], [0, 0.22], color="#333333", linewidth=0.8)
panels[2].plot(rates, called, "o", color="#0072b2")
panels[2].set(xlabel="false_alarms", ylabel="known rows called unknown")
plt.show()
