"""Scorers and selection rules that need no labelled negatives and no individual labels."""
