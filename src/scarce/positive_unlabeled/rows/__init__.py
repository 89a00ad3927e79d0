"""The samples of a fit, wherever they are kept, and their labels."""
