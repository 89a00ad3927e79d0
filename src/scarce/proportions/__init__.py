"""Learning from the shares of positives in groups of rows."""
