"""The project's own checks, run on every public estimator.

An estimator joins with one line in `registry`; the checks that its parameters make possible then
run on it.
"""
