"""
A fit that never holds all rows
===============================

Eighty thousand rows are given in chunks, as if they did not fit into memory. A first model comes
from a sample. Then all rows are read in turn, those that may lie on the wrong side of the margin
are kept (the band), and only their program is solved. The certificate is computed over all rows, so
that the fit knows when it is done.

* The first panel shows every fortieth row, the boundary, and the margin around it, within which the
  rows decide.
* The second compares what there is with what is kept.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import SVC
from scarce.chunks import ArrayChunks

random = np.random.default_rng(0)
X = random.uniform(-3, 3, size=(80_000, 2))
y = X[:, 1] + 0.15 * random.normal(size=len(X)) > np.sin(2 * X[:, 0])

# %%
# The fit
# -------
model = SVC(gamma=0.5, approximation="nystroem", n_components=50, random_state=0)
model.fit(ArrayChunks(X, rows=2_500), y)
print(f"{model.n_reads_} reads, relative duality gap {model.dual_gap_:.0e}")

# %%
# The figure
# ----------
figure, panels = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
for label, colour in ((True, "#0072b2"), (False, "#d55e00")):
    panels[0].scatter(*X[::40][y[::40] == label].T, s=4, color=colour, linewidths=0)
across, up = np.meshgrid(np.linspace(-3, 3, 100), np.linspace(-3, 3, 100))
values = model.decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
lines = {"levels": [-1, 0, 1], "linestyles": ["--", "-", "--"], "colors": "0.2"}
panels[0].contour(across, up, values, **lines)
panels[0].set(aspect="equal", xticks=[], yticks=[])
counts = {
    "rows": len(X),
    "rows in a chunk": 2_500,
    "rows in the band": int(model.history_["band_rows"][-1]),
    "landmarks of the kernel": model.n_components,
}
bars = panels[1].barh(list(counts), list(counts.values()), color=["0.75", *["#009e73"] * 3])
panels[1].bar_label(bars, [f" {count:,}" for count in counts.values()])
panels[1].set(xscale="log", xlim=(10, 5e5))
panels[1].invert_yaxis()
panels[1].spines[["top", "right"]].set_visible(False)

plt.show()
