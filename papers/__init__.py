"""The tables of the papers, run again: `python -m papers svmc --quick`."""

from papers import oc_stm, svmc, tgplm, uoct
from papers._experiment import Experiment, Outcome, Paper, both_protocols, fixed
from papers._report import render
from papers._results import Figure, PaperResult, Run, Score, Series, Table
from papers._run import run_papers
from papers._text import conditions_as_text, paper_as_text

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (uoct.PAPER, tgplm.PAPER, svmc.PAPER, oc_stm.PAPER)
}

__all__ = [
    "PAPERS",
    "Experiment",
    "Figure",
    "Outcome",
    "Paper",
    "PaperResult",
    "Run",
    "Score",
    "Series",
    "Table",
    "both_protocols",
    "conditions_as_text",
    "fixed",
    "paper_as_text",
    "render",
    "run_papers",
]
