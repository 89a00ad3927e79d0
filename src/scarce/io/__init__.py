"""Tables on disk and what is done with their columns."""

from scarce.io._column_plan import Column, ColumnPlan, plan_columns
from scarce.io._dialect import Dialect
from scarce.io._rows import Rows, TableError
from scarce.io._tables import Table, open_table, read_arrays

__all__ = [
    "Column",
    "ColumnPlan",
    "Dialect",
    "Rows",
    "Table",
    "TableError",
    "open_table",
    "plan_columns",
    "read_arrays",
]
