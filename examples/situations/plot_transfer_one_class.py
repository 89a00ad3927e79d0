"""
Transfer and radii in one-class learning
========================================

The target is a crescent of which ten rows are known. Eighty rows come from a source, a crescent
turned and moved a little. Two rows in five are recorded with noise. Which part of the plane belongs
to the target?

`TransferOneClassSVM` has two switches, and the four panels are their settings.

* A source lends its shape: the target's plane shares a part with the source's.
* Radii let each row lie anywhere in its circle, and the fit moves it to where it is accepted best.
  The arrows show how far. Rows thrown out by noise count for less, and the boundary is smoother.
  The offset is set on the rows as recorded, because nobody will move the new rows either.

One draw proves little, so the last panel shows twelve; the others show the one that is closest to
the means. Width and coupling were chosen by hand, on other draws: this is a picture, not a
benchmark.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score

from scarce import TransferOneClassSVM
from scarce.one_class import HistoryDisplay, TransferBoundaryDisplay

N_SOURCE, N_TARGET, N_NEW = 80, 10, 400
TARGET = -1

# name: (with sources, radius)
METHODS = {
    "OC-SVM": (False, 0.0),
    "UOC-SVM": (False, "knn"),
    "TLOC-SVM": (True, 0.0),
    "UOCT-SVM": (True, "knn"),
}


# %%
# The data
# --------
def crescent(n, random, *, turn=0.0, move=(0.0, 0.0)):
    """Return rows along a half circle, turned and moved."""
    angles = turn + random.uniform(0.0, np.pi, n)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    return rows + move + random.normal(0.0, 0.12, (n, 2))


def draw(seed):
    """Return training rows and their domains, then new rows and whether they are of the target."""
    random = np.random.default_rng(seed)
    source = crescent(N_SOURCE, random, turn=0.25, move=(0.15, -0.1))
    X = np.concatenate([source, crescent(N_TARGET, random)])
    domain = np.repeat([0, TARGET], [N_SOURCE, N_TARGET])
    noisy = random.random(len(X)) < 0.4
    X[noisy] += random.normal(0.0, 0.3, (noisy.sum(), 2))
    others = random.uniform([-2.0, -1.2], [2.0, 2.0], (2 * N_NEW, 2))
    new = np.concatenate([crescent(N_NEW, random), others])
    return X, domain, new, np.repeat([1, -1], [N_NEW, 2 * N_NEW])


def fit(name, X, domain):
    """Return the fitted model, and the rows and domains it was fitted to."""
    with_sources, radius = METHODS[name]
    rows = np.flatnonzero(with_sources | (domain == TARGET))
    published = {"offset": "original", "relation": "keep"}  # all sources, where they are
    model = TransferOneClassSVM(nu=0.1, coupling=4.0, gamma=2.0, radius=radius, **published)
    return model.fit(X[rows], sample_domain=domain[rows]), X[rows], domain[rows]


# %%
# Twelve draws, four fits each
# ----------------------------
DRAWS = range(100, 112)
scores = np.array(
    [
        [f1_score(truth, fit(name, X, domain)[0].predict(new)) for name in METHODS]
        for X, domain, new, truth in map(draw, DRAWS)
    ]
)
means = scores.mean(axis=0)
typical = DRAWS[np.abs(scores - means).sum(axis=1).argmin()]

# %%
# The draw closest to the means
# -----------------------------
figure = plt.figure(figsize=(12.5, 7.0), layout="constrained")
panels = figure.subplot_mosaic(
    [["OC-SVM", "UOC-SVM", "history"], ["TLOC-SVM", "UOCT-SVM", "draws"]],
    width_ratios=[1.0, 1.0, 0.8],
)
heads = ["Neither", "Radii", "Source", "Source and radii"]

X, domain, new, truth = draw(typical)
models = {}
for name, head in zip(METHODS, heads, strict=True):
    model, rows, row_domain = fit(name, X, domain)
    ax = panels[name]
    unseen = ax.scatter(*new[truth == 1].T, s=5, color="0.86", zorder=0, label="new target rows")
    display = TransferBoundaryDisplay.from_estimator(
        model, rows, sample_domain=row_domain, margin=0.5, show_legend=False, ax=ax
    )
    ax.set(xlim=(-1.95, 1.85), ylim=(-1.05, 1.85), xticks=[], yticks=[])
    ax.set_title(f"{head} ({name}): F1 = {f1_score(truth, model.predict(new)):.2f}")
    models[name] = model
figure.legend(
    handles=[*display.points_, unseen],
    labels=["target", "source", "new target rows (not seen by the fit)"],
    loc="outside lower left",
    ncols=3,
    frameon=False,
)

# %%
# Each round moves the rows and then solves for the planes; neither step raises the objective.
for name, colour in {"UOC-SVM": "0.6", "UOCT-SVM": "0.1"}.items():
    HistoryDisplay.from_estimator(models[name], name=name, color=colour, ax=panels["history"])
panels["history"].set_title("Objective per round")

# %%
# All draws; each grey line is one of them.
ax, places = panels["draws"], np.arange(len(METHODS))
ax.plot(places, scores.T, color="0.85", marker="o", markersize=3.5, linewidth=0.8)
ax.hlines(means, places - 0.3, places + 0.3, color="0.1", linewidth=2.5, zorder=3)
for place, mean in zip(places, means, strict=True):
    ax.annotate(f"{mean:.2f}", (place, mean), (0, 4), textcoords="offset points", ha="center")
ax.set(title="F1 of twelve draws, and the means", ylim=(0.38, 0.86))
ax.set_xticks(places, METHODS)

for name in ("history", "draws"):
    panels[name].spines[["top", "right"]].set_visible(False)

plt.show()
