"""One self-contained page of what a run of experiments found."""

from scarce.experiments.report._page import render

__all__ = ["render"]
