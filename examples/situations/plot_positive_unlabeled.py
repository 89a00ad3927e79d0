"""
What a positive-unlabelled model decides by
===========================================

Fifty rows of a class are labelled; the labels of 1,500 others are unknown. `PositiveUnlabeledSVC`
scores every row by models that were not trained on it. Three pictures:

* The scores. Unlabelled rows of the class lie where the labelled ones lie, the others to the left.
  The dotted outline is the part of the unlabelled rows that the class prior says.
* The boundary in the plane.
* What happens when the labelled rows are not a random part of the class, but its easiest cases: the
  proportion that is accepted falls. Crosses mark the fits that warn of it;
  a small bias goes unnoticed.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import f1_score

from scarce import PositiveUnlabeledSVC, ScarceDataWarning
from scarce.datasets import label_some_positives
from scarce.positive_unlabeled import OutOfBagDisplay

# %%
# The data
# --------
random = np.random.default_rng(0)
truth = np.arange(1550) < 400
X = random.normal(size=(truth.size, 2)) * np.where(truth, 0.8, 1.6)[:, None]
X += np.where(truth, 2.5, 0.0)[:, None]
y = label_some_positives(X, truth, 50, random_state=0)
model = PositiveUnlabeledSVC(random_state=0).fit(X, y)

# %%
# Scores and boundary
# -------------------
figure, panels = plt.subplots(1, 3, figsize=(15.0, 4.4), layout="constrained")
OutOfBagDisplay.from_estimator(model, ax=panels[0])
panels[0].set_title(f"Out-of-bag scores; true proportion {truth[y == 0].mean():.2f}")
panels[1].scatter(*X[y == 0].T, s=5, color="0.65", linewidths=0)
panels[1].scatter(*X[y == 1].T, s=12, color="#d55e00", linewidths=0)
DecisionBoundaryDisplay.from_estimator(
    model,
    X,
    response_method="decision_function",
    plot_method="contour",
    levels=[0],
    colors=["#08306b"],
    ax=panels[1],
)
panels[1].set(title=f"Boundary, F1 = {f1_score(truth, model.predict(X)):.2f}", aspect="equal")

# %%
# Labels that are not random
# --------------------------
biases = [0.0, 0.5, 1.0, 2.0]
accepted, scores, warned = [], [], []
for bias in biases:
    labels = label_some_positives(X, truth, 50, bias=bias, random_state=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScarceDataWarning)
        biased = PositiveUnlabeledSVC(random_state=0).fit(X, labels)
    warned.append(bool(caught))
    accepted.append(biased.accepted_share_ / truth[labels == 0].mean())
    scores.append(f1_score(truth, biased.predict(X)))
panels[2].plot(biases, accepted, "o-", color="#0072b2", label="accepted over true proportion")
panels[2].plot(biases, scores, "s-", color="#d55e00", label="F1")
crosses = np.ma.masked_where(np.logical_not(warned), scores)
panels[2].plot(biases, crosses, "kx", markersize=11, label="warned")
panels[2].set(title="Easy cases labelled first", xlabel="bias of the labels", ylim=(0, None))
panels[2].legend(frameon=False)

plt.show()
