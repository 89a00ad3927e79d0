"""
Rows that lie somewhere in a circle
===================================

Thirty rows of one class were recorded by two instruments, of which one is off by more than the
other. A noise radius for each row says by how much; the fit looks for the place in each circle
where the row is accepted best. Arrows show where it went.

A row thrown out by the poor instrument bends the boundary less than one of the good instrument at
the same place. Whether this helps has to be seen; mostly it helps little.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce import TransferOneClassSVM
from scarce.one_class import TransferBoundaryDisplay

random = np.random.default_rng(1)
radii = np.repeat([0.1, 0.6], 15)
truth = random.normal(size=(30, 2))
X = truth + radii[:, None] * random.normal(size=(30, 2)) / np.sqrt(2)

# %%
# With the offset of the rows as recorded, so that both models reject a tenth of them
settings = {"nu": 0.1, "gamma": 0.2, "offset": "original"}
models = {
    "as recorded": TransferOneClassSVM(**settings).fit(X),
    "with a radius for each row": TransferOneClassSVM(**settings).fit(X, sample_radius=radii),
}
figure, panels = plt.subplots(1, 2, figsize=(10.0, 4.6), layout="constrained")
for panel, (title, model) in zip(panels, models.items(), strict=True):
    TransferBoundaryDisplay.from_estimator(model, X, margin=0.6, show_legend=False, ax=panel)
    panel.set(title=title, aspect="equal", xticks=[], yticks=[])
    panel.set(xlim=(-3.4, 3.4), ylim=(-2.9, 2.9))
moved = np.linalg.norm(models["with a radius for each row"].shifts_, axis=1)
print(f"mean way of a row: {moved[:15].mean():.2f} and {moved[15:].mean():.2f}")

plt.show()
