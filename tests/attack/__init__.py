"""Attacks on the certificate: hostile data, and the truth from public attributes alone.

A case is drawn (`recipes`), a machine fitted to it (`machines`), and what the machine claims of its
solution is compared with what plain NumPy and `scipy.spatial.distance` find (`truth`, `verdict`).
Nothing but public attributes, parameters and the training data is read; nothing of the library but
its estimators is imported.

Conventions
-----------
Scale. `OneClassSVM`, `SVC` and `NuSVC` have LIBSVM's: multipliers from 0 to the row's weight (times
`C` for `SVC`), which sum to ``nu`` times the total weight (half of that in each class of `NuSVC`,
whose coefficients are divided by `margin_`). The others have the one of their derivation: the
multipliers of a task of `TransferOneClassSVM` sum to its mass, but its `tol` and `kkt_violation_`
are in the scale of `OneClassSVM`, in which the smallest box is a row's weight. Those of a tensor
machine are relative to the objective (one class) or in units of the margin (two).

Objective. `objective_` is in the primal normalisation of the derivation. Any value between the dual
one of the multipliers and the primal one of the weights is accepted.

Rounding. A kernel value from differences has a relative error of a few ``d eps`` times its
exponent, and a sum of n terms one of at most ``n eps``; with n up to 3000 both are below
``NOISE = 1e-12`` of the sum of absolute terms. Each row's score is taken to be unknown by that much
of its own sum, and only what is left of a violation or a gap is held against a claim: it is there
for certain. Beyond that a claim may be low by `SLACK`, a hundredth of `tol`. A model is feasible
when equalities and bounds hold to `FEASIBLE` of the multipliers in them.

A gap is relative to the larger of the two objectives; an optimum of zero is known only up to
rounding errors of its terms, and `NOISE` of them is the least that a gap is relative to.
"""
