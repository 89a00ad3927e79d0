"""Tables on disk, whole or in batches: CSV, Parquet, Arrow and NumPy files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from scarce.io._dialect import Dialect, found_dialect
from scarce.io._numpy_files import read_arrays
from scarce.io._readings import NONE, why_no_number
from scarce.io._sample import Chosen, Sample
from scarce.io._table_rows import Rows, TableError, missing_columns, quoted, short, tables_library

BLOCK = 1_000_000  # bytes of CSV at a time
BATCH = 16_384  # rows of other files at a time
ROW_NAMES = "row names"  # a first column without a name, as R and pandas write it
CSV, PARQUET, ARROW, ARRAYS = (
    (".csv", ".tsv", ".txt", ".csv.gz"),
    (".parquet", ".pq"),
    (".feather", ".arrow", ".ipc"),
    (".npy", ".npz"),
)


def ending_of(path: Path) -> str:
    """Return the ending that says how a table is written, or raise an error with those known."""
    known = (*CSV, *PARQUET, *ARROW, *ARRAYS)
    for ending in sorted(known, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return ending
    raise TableError(
        f"{path} has the ending {path.suffix!r}; tables end in {', '.join(known[:-1])} or "
        f"{known[-1]}. Save a sheet of a spreadsheet as CSV; unpack other archives"
    )


def open_table(path: str | Path, dialect: Dialect | None = None) -> Table:
    r"""Look at a table's columns, so that it can be read whole or in batches.

    ``path``: its ending says what it is. ``dialect``: how a CSV file is written, where it is not to
    be detected.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scarce.io import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("height;name\n1,8;Ann\n;Bo\n")
    ...     rows = open_table(path).read()
    >>> rows.numbers("height"), rows.texts("name")
    (array([1.8, nan]), array(['Ann', 'Bo'], dtype=object))
    """
    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a table in it")
    ending = ending_of(path)
    with path.open("rb") as file:  # no file, no permission
        if not file.read(1):
            raise TableError(f"{path} is empty")
    if ending in CSV:
        return CSVTable(path, dialect or Dialect())
    kind = ParquetTable if ending in PARQUET else ArrowTable if ending in ARROW else ArraysTable
    return kind(path)


class Table(ABC):
    """A table on disk, with its columns as ``names``.

    ``notes``: what was guessed and may be wrong. ``size``: what `progress` counts up to, bytes or
    rows.
    """

    first_row = 1

    def __init__(self, path: Path) -> None:
        self.path, self.notes, self.size = path, [""][:0], 0
        with self._errors():
            self.names = self._open()
        if "" in self.names:
            raise TableError(f"{path}: column {self.names.index('') + 1} has no name; give it one")
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            names = ", ".join(map(repr, doubled))
            raise TableError(f"{path} has several columns named {names}; rename all but one")

    def check_has(self, name: str) -> None:
        """Raise an error if there is no such column."""
        if name not in self.names:
            raise missing_columns(self.path, [name], self.names)

    @abstractmethod
    def _open(self) -> list[str]:
        """Return the columns' names."""

    @abstractmethod
    def _arrow(self, types: dict[str, str] | None) -> Iterator[Any]:
        """Yield Arrow tables, of some columns in the given types, or of all as they are."""

    def batches(self, types: dict[str, str] | None = None) -> Iterator[Rows]:
        """Yield the rows in batches.

        None is empty. ``types``: the columns to read, each "number", "text" or "any"; all by
        default.
        """
        absent = [name for name in types or () if name not in self.names]
        if absent:
            raise missing_columns(self.path, absent, self.names)
        first, found = self.first_row, False
        with self._errors():
            for table in self._arrow(types):
                if table.num_rows:
                    found = True
                    yield Rows(self.path, table, first)
                    first += table.num_rows
        if not found:
            raise TableError(f"{self.path} has a header but no rows")

    def read(self, sample: Sample | None = None) -> Rows:
        """Return all rows, or some of them chosen at random.

        In the order of the table. ``sample``: how many, and which are chosen first.
        """
        chosen = Chosen(sample or Sample(None))
        for rows in self.batches(self._kept_types()):
            chosen.add(rows)
        return self._typed(chosen.rows())

    def _kept_types(self) -> dict[str, str] | None:
        """Return the types in which rows are gathered."""
        return None

    def _typed(self, rows: Rows) -> Rows:
        """Return gathered rows in the types of their values."""
        return rows

    @contextmanager
    def _errors(self) -> Iterator[None]:
        arrow = tables_library("pyarrow")
        try:
            yield
        except (arrow.ArrowInvalid, arrow.ArrowKeyError, UnicodeError) as error:
            raise TableError(self._in_words(str(error))) from None
        except OSError as error:
            if type(error) is not OSError:
                raise
            raise TableError(f"{self.path} cannot be read: {short(str(error))}") from None

    def _in_words(self, message: str) -> str:
        return f"{self.path} is damaged: {short(message)}"


class CSVTable(Table):
    """Text with a header, read by pyarrow.

    A first column without a name is called "row names".
    """

    first_row = 2

    def __init__(self, path: Path, dialect: Dialect) -> None:
        self.stated = dialect
        super().__init__(path)

    def _open(self) -> list[str]:
        self.dialect, notes = found_dialect(self.path, self.stated)
        self.notes = [*notes]
        self.size = self.path.stat().st_size
        csv = tables_library("pyarrow.csv")
        with csv.open_csv(str(self.path), **self._options(None)) as reader:
            names = [str(name).strip() for name in reader.schema.names]
            self._raw = list(reader.schema.names)
            empty = str(reader.schema.types[-1]) == "null"
        if names[-1] == "" and empty and len(names) > 1:  # every row ends with a delimiter
            names, self._raw = names[:-1], self._raw[:-1]
        if all(_is_number(name) for name in names):
            raise TableError(
                f"{self.path}, row 1: {', '.join(names[:4])}: numbers instead of column names; "
                "put a row of names above them"
            )
        value = next((name for name in names if _is_number(name) and not name.isdigit()), None)
        if value is not None:
            self.notes.append(
                f"row 1 of {self.path} holds the column names; {value!r} among them looks like a "
                "value. If the file has no names, put a row of them above"
            )
        if names[0] == "" and len(names) > 1:
            names[0] = ROW_NAMES
        return names

    def _options(self, types: dict[str, str] | None) -> dict[str, Any]:
        csv, arrow = tables_library("pyarrow.csv"), tables_library("pyarrow")
        kinds = {"number": arrow.float64(), "text": arrow.string(), "any": arrow.string()}
        usual = csv.ConvertOptions()
        convert = csv.ConvertOptions(
            decimal_point=self.dialect.decimal,
            null_values=[*usual.null_values, *self.dialect.missing],
            strings_can_be_null=True,
            true_values=[],  # kept as they are written
            false_values=[],
        )
        if types is not None:
            raw = dict(zip(self.names, self._raw, strict=True))
            convert.include_columns = [raw[name] for name in types]
            convert.column_types = {raw[name]: kinds[kind] for name, kind in types.items()}
        return {
            # One thread: errors then know their row.
            "read_options": csv.ReadOptions(
                use_threads=False, block_size=BLOCK, encoding=self.dialect.encoding
            ),
            "parse_options": csv.ParseOptions(
                delimiter=self.dialect.delimiter, newlines_in_values=True
            ),
            "convert_options": convert,
        }

    def _arrow(self, types: dict[str, str] | None) -> Iterator[Any]:
        csv, arrow = tables_library("pyarrow.csv"), tables_library("pyarrow")
        names, options = list(types or self.names), self._options(types)
        if types is None:
            options["convert_options"].include_columns = self._raw
        with csv.open_csv(str(self.path), **options) as reader:
            for batch in reader:
                yield arrow.Table.from_batches([batch]).rename_columns(names)

    def _kept_types(self) -> dict[str, str]:
        return dict.fromkeys(self.names, "text")

    def _typed(self, rows: Rows) -> Rows:
        """Return rows in the types that all of them allow: those of the same rows in a file."""
        arrow, csv = tables_library("pyarrow"), tables_library("pyarrow.csv")
        file = arrow.BufferOutputStream()
        csv.write_csv(rows.arrow, file, csv.WriteOptions(include_header=False, delimiter="\x1f"))
        options = self._options(None)
        options["read_options"] = csv.ReadOptions(
            use_threads=False, block_size=2 * BLOCK, column_names=self.names
        )
        options["parse_options"] = csv.ParseOptions(delimiter="\x1f", newlines_in_values=True)
        typed = csv.read_csv(arrow.BufferReader(file.getvalue()), **options)
        return replace(rows, arrow=typed, decimal=self.dialect.told)

    def _in_words(self, message: str) -> str:
        value = re.search(r"column #(\d+): Row #(\d+): CSV conversion error.*value '(.*)'", message)
        if value:
            name = self.names[int(value[1])]
            place = f"{self.path}, row {value[2]}, column {name!r}"
            why = why_no_number(value[3], f"{self.dialect.decimal}{NONE}")
            return f"{place}: {quoted(value[3])} {why}"
        width = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
        if width:
            alone = width[2] == "1"
            return (
                f"{self.path}, row {width[1]}: {width[3]} value{'' if width[3] == '1' else 's'}, "
                f"but the header has {width[2]} column{'' if alone else 's'} (delimiter "
                f"{self.dialect.delimiter!r})"
                + ("; remove what stands above the row of column names" if alone else "")
            )
        if "straddl" in message:
            return self._too_long()
        if "cannot infer number of columns" in message:
            return f"{self.path} has a header but no rows"
        if any(word in message for word in ("codec can't decode", "UTF8", "BOM")):
            return f"{self.path} is not {self.dialect.encoding} text; state --encoding"
        return f"{self.path}: {short(message)}"

    def _too_long(self) -> str:
        """Return which value is too long for a block, and how it begins."""
        sign, row, column = self.dialect.delimiter or ",", 1, 0
        start, inside = 0, False
        with tables_library("pyarrow").input_stream(str(self.path)) as stream:
            text = stream.read(50 * BLOCK).decode(self.dialect.encoding or "utf-8", "replace")
        for found in re.finditer(f'["\n{re.escape(sign)}]', text):
            if found.start() - start > BLOCK // 2:
                break
            if found[0] == '"':
                inside = not inside
            elif not inside:
                start = found.end()
                row, column = (row + 1, 0) if found[0] == "\n" else (row, column + 1)
        name = self.names[min(column, len(self.names) - 1)] if hasattr(self, "names") else column
        return (
            f"{self.path}, row {row}, column {name!r}: a value of more than {BLOCK // 2:,} "
            f"characters, which begins with {text[start : start + 20]!r}; shorten it, or close its "
            "quote"
        )


class ParquetTable(Table):
    """A Parquet file."""

    def _open(self) -> list[str]:
        with tables_library("pyarrow.parquet").ParquetFile(str(self.path)) as file:
            self.size = file.metadata.num_rows
            return list(file.schema_arrow.names)

    def _arrow(self, types: dict[str, str] | None) -> Iterator[Any]:
        arrow = tables_library("pyarrow")
        with tables_library("pyarrow.parquet").ParquetFile(str(self.path)) as file:
            columns = None if types is None else list(types)
            for batch in file.iter_batches(BATCH, columns=columns):
                yield arrow.Table.from_batches([batch])


class ArrowTable(Table):
    """A Feather or Arrow file."""

    def _open(self) -> list[str]:
        with tables_library("pyarrow").memory_map(str(self.path)) as source:
            return list(tables_library("pyarrow.ipc").open_file(source).schema.names)

    def _arrow(self, types: dict[str, str] | None) -> Iterator[Any]:
        arrow = tables_library("pyarrow")
        with arrow.memory_map(str(self.path)) as source:
            reader = tables_library("pyarrow.ipc").open_file(source)
            for number in range(reader.num_record_batches):
                table = arrow.Table.from_batches([reader.get_batch(number)])
                yield table if types is None else table.select(list(types))


class ArraysTable(Table):
    """A NumPy file: the columns of a matrix, and arrays of one value per row by their names."""

    def _open(self) -> list[str]:
        rows, columns = read_arrays(self.path)
        if rows.ndim != 2:
            raise TableError(
                f"{self.path} holds an array of shape {rows.shape}; a table has two dimensions"
            )
        self.size = rows.shape[0]
        self._columns = {f"x{number}": rows[:, number] for number in range(rows.shape[1])} | columns
        return list(self._columns)

    def _arrow(self, types: dict[str, str] | None) -> Iterator[Any]:
        arrow = tables_library("pyarrow")
        names = list(self._columns if types is None else types)
        for start in range(0, self.size, BATCH):
            part = slice(start, start + BATCH)
            yield arrow.table({name: np.asarray(self._columns[name][part]) for name in names})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
