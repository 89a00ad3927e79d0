"""
A tensor model from eight images
================================

Eight images of a digit are all there is. `OneClassSTM` learns a weight image of low rank: a pattern
over the rows times a pattern over the columns, or a sum of a few such products. A linear
`OneClassSVM` on the 64 pixels can have any weight image. Which one finds the digit again?

On these images the more weights the better: one product is too coarse for the shape of a digit, and
three come close to the vector model with 48 numbers in place of 64. Low rank pays where the
pattern has low rank, and this is not such a case.

The last panel is about the offset. The model's own accepts all eight training images but far
fewer of the new ones: the direction was fitted to the eight. `LeaveOneOutSearch` chooses the rank,
and an offset from images left out, without any image of another digit. It accepts about as many new
ones as it was asked to, on average: eight images are few, and one odd image among them moves the
offset a long way. More images of other digits pass, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve

from scarce import OneClassSTM, OneClassSVM
from scarce.model_selection import LeaveOneOutSearch
from scarce.tensor import FactorDisplay, WeightDisplay

N_TRAIN = 8
COLOURS = {"rank 1": "#d55e00", "rank 3": "#0072b2", "vectors": "0.35"}


# %%
# The images
# ----------
digits = load_digits()
images, labels = digits.images / 16.0, digits.target


# As in the paper: images as they are, cut at the scores of the training images.
PUBLISHED = {
    "nu": 0.1,
    "normalize": False,
    "offset": "training",
    "tol": 1e-4,
    "max_iter": 1000,
}


def draw(digit, seed=0):
    """Return eight images of a digit, and all others with whether they show it."""
    random = np.random.default_rng([seed, digit])
    own = images[random.permutation(np.flatnonzero(labels == digit))]
    new = np.concatenate([own[N_TRAIN:], images[labels != digit]])
    return own[:N_TRAIN], new, np.arange(len(new)) < len(own) - N_TRAIN


def fit(name, X):
    """Return the fitted model."""
    if name == "vectors":
        return OneClassSVM(kernel="linear", nu=0.1).fit(X.reshape(len(X), -1))
    return OneClassSTM(rank=int(name[-1]), **PUBLISHED).fit(X)


def decisions(model, X):
    """Return the decision values."""
    return model.decision_function(X if model.n_features_in_ == 8 else X.reshape(len(X), -1))


def accepted(model, new, truth):
    """Return which proportion of the others, and of the digit, a model accepts."""
    inside = decisions(model, new) >= 0
    return np.mean(inside[~truth]), np.mean(inside[truth])


# %%
# Ten digits, three models, three draws
# -------------------------------------
areas = np.array(
    [
        [
            [roc_auc_score(truth, decisions(fit(name, X), new)) for name in COLOURS]
            for X, new, truth in (draw(digit, seed) for seed in range(3))
        ]
        for digit in range(10)
    ]
)
means = areas.mean(axis=(0, 1))
typical = int(np.abs(areas[:, 0] - means).sum(axis=1).argmin())

# %%
# The digit closest to the means
# ------------------------------
X, new, truth = draw(typical)
models = {name: fit(name, X) for name in COLOURS}

figure = plt.figure(figsize=(12.5, 7.2), layout="constrained")
panels = figure.subplot_mosaic(
    [
        ["train", "rank 1", "rank 3", "vectors"],
        ["roc", "rows", "areas", "offsets"],
        ["roc", "columns", "areas", "offsets"],
    ],
    width_ratios=[1.25, 1.0, 1.0, 1.0],
    height_ratios=[1.0, 0.6, 0.6],
)
panels["train"].imshow(np.block([list(X[:4]), list(X[4:])]), cmap="gray_r")
panels["train"].set(title="All training images", xticks=[], yticks=[])
panels["train"].hlines(7.5, -0.5, 31.5, color="0.8", linewidth=0.8)
panels["train"].vlines([7.5, 15.5, 23.5], -0.5, 15.5, color="0.8", linewidth=0.8)

for name in ("rank 1", "rank 3"):
    WeightDisplay.from_estimator(models[name], ax=panels[name])
    panels[name].set_title(f"Weights, {name}")
WeightDisplay(models["vectors"].coef_.reshape(8, 8)).plot(ax=panels["vectors"])
panels["vectors"].set_title("Weights, vectors")

FactorDisplay.from_estimator(
    models["rank 1"], ax=[panels["rows"], panels["columns"]], color=COLOURS["rank 1"]
)
panels["rows"].set(title="Factors, rank 1", xlabel="row", ylabel="")
panels["columns"].set(xlabel="column")

ax = panels["roc"]
for name, model in models.items():
    curve = roc_curve(truth, decisions(model, new))[:2]
    style = "--" if name == "vectors" else "-"
    ax.plot(*curve, style, color=COLOURS[name], label=name)
ax.set(
    title=f"New images of a {typical}, and of others",
    xlabel="proportion of others accepted",
    ylabel=f"proportion of {typical}s accepted",
)
ax.legend(frameon=False, loc="lower right")

# %%
# All digits; each grey line is one of them, the mean of three draws.
ax, places = panels["areas"], np.arange(len(COLOURS))
ax.plot(places, areas.mean(axis=1).T, color="0.85", marker="o", markersize=3.5, linewidth=0.8)
ax.hlines(means, places - 0.3, places + 0.3, color="0.1", linewidth=2.5, zorder=3)
for place, mean in zip(places, means, strict=True):
    ax.annotate(f"{mean:.2f}", (place, mean), (0, 4), textcoords="offset points", ha="center")
ax.set(title="Area under ROC, ten digits", ylim=(0.6, 1.0))
ax.set_xticks(places, COLOURS)

# %%
# Offsets: from the model's own to that of the search, for each digit.
own, left_out = [], []
for digit in range(10):
    X, new, truth = draw(digit)
    search = LeaveOneOutSearch(OneClassSTM(**PUBLISHED), {"rank": [1, 2, 3]}, rejection=0.12).fit(X)
    own.append(accepted(search.best_estimator_, new, truth))
    left_out.append(accepted(search, new, truth))
own, left_out = np.array(own), np.array(left_out)

ax = panels["offsets"]
ax.plot(*np.stack([own, left_out]).transpose(2, 0, 1), color="0.85", linewidth=0.8, zorder=0)
ax.plot(*own.T, "o", color="0.6", markerfacecolor="white", markersize=3.5)
ax.plot(*left_out.T, "o", color="0.6", markersize=3.5)
ax.plot(*own.mean(axis=0), "o", color="0.1", markerfacecolor="white", label="the model's own")
ax.plot(*left_out.mean(axis=0), "o", color="0.1", label="from images left out")
ax.axhline(0.9, color="0.6", linewidth=0.8, linestyle=":")
ax.set(
    title="Offsets of the rank chosen",
    xlabel="proportion of others accepted",
    ylabel="proportion of the digit accepted",
    xlim=(0.0, 1.0),
    ylim=(0.0, 1.02),
)
ax.legend(frameon=False, loc="lower right")

for name in ("roc", "rows", "columns", "areas", "offsets"):
    panels[name].spines[["top", "right"]].set_visible(False)

plt.show()
