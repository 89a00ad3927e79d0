"""
Choosing a width without negatives
==================================

All rows belong to one class, a ring. How often held-out rows are accepted cannot choose a width:
the wider, the more is accepted, and the widest model accepts the middle of the ring too.
`shuffled_columns_scorer` compares held-out rows with rows whose columns were shuffled each on its
own: the same columns, without what ties them together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV

from scarce import OneClassSVM
from scarce.model_selection import shuffled_columns_scorer

random = np.random.default_rng(0)
angle = random.uniform(0, 2 * np.pi, 200)
ring = np.c_[np.cos(angle), np.sin(angle)] + 0.1 * random.normal(size=(200, 2))

# %%
# The search
# ----------
widths = np.geomspace(0.01, 100, 9)
detector = OneClassSVM(nu=0.1, offset="left_out")
search = GridSearchCV(detector, {"gamma": widths}, scoring=shuffled_columns_scorer(), cv=5).fit(
    ring
)
print(f"chosen: gamma = {search.best_params_['gamma']:.2g}")

# %%
# Scores, and the boundaries of the widest model and of the one chosen
# --------------------------------------------------------------------
figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.7), layout="constrained")
mean, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
panels[0].errorbar(widths, mean, spread, fmt="o-", color="#0072b2", capsize=3)
panels[0].axhline(0.5, color="0.5", linewidth=0.8)
panels[0].set(xscale="log", xlabel="gamma", ylabel="AUC against shuffled columns")
for panel, gamma in zip(panels[1:], (widths[0], search.best_params_["gamma"]), strict=True):
    panel.scatter(*ring.T, s=8, color="#0072b2", linewidths=0)
    DecisionBoundaryDisplay.from_estimator(
        OneClassSVM(nu=0.1, offset="left_out", gamma=gamma).fit(ring),
        ring,
        response_method="decision_function",
        plot_method="contour",
        levels=[0],
        colors=["#d55e00"],
        ax=panel,
    )
    panel.set(title=f"gamma = {gamma:.2g}", aspect="equal", xticks=[], yticks=[])
    panel.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))

plt.show()
