"""Typed signatures of the compiled functions; see functions.def for lengths and ranges."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

LEVEL: str
SOURCES: str
AT_BOUND: float
BALANCED: float
FEASIBLE: float
ROUNDED_OBJECTIVE: float
ROUNDED_SLOPE: float
RESOLVED: float
ROUNDED_GRADIENT: float
GOAL: float
EARLY: float
EXACT: float
LOST: float
FOLLOWED: float
MOST_FREE: float
EARLY_FREE: float
REGULAR: float
EXACT_STEPS: float
MOST_PAIRWISE: float
MOST_GOALS: float

def group_extremes(
    gradient: Array, x: Array, lower: Array, upper: Array, groups: Array, m: Array, M: Array, /
) -> None: ...
def extreme_rows(
    gradient: Array,
    x: Array,
    lower: Array,
    upper: Array,
    groups: Array,
    top: Array,
    bottom: Array,
    /,
) -> None: ...
def violation_keys(
    gradient: Array,
    x: Array,
    lower: Array,
    upper: Array,
    groups: Array,
    multipliers: Array,
    keys: Array,
    /,
) -> None: ...
def next_rows(
    where: Array,
    lower: Array,
    upper: Array,
    starts: Array,
    gradient: Array,
    x: Array,
    asked: int,
    tol: float,
    rows: Array,
    keys: Array,
    /,
) -> tuple[int, int]: ...
def bends_down(
    values: Array, scale: Array, extra: Array, starts: Array, share: float, /
) -> int: ...
def pairwise_steps(
    values: Array,
    where: Array,
    scale: Array,
    extra: Array,
    diagonal: Array,
    lower: Array,
    upper: Array,
    widths: Array,
    starts: Array,
    source: Array,
    lines: Array,
    columns: Array,
    signs: Array,
    gradient: Array,
    x: Array,
    tol: float,
    most: int,
    met: Array,
    held: int,
    /,
) -> int: ...
def exact_steps(
    source: Array,
    lines: Array,
    columns: Array,
    signs: Array,
    scale: Array,
    extra: Array,
    lower: Array,
    upper: Array,
    starts: Array,
    gradient: Array,
    x: Array,
    most_free: int,
    /,
) -> int: ...
def follow_steps(
    source: Array,
    lines: Array,
    columns: Array,
    signs: Array,
    scale: Array,
    extra: Array,
    lower: Array,
    upper: Array,
    starts: Array,
    x: Array,
    at: Array,
    moved: Array,
    gradient: Array,
    fixed: Array,
    /,
) -> tuple[float, float]: ...
def tidy_point(
    lower: Array, upper: Array, widths: Array, starts: Array, totals: Array, x: Array, /
) -> None: ...
def first_point(
    lower: Array, upper: Array, widths: Array, starts: Array, totals: Array, x: Array, /
) -> None: ...
def solve_small(
    values: Array,
    lines: Array,
    columns: Array,
    signs: Array,
    diagonal: Array,
    extra: Array,
    linear: Array,
    lower: Array,
    upper: Array,
    widths: Array,
    starts: Array,
    totals: Array,
    coupling: Array,
    codes: Array,
    errors: Array,
    x: Array,
    space: Array,
    field: Array,
    multipliers: Array,
    tol: float,
    most: int,
    given: int,
    /,
) -> tuple[int, int, float, float, float, float, float, float]: ...
def solve_active(
    square: Array,
    row_of: Array,
    active: Array,
    last: Array,
    x: Array,
    field: Array,
    lower: Array,
    upper: Array,
    linear: Array,
    signs: Array,
    groups: Array,
    lacking: Array,
    value_error: float,
    error: float,
    largest: float,
    quadratic: float,
    level: float,
    tol: float,
    most: int,
    space: Array,
    multipliers: Array,
    above: Array,
    below: Array,
    doubt: Array,
    /,
) -> tuple[int, int, int, float, float, float, float]: ...
def gather_block(values: Array, rows: Array, columns: Array, out: Array, /) -> None: ...
def add_rows(values: Array, rows: Array, weights: Array, out: Array, /) -> None: ...
def copy_transposed(tile: Array, out: Array, /) -> None: ...
def distances(X: Array, panel: Array, squared: int, out: Array, /) -> None: ...
def add_group_sums(
    tile: Array,
    first_row: int,
    first_column: int,
    codes: Array,
    weights: Array,
    buffer: Array,
    out: Array,
    /,
) -> None: ...
def add_row_sums(tile: Array, codes: Array, weights: Array, out: Array, /) -> None: ...
def weighted_row_sums(tile: Array, weights: Array, groups: Array, out: Array, /) -> None: ...
def sparse_squared_norms(data: Array, indptr: Array, out: Array, /) -> None: ...
def project_sparse(
    data: Array, indices: Array, indptr: Array, planes: Array, groups: Array, out: Array, /
) -> None: ...
def sparse_product(
    data: Array,
    indices: Array,
    indptr: Array,
    panel_data: Array,
    panel_indices: Array,
    panel_indptr: Array,
    out: Array,
    /,
) -> None: ...
def merged_distances(
    data: Array,
    indices: Array,
    indptr: Array,
    panel_data: Array,
    panel_indices: Array,
    panel_indptr: Array,
    squared: int,
    out: Array,
    /,
) -> None: ...
def add_trees(
    X: Array,
    feature: Array,
    threshold: Array,
    left: Array,
    right: Array,
    value: Array,
    roots: Array,
    out: Array,
    /,
) -> None: ...
def add_tree_shares(
    X: Array,
    baseline: Array,
    columns: Array,
    feature: Array,
    threshold: Array,
    left: Array,
    right: Array,
    value: Array,
    roots: Array,
    out: Array,
    /,
) -> None: ...
def add_product_shares(
    rows: Array,
    baseline: Array,
    weights: Array,
    nodes: Array,
    widths: Array,
    out: Array,
    /,
) -> None: ...
def exponentials(tile: Array, row_terms: Array, column_terms: Array, slope: float, /) -> None: ...
def pack(Z: Array, packed: Array, /) -> None: ...
def gaussian_rows(X: Array, rows: Array, packed: Array, gamma: float, out: Array, /) -> None: ...
def gaussian_square(
    X: Array, start: int, stop: int, packed: Array, gamma: float, out: Array, /
) -> None: ...
def gaussian_scores(
    X: Array, packed: Array, gamma: float, weights: Array, groups: Array, out: Array, /
) -> None: ...
def gaussian_sums(
    X: Array,
    rows: Array,
    columns: Array,
    gamma: float,
    weights: Array,
    groups: Array,
    out: Array,
    /,
) -> None: ...
