"""Soft labels from proportions: expectation and maximisation, checks by left-out groups."""
