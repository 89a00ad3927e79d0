"""Sums of kernel values, streamed: scores, gradients, group means."""
