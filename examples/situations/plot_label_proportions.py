"""
What proportions of groups are worth
====================================

The same 1,600 rows of two moons come in groups three times: 100 groups made at random, 12 groups
made at random, and 12 groups of neighbours. No label of a row is known, only the proportion of
positives in each group.

* Groups made at random have nearly the same proportions, whatever their size, and are worth about
  one label each. Twelve of them say little of 1,600 rows, and the fit warns of it.
* Groups of neighbours differ, and twelve of them are worth more than a thousand labels.

`effective_labels_` says so before anything is predicted. Above are the probabilities that were
learnt, with rows in the colour of their group's proportion; below the mean probability of each
group against its proportion, as published (one cost for each group, no calibration) and by default.
Points on the dashed line are met.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from scarce import GroupProbabilitySVM, ScarceDataWarning
from scarce.proportions import (
    ShareCalibrationDisplay,
    ShareSurfaceDisplay,
    expand_proportions,
    group_proportions,
)

# Twelve groups at random are worth too few labels. Here that is the point.
warnings.simplefilter("ignore", ScarceDataWarning)

# %%
# Rows, and three ways to put them into groups
# --------------------------------------------
X, labels = make_moons((1000, 600), noise=0.25, random_state=0)
X_new, labels_new = make_moons((1000, 600), noise=0.25, random_state=1)
random = np.random.default_rng(0)
groupings = {
    "100 groups at random": random.permutation(len(X)) % 100,
    "12 groups at random": random.permutation(len(X)) % 12,
    "12 groups of neighbours": KMeans(12, n_init=1, random_state=0).fit_predict(X),
}

# %%
# Two methods for each
# --------------------
figure, axes = plt.subplots(2, 3, figsize=(13.0, 8.0), layout="constrained")
methods = {
    "published": (GroupProbabilitySVM(cost_per="group", calibrate=None), "#d55e00"),
    "default": (GroupProbabilitySVM(), "0.1"),
}
for (title, groups), (above, below) in zip(groupings.items(), axes.T, strict=True):
    share = expand_proportions(group_proportions(labels, groups), groups)
    for name, (model, colour) in methods.items():
        model.fit(X, share, groups)
        ShareCalibrationDisplay.from_estimator(
            model, X, share, groups, name=name, color=colour, ax=below
        )
    right = np.mean(model.predict(X_new) == labels_new)
    ShareSurfaceDisplay.from_estimator(model, X, share, groups, show_colorbar=False, ax=above)
    above.set_title(f"{title}: {right:.0%} right")
    above.set(xticks=[], yticks=[])
    below.spines[["top", "right"]].set_visible(False)

plt.show()
