"""References that share no code with the library: convex solvers on the primal problems.

Every primal is written with explicit features and hinge terms, as in the derivations, and handed to
Clarabel. Nothing here imports `scarce`, so agreement is evidence and not tautology.
"""
