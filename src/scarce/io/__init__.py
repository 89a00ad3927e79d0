"""Models for other programs; tables on disk, as the command reads them."""

from typing import TYPE_CHECKING, Any

from scarce.io._column_plan import UNUSED_DATES as UNUSED_DATES
from scarce.io._column_plan import Column as Column
from scarce.io._column_plan import ColumnPlan as ColumnPlan
from scarce.io._column_plan import plan_columns as plan_columns
from scarce.io._dialect import Dialect as Dialect
from scarce.io._mlflow import log_model
from scarce.io._numpy_files import read_arrays as read_arrays
from scarce.io._sample import Sample as Sample
from scarce.io._sample import even_limits as even_limits
from scarce.io._skl2onnx import register_skl2onnx
from scarce.io._table_rows import Rows as Rows
from scarce.io._table_rows import TableError
from scarce.io._table_rows import missing_columns as missing_columns
from scarce.io._table_rows import tables_library as tables_library
from scarce.io._tables import ARROW as ARROW
from scarce.io._tables import PARQUET as PARQUET
from scarce.io._tables import Table as Table
from scarce.io._tables import open_table as open_table
from scarce.io._versions import show_versions

if TYPE_CHECKING:
    from scarce.io._onnx import to_onnx

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "TableError",
    "log_model",
    "register_skl2onnx",
    "show_versions",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    # Tables do without the estimators, which an export looks into.
    if name == "to_onnx":
        from scarce.io._onnx import to_onnx

        return to_onnx
    raise AttributeError(f"module 'scarce.io' has no attribute {name!r}")
