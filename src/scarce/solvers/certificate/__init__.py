"""What a point is worth: violation, duality gap, multipliers, checked where it matters."""
