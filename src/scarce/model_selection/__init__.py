"""Scorers and selection rules that need no labelled negatives and no individual labels."""

from scarce.model_selection._group_error import GroupErrorScorer

__all__ = ["GroupErrorScorer"]
