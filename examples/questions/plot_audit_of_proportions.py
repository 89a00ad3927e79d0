"""
An audit of reported proportions
================================

Each of 150 clinics reports which proportion of its patients has a condition; of the patients a few
measurements are known, and no diagnosis. Four reports are wrong. Which ones?

A model of the other clinics estimates the proportion of each, with an interval that held-out
clinics make as wide as it has to be (`predict_share`). A report outside its interval deserves a
call. The model never sees the report that it judges: clinics are held out by fifths.

How large an error is found depends on how much the measurements explain. The last panel repeats
the audit for errors of several sizes, with measurements that say much and little. At 95 % one right
report in twenty is called too: a report is a reason to ask, not a proof.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold

from scarce import GroupProbabilitySVM
from scarce.proportions import expand_proportions, group_proportions

CLINICS, PATIENTS, LEVEL = 150, 30, 0.95
COLOURS = {"measurements that say much": "#0072b2", "little": "#d55e00"}
clinic = np.repeat(np.arange(CLINICS), PATIENTS)


# %%
# Clinics, and what they report
# -----------------------------
def patients(seed, informative):
    """Return measurements of patients, and the true proportion of each clinic."""
    random = np.random.default_rng(seed)
    prior = random.beta(2, 3, size=CLINICS)
    ill = random.random(clinic.size) < prior[clinic]
    X = random.normal(size=(clinic.size, 4)) + informative * ill[:, None]
    return X, np.array(list(group_proportions(ill, clinic).values()))


def audit(X, reported):
    """Return estimates and intervals of all clinics, each by a model without its report."""
    y = expand_proportions(dict(enumerate(reported)), clinic)
    found = np.empty((3, CLINICS))
    for kept, out in GroupKFold(5, shuffle=True, random_state=0).split(X, y, clinic):
        model = GroupProbabilitySVM().fit(X[kept], y[kept], clinic[kept])
        ids, *values = model.predict_share(X[out], clinic[out], level=LEVEL)
        found[:, ids] = values
    return found


def misreported(truth, wrong, error):
    """Return reports, some of them moved towards the other end."""
    reported = truth.copy()
    reported[wrong] += np.where(truth[wrong] < 0.5, error, -error)
    return reported


# %%
# Four wrong reports
# ------------------
X, truth = patients(0, informative=1.2)
wrong = np.array([7, 23, 66, 141])
reported = misreported(truth, wrong, 0.35)
share, lower, upper = audit(X, reported)
called = np.flatnonzero((reported < lower) | (reported > upper))
print("clinics called:", called.tolist())

# %%
# Errors of several sizes
# -----------------------
errors = (0.1, 0.25, 0.4)
found = {name: [] for name in COLOURS}
for rates, informative in zip(found.values(), (1.2, 0.6), strict=True):
    for error in errors:
        X, truth = patients(1, informative)
        some = np.arange(0, CLINICS, 25)
        moved = misreported(truth, some, error)
        _, low, high = audit(X, moved)
        rates.append(np.mean((moved < low)[some] | (moved > high)[some]))

# %%
# The figure
# ----------
figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.6), layout="constrained")
left.plot([0, 1], [0, 1], color="0.6", linestyle="dashed", linewidth=1.0)
for clinics, colour in ((np.setdiff1d(np.arange(CLINICS), called), "0.6"), (called, "#d55e00")):
    left.errorbar(
        reported[clinics],
        share[clinics],
        [(share - lower)[clinics], (upper - share)[clinics]],
        fmt="o",
        markersize=4,
        linewidth=0.8,
        color=colour,
        label="called" if colour != "0.6" else "not called",
    )
left.plot(reported[wrong], share[wrong], "kx", label="wrong reports")
left.set(xlabel="reported proportion", ylabel="estimate and interval", xlim=(0, 1), ylim=(0, 1))
left.legend(frameon=False, loc="upper left")
for name, rates in found.items():
    right.plot(errors, rates, "o-", color=COLOURS[name], label=name)
right.set(xlabel="error of a wrong report", ylabel="proportion of wrong reports called")
right.set(ylim=(-0.03, 1.03))
right.legend(frameon=False, loc="lower right")
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
