"""Bags of classifiers of positives against unlabelled samples, and what their scores tell."""
