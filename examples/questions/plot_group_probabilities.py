"""
Proportions of groups and a source model
========================================

Two moons are the source, and someone has trained an SVM on them. The target is the same moons,
turned by 40 degrees. Of its rows no label is known: they come in 15 groups of 20, and for each
group only the proportion of positives is given. One row in ten was not turned; on these common rows
the source model can be trusted.

* The source alone knows the shape but not the turn.
* `GroupProbabilitySVM` (IC-SVM) sees the proportions alone: few groups, and mixed at random.
* `TransferGroupProbabilitySVM` (TGPLM-CD) has both. `transfer` is the pull towards the source's
  weights: without it the common rows still act, and with a very large one the weights are the
  source's, and only the offset is learnt.

The last picture compares the proportions of predicted labels with those given. It needs no label of
a row, and so it is what parameters can be chosen by.

One draw proves little, so the curve is the mean of ten; the pictures show the first. Width and
costs were chosen by hand, on other draws: this is a picture, not a benchmark.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator

from scarce import SVC, GroupProbabilitySVM, ScarceDataWarning, TransferGroupProbabilitySVM
from scarce.datasets import make_rotated_moons
from scarce.proportions import ShareCalibrationDisplay, ShareSurfaceDisplay

GAMMA = 1.0
PUBLISHED = {"cost_per": "group", "calibrate": None}  # the models of the papers
TRANSFERS = np.logspace(-3, 3, 13)
SHOWN = [1e-3, 0.3, 1e3]

# Every fit says that 15 groups are worth few labels. Here that is the point.
warnings.simplefilter("ignore", ScarceDataWarning)


# %%
# The data and the models
# -----------------------
def draw(seed):
    """Return the moons of one draw."""
    return make_rotated_moons(angle=40, n_groups=15, common=0.1, random_state=seed)


def fit_source(moons):
    """Return the model of the source's owner, frozen: it is used, and not fitted again."""
    return FrozenEstimator(SVC(C=10.0, gamma=GAMMA).fit(moons.X_source, moons.y_source))


def fit_groups(moons):
    """Return a model of the proportions alone."""
    model = GroupProbabilitySVM(C=3.0, gamma=GAMMA, **PUBLISHED)
    return model.fit(*moons.training_rows(common=False))


def fit_transfer(moons, source, transfer):
    """Return a model of proportions, common rows and source."""
    model = TransferGroupProbabilitySVM(
        source=source, transfer=transfer, C_common=0.1, C_group=3.0, gamma=GAMMA, **PUBLISHED
    )
    return model.fit(*moons.training_rows())


def accuracy(model, moons):
    """Return the proportion of target rows that are classified right; no model has seen a label."""
    return float(np.mean(model.predict(moons.X_target) == moons.y_target))


# %%
# Ten draws
# ---------
curves, alone, shares_only = [], [], []
for moons in map(draw, range(100, 110)):
    source = fit_source(moons)
    alone.append(accuracy(source, moons))
    shares_only.append(accuracy(fit_groups(moons), moons))
    curves.append([accuracy(fit_transfer(moons, source, value), moons) for value in TRANSFERS])

# %%
# One of them
# -----------
moons = draw(100)
source = fit_source(moons)
groups = fit_groups(moons)
transferred = {value: fit_transfer(moons, source, value) for value in SHOWN}
best = transferred[SHOWN[1]]

figure = plt.figure(figsize=(13.0, 8.0), layout="constrained")
panels = figure.subplot_mosaic([["source", "groups", "both"], ["pull", "curve", "shares"]])
reach = np.abs(np.r_[moons.X_source, moons.X_target]).max() + 0.2


def draw_boundary(ax, model, **style):
    """Draw where a model's decision is zero."""
    lines = np.linspace(-reach, reach, 150)
    xx0, xx1 = np.meshgrid(lines, lines)
    values = model.decision_function(np.column_stack([xx0.ravel(), xx1.ravel()]))
    return ax.contour(xx0, xx1, values.reshape(xx0.shape), levels=[0], **style)


# %%
# The source's own rows, which stay with their owner, and its boundary on the turned rows.
ax = panels["source"]
for label, colour in enumerate(["#2166ac", "#b2182b"]):
    ax.scatter(*moons.X_source[moons.y_source == label].T, s=10, color=colour, alpha=0.25)
    ax.scatter(*moons.X_target[moons.y_target == label].T, s=10, color=colour)
draw_boundary(ax, source, colors=["0.1"], linewidths=1.6)
ax.set_title(f"Source (pale) on the target: {accuracy(source, moons):.0%} right")

# %%
# Rows have the colour of their group's proportion, the surface that of the probability. Squares are
# common rows.
X, y, ids = moons.training_rows(common=False)
ShareSurfaceDisplay.from_estimator(
    groups, X, y, ids, margin=0.4, show_colorbar=False, ax=panels["groups"]
)
panels["groups"].set_title(f"Proportions alone (IC-SVM): {accuracy(groups, moons):.0%} right")

X, y, ids = moons.training_rows()
display = ShareSurfaceDisplay.from_estimator(
    best, X, y, ids, margin=0.4, show_colorbar=False, ax=panels["both"]
)
panels["both"].set_title(f"Proportions and source (TGPLM-CD): {accuracy(best, moons):.0%} right")
figure.colorbar(
    display.points_["grouped"], ax=panels["both"], label="proportion in the group, probability"
)

# %%
# From the proportions' boundary to the source's.
ax = panels["pull"]
ax.scatter(*moons.X_target.T, s=10, color="0.8")
looks = [("dotted", "#009e73"), ("solid", "0.1"), ("dashed", "#d55e00")]
for (value, model), (line, colour) in zip(transferred.items(), looks, strict=True):
    draw_boundary(ax, model, linewidths=1.8, linestyles=[line], colors=[colour])
    ax.plot([], [], linestyle=line, color=colour, label=f"{value:g}")  # for the legend
ax.legend(title="transfer", frameon=False, loc="upper right")
ax.set_title("What the pull does")

for name in ("source", "groups", "both", "pull"):
    panels[name].set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[])
    panels[name].set_aspect("equal")

# %%
# The means, and each draw in grey.
ax = panels["curve"]
ax.plot(TRANSFERS, np.transpose(curves), color="0.85", linewidth=0.8)
ax.plot(
    TRANSFERS, np.mean(curves, axis=0), color="0.1", linewidth=2.0, label="proportions and source"
)
ax.axhline(np.mean(shares_only), color="#009e73", linestyle="dotted", label="proportions alone")
ax.axhline(np.mean(alone), color="#d55e00", linestyle="dashed", label="source alone")
ax.set(xscale="log", xlabel="transfer", ylabel="accuracy", title="Mean of ten draws")
ax.legend(frameon=False, loc="lower left")

# %%
for name, model, colour in (("source", source, "#d55e00"), ("proportions and source", best, "0.1")):
    ShareCalibrationDisplay.from_estimator(
        model,
        X,
        y,
        ids,
        response_method="predict",
        name=name,
        color=colour,
        alpha=0.7,
        ax=panels["shares"],
    )
panels["shares"].set_title("Proportions of predicted labels")
for name in ("curve", "shares"):
    panels[name].spines[["top", "right"]].set_visible(False)

plt.show()
