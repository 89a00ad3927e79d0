"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.cli._stories import STORIES
from scarce.cli.report._page import page
from scarce.cli.scores._drift import ScoreCounts
from scarce.cli.scores._ranked import Ranked
from scarce.cli.scores._reasons import Head
from scarce.cli.scores._writers import _rounded
from scarce.io import _tables as tables

__all__ = [
    "STORIES",
    "Head",
    "Ranked",
    "ScoreCounts",
    "_rounded",
    "page",
    "tables",
]
