"""Kernel functions, one file each, and the rules of their parameters."""
