"""From a model file and a table to a ranked list."""
