"""The tables of the papers, run again."""

from scarce.experiments import oc_stm, svmc, tgplm, uoct
from scarce.experiments._experiment import Experiment, Outcome, Paper, both_protocols, fixed
from scarce.experiments._results import Figure, PaperResult, Run, Score, Series, Table
from scarce.experiments._run import run_papers
from scarce.experiments._text import conditions_as_text, paper_as_text
from scarce.experiments.report import render

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
