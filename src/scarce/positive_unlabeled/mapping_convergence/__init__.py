"""Mapping convergence: strong negatives first, then a boundary that shrinks towards the class."""
