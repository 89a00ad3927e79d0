"""
A model of your own
===================

Rows of one class come from two instruments, and a tenth of *each one's* weight may be rejected.
This is a quadratic program with one equality for each instrument, and `scarce.solvers` answers it
with a certificate. The multipliers of the equalities, with the sign turned, are the thresholds.

An ordinary one-class model has one equality for all rows, and then nearly all rejected rows are
those of the instrument that scatters more.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import QuadraticProgram, solve

random = np.random.default_rng(0)
X = np.r_[random.normal(0.0, 0.6, size=(120, 2)), random.normal(0.7, 1.6, size=(40, 2))]
instrument = np.repeat([0, 1], [120, 40])
gamma, nu = 0.2, 0.1
x, y = np.meshgrid(np.linspace(-5, 6, 120), np.linspace(-5, 6, 120))
grid = np.c_[x.ravel(), y.ravel()]

# %%
# The program, with one group of rows and with two
# ------------------------------------------------
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.9), layout="constrained")
titles = ("one equality for all rows", "one for each instrument")
for axes, title, groups in zip(panels, titles, (np.zeros(160, int), instrument), strict=True):
    program = QuadraticProgram(
        kernel=make_operator(X, make_kernel("rbf", gamma=gamma)),
        linear=np.zeros(160),
        lower=0.0,
        upper=1.0,
        groups=groups,
        totals=nu * np.bincount(groups),
    )
    solution = solve(program, tol=1e-6)
    print(f"{title}: {solution.status}, relative duality gap {solution.dual_gap:.0e}")
    score = rbf_kernel(grid, X, gamma=gamma) @ solution.alpha
    own = rbf_kernel(X, gamma=gamma) @ solution.alpha
    threshold = np.broadcast_to(-solution.multipliers, 2)
    rejected = [int(np.sum(own[instrument == k] < threshold[k] - 1e-6)) for k in (0, 1)]
    for k, colour in enumerate(("#0072b2", "#d55e00")):
        label = f"instrument {k + 1}: {rejected[k]} of {np.sum(instrument == k)} rejected"
        axes.scatter(*X[instrument == k].T, s=12, color=colour, linewidths=0, label=label)
        line = colour if any(groups) else "0.3"
        axes.contour(x, y, score.reshape(x.shape), levels=[threshold[k]], colors=[line])
    axes.set(title=title, aspect="equal", xticks=[], yticks=[])
    axes.legend(frameon=False, fontsize=8, loc="upper left")

plt.show()
