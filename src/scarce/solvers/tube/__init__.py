"""Squared slacks around tubes: the Newton solver, its systems and its certificate."""
