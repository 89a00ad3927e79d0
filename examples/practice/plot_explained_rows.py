"""
Why was this row rejected?
==========================

A detector of breast tumours that has seen benign ones only, and three malignant ones. What
`scarce.explain` says divides each score among the columns of the table: how much of the difference
to the nearest accepted support vector is due to each. The values add up to the score.

The same pipeline, handed over as an ONNX graph or a model file, gives the same scores; the
explanation needs Python.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.filter(like="mean ").rename(columns=lambda name: name.removeprefix("mean "))
benign, malignant = X[y == 1], X[y == 0]

# %%
# The detector, and three rows near its threshold
# -----------------------------------------------
detector = scarce.OneClassSVM(nu=0.1, gamma=0.05, offset="left_out")
model = make_pipeline(StandardScaler(), detector).fit(benign)
scores = model.decision_function(malignant)
near = malignant.iloc[np.argsort(-np.where(scores < -0.5, scores, -np.inf))[:3]]
found = scarce.explain(model, near)
print(f"values and scores differ by {np.abs(found.residual).max():.0e}")

# %%
# What each column adds
# ---------------------
figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.8), layout="constrained", sharey=True)
for axes, values, start, end in zip(
    panels, found.values, found.baseline_scores, found.scores, strict=True
):
    axes.barh(range(len(values)), values, color=np.where(values < 0, "#d55e00", "#0072b2"))
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.set(title=f"from {start:.2f} to {end:.2f}", xlabel="adds to the score")
panels[0].set_yticks(range(len(found.feature_names)), found.feature_names)
panels[0].invert_yaxis()

plt.show()
