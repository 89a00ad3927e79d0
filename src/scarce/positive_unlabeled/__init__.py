"""Learning from positive and unlabelled rows."""
