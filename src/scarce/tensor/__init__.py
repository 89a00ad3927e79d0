"""Support machines whose rows are matrices or tensors."""
