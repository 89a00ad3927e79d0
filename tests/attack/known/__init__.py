"""Claims that were false once, and what the stored models are held to."""
