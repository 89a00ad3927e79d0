"""Folders of Parquet files as pyarrow knows them: partitions, addresses, filters."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from scarce import SVC
from scarce.chunks import ChunkError, ParquetChunks, as_chunks, take


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(900, 2)), columns=["a", "b"])
    rows["year"] = np.repeat([2024, 2025, 2026], 300)
    return rows.assign(y=np.where(rows["a"] + rows["b"] ** 2 > 1, 1, 0))


@pytest.fixture
def folder(frame, tmp_path):
    path = tmp_path / "rows"
    frame.to_parquet(path, partition_cols=["year"], row_group_size=100)
    (path / "notes.txt").write_text("not of the table")
    return path


def read(chunks):
    return take(chunks, np.arange(sum(chunks.sizes))).X


def test_partitions_are_columns(folder, frame):
    chunks = ParquetChunks(folder, y="y")
    assert chunks.sizes == (100,) * 9
    assert chunks.feature_names.tolist() == ["a", "b", "year"]
    np.testing.assert_array_equal(read(chunks), frame[["a", "b", "year"]])
    by_year = ParquetChunks(folder, columns=["a", "b"], sample_domain="year")
    found = np.concatenate(by_year.map(lambda part: part.values["sample_domain"]))
    np.testing.assert_array_equal(found, frame["year"])


def test_filters_of_partitions_and_of_rows(folder, frame):
    later = ParquetChunks(folder, columns=["a"], filter=ds.field("year") > 2024)
    assert later.sizes == (100,) * 6
    assert "year=2025" in later.source(0)
    wanted = (ds.field("year") != 2025) & (ds.field("b") > 0.5)
    chunks = ParquetChunks(folder, columns=["a"], filter=wanted).with_values(y="y")
    kept = frame[(frame["year"] != 2025) & (frame["b"] > 0.5)]
    np.testing.assert_array_equal(read(chunks), kept[["a"]])
    np.testing.assert_array_equal(
        np.concatenate(chunks.map(lambda part: part.values["y"])), kept["y"]
    )
    with pytest.raises(ValueError, match=r"has no rows for which \(year > 2030\)"):
        ParquetChunks(folder, filter=ds.field("year") > 2030)


def test_a_fit_sees_the_chosen_rows(folder, frame):
    model = SVC(approximation="nystroem", n_components=20, random_state=0)
    chunks = ParquetChunks(folder, columns=["a", "b"], y="y", filter=ds.field("year") == 2025)
    by_chunks = model.fit(chunks).decision_function(frame[["a", "b"]])
    some = frame[frame["year"] == 2025]
    in_memory = clone(model).fit(as_chunks(some[["a", "b"]].to_numpy(), y=some["y"].to_numpy()))
    np.testing.assert_allclose(
        by_chunks, in_memory.decision_function(frame[["a", "b"]].to_numpy()), atol=2e-2
    )


def test_addresses_and_other_file_systems(folder, frame):
    expected = frame[["a", "b"]]
    address = ParquetChunks(f"file://{folder}", columns=["a", "b"])
    np.testing.assert_array_equal(read(address), expected)
    held = fs._MockFileSystem()
    held.create_dir("bucket")
    with held.open_output_stream("bucket/rows.parquet") as file:
        pq.write_table(pa.Table.from_pandas(frame), file, row_group_size=450)
    opened = ds.dataset("bucket", filesystem=held, format="parquet")
    chunks = ParquetChunks(opened, columns=["a", "b"])
    assert chunks.sizes == (450, 450)
    np.testing.assert_array_equal(read(chunks), expected)


def test_pieces_can_be_sent_to_other_processes(folder, frame):
    chunks = pickle.loads(pickle.dumps(ParquetChunks(folder, columns=["a", "b"])))
    np.testing.assert_array_equal(read(chunks), frame[["a", "b"]])


def test_a_file_without_a_column_is_named(folder, frame):
    frame[["a", "y"]].to_parquet(folder / "year=2026" / "zz.parquet")
    with pytest.raises(ChunkError, match=r"zz.parquet has no column 'b'"):
        ParquetChunks(folder, y="y")
    ParquetChunks(folder, columns=["a"], y="y")
