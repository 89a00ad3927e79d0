"""
Four kinds of scarce labels
===========================

* A few rows of one class, each measured with an error, and many of a related task.
* Some positive rows among many unlabelled ones.
* Proportions of positives in groups of rows, and the model of a related task.
* Eight recordings of a sensor array, as matrices.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator

from scarce import (
    SVC,
    OneClassSTM,
    PositiveUnlabeledSVC,
    TransferGroupProbabilitySVM,
    TransferOneClassSVM,
)
from scarce.datasets import make_rotated_moons

INK, ACCENT, FAINT = "0.15", "#d1495b", "#7a9e9f"


def draw_boundary(axes, model, label, limits, **style):
    """Draw where the decision of a model is zero."""
    x, y = np.meshgrid(np.linspace(*limits[:2], 120), np.linspace(*limits[2:], 120))
    values = model.decision_function(np.c_[x.ravel(), y.ravel()]).reshape(x.shape)
    axes.contour(x, y, values, levels=[0.0], **style)
    axes.plot([], [], color=style["colors"], ls=style.get("linestyles", "-"), label=label)


figure, panels = plt.subplots(2, 2, figsize=(9, 7.5), layout="constrained")
figure.get_layout_engine().set(h_pad=0.1)
random = np.random.default_rng(0)

# %%
# One class with a related task
# -----------------------------

axes = panels[0, 0]
angle = random.uniform(0, np.pi, 160)
source = np.c_[np.cos(angle), np.sin(angle)] * 2 + random.normal(0, 0.25, (160, 2))
angle = random.uniform(0.2, np.pi - 0.2, 12)
target = np.c_[np.cos(angle) + 0.2, np.sin(angle) + 0.2] * 2 + random.normal(0, 0.3, (12, 2))
X, domain = np.r_[source, target], np.repeat([0, -1], [160, 12])
limits = (-4, 4.5, -2, 5)
axes.scatter(*source.T, s=10, color=FAINT, label="related task")
axes.scatter(*target.T, s=28, color=INK, label="target, 12 rows")
alone = TransferOneClassSVM(nu=0.1, gamma=0.5).fit(target)
both = TransferOneClassSVM(nu=0.1, gamma=0.5, radius=0.3, relation="keep")
both.fit(X, sample_domain=domain)
draw_boundary(axes, alone, "target alone", limits, colors=INK, linestyles="--")
draw_boundary(axes, both, "TransferOneClassSVM", limits, colors=ACCENT)
axes.set_title("One class, a related task, noisy rows")

# %%
# Positive and unlabelled rows
# ----------------------------

axes = panels[0, 1]
positive = random.normal([1.5, 1.0], [1.0, 0.7], (120, 2))
others = random.uniform(-6, 6, (500, 2))
others = others[np.linalg.norm((others - [1.5, 1.0]) / [1.0, 0.7], axis=1) > 3.5]
X = np.r_[positive, others]
y = np.arange(len(X)) < 40
limits = (-6, 6, -6, 6)
axes.scatter(*X[~y].T, s=8, color=FAINT, label="unlabelled")
axes.scatter(*X[y].T, s=18, color=INK, label="positive")
model = PositiveUnlabeledSVC(random_state=0).fit(X, y)
draw_boundary(axes, model, "PositiveUnlabeledSVC", limits, colors=ACCENT)
axes.set_title("Positive and unlabelled rows")

# %%
# Proportions of groups
# ---------------------

axes = panels[1, 0]
moons = make_rotated_moons(angle=40, common=0.2, random_state=3)
old = SVC(gamma=0.5, C=32).fit(moons.X_source, moons.y_source)
X, share, groups = moons.training_rows()
published = {"cost_per": "group", "calibrate": None, "transfer": 1.0}
new = TransferGroupProbabilitySVM(source=FrozenEstimator(old), gamma=0.5, C_group=32, **published)
new.fit(X, share, groups=groups)
limits = (-2.8, 2.8, -2.3, 2.3)
points = axes.scatter(*X[groups >= 0].T, s=12, c=share[groups >= 0], cmap="coolwarm")
axes.scatter([], [], s=12, color=FAINT, label="rows, by their group's proportion")
draw_boundary(axes, old, "source's SVM", limits, colors=INK, linestyles="--")
draw_boundary(axes, new, "TransferGroupProbabilitySVM", limits, colors=ACCENT)
axes.set_title("Only the proportion of positives in each group")

# %%
# Matrices
# --------

axes = panels[1, 1]
sensors, course = np.hanning(14), np.sin(np.linspace(0, 3 * np.pi, 24))
recordings = np.einsum("i,j->ij", sensors, course) + random.normal(0, 1.0, (8, 14, 24))
weights = OneClassSTM(nu=0.1, rank=1, normalize=False, offset="training").fit(recordings).coef_
both = np.r_[recordings[0] / abs(recordings[0]).max(), np.full((1, 24), np.nan)]
both = np.r_[both, weights / abs(weights).max()]
axes.imshow(both, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
axes.set_yticks([6.5, 21.5], ["one of eight\nrecordings", "OneClassSTM\nweights"])
axes.set_xlabel("time")
axes.set_title("Eight samples that are matrices")

for axes in panels.ravel()[:3]:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.legend(loc="lower right", fontsize=7.5, framealpha=0.9)

plt.show()
