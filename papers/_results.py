"""What a run found, as plain frozen data: what is printed, reported and committed."""

from __future__ import annotations

from dataclasses import dataclass

SELECTED = "selected"
BEST_OF_GRID = "best of grid"
FIXED = "fixed"
PROTOCOLS = {
    SELECTED: "parameters chosen without test labels: what a user could do",
    BEST_OF_GRID: "the grid's best on the test labels: an upper reference, not an estimate",
    FIXED: "parameters fixed beforehand, nothing chosen",
}


@dataclass(frozen=True)
class Score:
    """One figure of a table: a method in a setting, over the repetitions."""

    setting: str
    method: str
    protocol: str
    metric: str
    mean: float
    std: float
    n: int
    printed: float | None = None
    """The paper's figure, in the same unit."""
    p_value: float | None = None
    """Paired Wilcoxon test against the table's reference method, Holm-corrected."""
    cells: str = ""
    """Folder of the cell files this figure is the mean of, relative to the run's folder."""


@dataclass(frozen=True)
class Table:
    """One table of a paper: settings down, methods across."""

    key: str
    title: str
    caption: str
    metrics: dict[str, str]
    """Name and label, unit included, of each metric. Larger figures are better."""
    settings: tuple[str, ...]
    methods: tuple[str, ...]
    reference: str
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Series:
    """One line of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...] = ()
    """Standard deviation at each point; empty when there is none."""
    printed: bool = False
    """Whether these are the paper's figures and not ours."""


@dataclass(frozen=True)
class Figure:
    """A line plot; a categorical axis names its ticks."""

    key: str
    title: str
    caption: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    ticks: tuple[str, ...] = ()
    """Names of the positions 0, 1, ... when the axis is categorical."""


@dataclass(frozen=True)
class PaperResult:
    """All tables and figures of one paper."""

    key: str
    title: str
    citation: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    skipped: tuple[str, ...] = ()
    """What was left out of this run, and why."""
    remarks: tuple[str, ...] = ()
    """Warnings raised on the way, with the number of cells that raised them."""
    seconds: float | None = None
    """How long it took; None for a run that went on with cells of an earlier one."""


@dataclass(frozen=True)
class Run:
    """A whole run, with what is needed to judge and repeat it."""

    title: str
    created: str
    command: str
    settings: dict[str, str]
    versions: dict[str, str]
    machine: str
    papers: tuple[PaperResult, ...]
    seconds: float | None = None
    """As that of a paper."""
    notes: tuple[str, ...] = ()
    """What a reader should know before the tables."""
