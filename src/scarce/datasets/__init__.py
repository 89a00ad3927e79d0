"""Generators, loaders and the splits of the papers."""
