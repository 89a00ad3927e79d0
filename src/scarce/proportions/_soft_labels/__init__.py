"""Soft labels from proportions: expectation and maximisation, checks by held-out groups."""
