"""Scorers and selection rules that need no labelled negatives and no individual labels."""

from scarce.model_selection._leave_one_out import LeaveOneOutSearch, margin_score

__all__ = ["LeaveOneOutSearch", "margin_score"]
