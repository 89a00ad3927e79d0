"""One self-contained page of what a run of experiments found."""

from papers.report._page import render

__all__ = ["render"]
