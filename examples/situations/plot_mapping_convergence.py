"""
Mapping convergence, round by round
===================================

A class of two groups lies in the plane, with a gap around each, among rows spread everywhere. Some
of its rows are labelled; all other rows, of the class or not, are unlabelled. Where does it end?

* One-class SVM: the positives alone. Its boundary depends on parameters that nothing in the data
  can set, and it knows nothing of the gaps around the class.
* Noisy negatives: an SVM of the positives against all unlabelled rows. It takes the unlabelled
  positives for negatives, and gives up the class: here there is no boundary.
* SVMC: begins with rows far away from all positives (outside the dashed line; farther away here
  than by default, for the sake of the picture), and moves the boundary from round to round, light
  to dark, until no more unlabelled rows are cut off. It stops in the gap.
* The SVM with every label, which are unknown in practice, shows what could be reached.

F1 is of new rows. The width is the same in all panels and was chosen by hand: this is a picture and
not a benchmark.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import f1_score

from scarce import SVC, SVMC, NuSVC, OneClassSVM
from scarce.positive_unlabeled import HistoryDisplay, RoundsBoundaryDisplay, SetSizesDisplay

GAMMA = 0.35
N_LABELLED, N_UNLABELLED = 60, 1500
CENTRES = np.array([(-2.0, -1.0), (2.0, 1.0)])  # of the two groups, discs of radius 1
GAP = 0.7  # around each of them


# %%
# The data
# --------
def draw(n, random):
    """Return rows of a population, and which are of the class: about a tenth."""
    truth = random.random(n) < 0.1
    rows = random.uniform(-6.0, 6.0, size=(20 * n, 2))
    distance = np.linalg.norm(rows[:, None] - CENTRES, axis=2).min(axis=1)
    inside, outside = rows[distance < 1.0], rows[distance > 1.0 + GAP]
    return np.where(truth[:, None], np.resize(inside, (n, 2)), outside[:n]), truth


random = np.random.default_rng(3)
unlabelled, hidden = draw(N_UNLABELLED, random)
more, of_class = draw(50 * N_LABELLED, random)
labelled = more[of_class][:N_LABELLED]
X = np.concatenate([labelled, unlabelled])
y = np.repeat([1, 0], [N_LABELLED, N_UNLABELLED])
truth = np.concatenate([np.ones(N_LABELLED, bool), hidden])
new, new_truth = draw(5000, random)

# %%
# Four ways to draw the boundary
# ------------------------------
one_class = OneClassSVM(nu=0.1, gamma=GAMMA).fit(labelled)
noisy = SVC(C=100.0, gamma=GAMMA).fit(X, y)  # so much overlap leaves a nu-SVM no margin
mapping = SVMC(gamma=GAMMA, mapping_gamma=0.02, map_slack=6.0).fit(X, y)
informed = NuSVC(nu=0.01, gamma=GAMMA, tol=1e-5).fit(X, truth)

figure = plt.figure(figsize=(13.0, 7.6), layout="constrained")
panels = figure.subplot_mosaic([["one-class", "noisy", "informed"], ["SVMC", "prior", "sizes"]])


def show(ax, title, model):
    """Draw the rows and one boundary."""
    ax.scatter(*unlabelled.T, s=5, color="0.65", linewidths=0)
    ax.scatter(*labelled.T, s=10, color="#d55e00", linewidths=0)
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="decision_function",
        plot_method="contour",
        levels=[0],
        colors=["#08306b"],
        linewidths=2.2,
        ax=ax,
    )
    inside = model.decision_function(new) >= 0
    ax.set_title(f"{title}: F1 = {f1_score(new_truth, inside):.2f}")


show(panels["one-class"], "One-class SVM", one_class)
show(panels["noisy"], "Positives against all unlabelled rows", noisy)
show(panels["informed"], "All labels known", informed)

# %%
# The rounds
# ----------
RoundsBoundaryDisplay.from_estimator(mapping, X, y, ax=panels["SVMC"])
inside = mapping.decision_function(new) >= 0
panels["SVMC"].set_title(f"SVMC: F1 = {f1_score(new_truth, inside):.2f}")
HistoryDisplay.from_estimator(mapping, key="accepted_share", color="#08306b", ax=panels["prior"])
panels["prior"].axhline(hidden.mean(), color="0.6", linestyle="dotted")
panels["prior"].set(title="Proportion of the unlabelled rows accepted", ylabel="", ylim=(0, None))
panels["prior"].annotate(
    "proportion of the class", (1, hidden.mean()), (0, -12), textcoords="offset points"
)
SetSizesDisplay.from_estimator(mapping, ax=panels["sizes"])
panels["sizes"].set_title("Rows per round")
for name in ("prior", "sizes"):
    panels[name].spines[["top", "right"]].set_visible(False)
for name in ("one-class", "noisy", "informed", "SVMC"):
    panels[name].set(xticks=[], yticks=[], aspect="equal")

plt.show()
