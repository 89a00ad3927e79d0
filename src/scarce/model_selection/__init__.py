"""Choosing models without negatives."""

from scarce.model_selection._held_out import HeldOutPositives
from scarce.model_selection._lee_liu import lee_liu_score, lee_liu_scorer

__all__ = ["HeldOutPositives", "lee_liu_score", "lee_liu_scorer"]
