"""Kernel matrices as operators, and bounds of their rounding errors."""
