"""Rows of any kind, ready to be compared."""
