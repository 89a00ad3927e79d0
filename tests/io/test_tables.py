"""Tables of every kind give the same rows, whole and in batches."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import scarce.io._tables as tables
from scarce.io import Dialect, TableError, open_table

FRAME = pd.DataFrame(
    {
        "height": [1.5, np.nan, 1.75, 2.25],
        "age": [30, 41, 52, 63],
        "town": ["Köln", "Bonn", None, "Köln"],
    }
)


def written(folder, ending):
    path = folder / f"table{ending}"
    if ending == ".parquet":
        FRAME.to_parquet(path)
    elif ending in (".feather", ".arrow"):
        FRAME.to_feather(path)
    elif ending == ".tsv":
        FRAME.to_csv(path, sep="\t", index=False)
    elif ending == ".csv.gz":
        FRAME.to_csv(path, index=False, compression="gzip")
    else:
        FRAME.to_csv(path, index=False)
    return path


def check(rows):
    np.testing.assert_array_equal(rows.numbers("height"), FRAME["height"])
    np.testing.assert_array_equal(rows.numbers("age"), FRAME["age"])
    assert [value if isinstance(value, str) else None for value in rows.texts("town")] == [
        "Köln",
        "Bonn",
        None,
        "Köln",
    ]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".arrow"])
def test_kinds_of_files_hold_the_same(tmp_path, ending):
    table = open_table(written(tmp_path, ending))
    assert table.names == ["height", "age", "town"]
    check(table.read())
    (batch,) = table.batches({"town": "text", "height": "number"})
    assert batch.names == ["town", "height"]
    np.testing.assert_array_equal(batch.numbers("height"), FRAME["height"])


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        ({"sep": ";", "decimal": ","}, "utf-8"),
        ({"sep": "|"}, "utf-8"),
        ({}, "utf-8-sig"),
        ({}, "utf-16"),
        ({"sep": ";", "decimal": ","}, "cp1252"),
    ],
)
def test_dialects_are_found(tmp_path, options, encoding):
    path = tmp_path / "table.csv"
    FRAME.to_csv(path, index=False, encoding=encoding, **options)
    table = open_table(path)
    check(table.read())
    assert bool(table.notes) == (encoding == "cp1252")


def test_dialects_are_stated(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a~b\n1,5~?\n2,5~3\n")
    dialect = Dialect(delimiter="~", decimal=",", missing=("?",))
    rows = open_table(path, dialect).read()
    assert rows.numbers("a").tolist() == [1.5, 2.5]
    assert np.isnan(rows.numbers("b")[0])


def test_batches_of_a_csv_add_up_and_errors_know_their_row(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 2000)
    path = tmp_path / "table.csv"
    values = np.arange(3000) / 4
    pd.DataFrame({"a": values, "b": 1}).to_csv(path, index=False)
    batches = list(open_table(path).batches({"a": "number"}))
    assert len(batches) > 5
    np.testing.assert_array_equal(np.concatenate([b.numbers("a") for b in batches]), values)
    assert [b.first for b in batches] == [
        2 + sum(map(len, batches[:i])) for i in range(len(batches))
    ]
    lines = path.read_text().splitlines()
    lines[2500] = "oops,1"  # the header is row 1
    path.write_text("\n".join(lines))
    with pytest.raises(TableError, match=r"table\.csv, row 2501, column 'a': 'oops' is not a num"):
        list(open_table(path).batches({"a": "number"}))


def test_a_first_column_without_a_name_holds_row_names(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}, index=[12, 30])
    frame.to_csv(tmp_path / "t.csv")  # as pandas writes it, and R but for quotes
    table = open_table(tmp_path / "t.csv")
    assert table.names == ["row names", "a", "b"]
    rows = table.read()
    np.testing.assert_array_equal(rows.numbers("row names"), [12, 30])
    np.testing.assert_array_equal(rows.numbers("a"), [1.5, 2.5])
    (batch,) = table.batches({"b": "text", "row names": "number"})
    np.testing.assert_array_equal(batch.numbers("row names"), [12, 30])


def test_numpy_files(tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    np.save(tmp_path / "rows.npy", rows)
    np.savez(tmp_path / "rows.npz", data=rows, name=list("abcdef"))
    for name in ("rows.npy", "rows.npz"):
        table = open_table(tmp_path / name)
        np.testing.assert_array_equal(table.read().numbers("x1"), rows[:, 1])
    assert table.names == ["x0", "x1", "name"]
    assert table.read().texts("name").tolist() == list("abcdef")


def test_the_type_of_a_csv_column_comes_from_all_rows(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,x\n" * 300_000 + "1.5,x\n")
    assert open_table(path).read().numbers("a")[-1] == 1.5


def test_categories_of_arrow_are_text(tmp_path):
    table = pa.table({"a": pa.array(["u", "v", None]).dictionary_encode()})
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    rows = open_table(tmp_path / "t.feather").read()
    assert rows.kind("a") == "text"
    assert rows.texts("a")[:2].tolist() == ["u", "v"]
