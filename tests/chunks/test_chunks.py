"""Chunks: sizes, passes in order, rows by number, and errors that name what is wrong."""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest

from scarce.chunks import ArrayChunks, ChunkError, DaskChunks, ParquetChunks, survey, take
from scarce.kernels import scale_gamma
from tests.chunks.internals import row_numbers
from tests.chunks.sources import NAMES, chunks_of, rows


@pytest.mark.parametrize("name", NAMES)
def test_passes_see_every_row_once_and_in_order(name, tmp_path):
    X, y, weights = rows()
    chunks = chunks_of(name, tmp_path, X, y=y, sample_weight=weights)
    assert sum(chunks.sizes) == 3000
    assert max(chunks.sizes) <= 700
    assert chunks.n_features == 4
    parts = chunks.map(lambda part, by: (part.first, by * part.X, part.values["y"]), 2.0)
    assert [first for first, _, _ in parts] == [0, *np.cumsum(chunks.sizes)[:-1]]
    np.testing.assert_array_equal(np.concatenate([each for _, each, _ in parts]), 2.0 * X)
    np.testing.assert_array_equal(np.concatenate([each for _, _, each in parts]), y)
    assert chunks.map(lambda part: part.index, only=[1, 3]) == [1, 3]


@pytest.mark.parametrize("name", NAMES)
def test_rows_by_number(name, tmp_path):
    X, y, weights = rows()
    chunks = chunks_of(name, tmp_path, X, y=y, sample_weight=weights)
    wanted = np.array([0, 5, 699, 700, 2100, 2999])
    part = take(chunks, wanted)
    np.testing.assert_array_equal(part.X, X[wanted])
    np.testing.assert_array_equal(part.values["y"], y[wanted])
    taking = np.array(chunks.map(lambda part: np.count_nonzero(part.weights)))
    places = np.array([0, 600, 601, 2000])
    assert row_numbers(chunks, taking, places).tolist() == np.flatnonzero(weights)[places].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_survey_counts_by_weight(name, tmp_path):
    X, y, weights = rows()
    X = X + 30.0  # far from the origin sums of squares would cancel
    found = survey(chunks_of(name, tmp_path, X, y=y, sample_weight=weights))
    assert found.scale == pytest.approx(scale_gamma(X, weights), rel=1e-12)
    assert found.classes.tolist() == [3, 5]
    expected = [weights[y == 3].sum(), weights[y == 5].sum()]
    np.testing.assert_allclose(found.totals, expected, rtol=1e-12)
    assert found.weight == pytest.approx(weights.sum(), rel=1e-12)
    assert found.largest == np.abs(X).max()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_named_with_its_chunk(bad):
    X = np.zeros((10, 2))
    X[7, 1] = bad
    with pytest.raises(ValueError, match=r"Input X contains \w+: chunk 1 \(rows 4 to 7\)"):
        survey(ArrayChunks(X, rows=4))


def test_files_that_cannot_be_read_are_named(tmp_path):
    X, y, _ = rows(n=1400)
    chunks = chunks_of("parquet", tmp_path, X, y=y)
    broken = tmp_path / "part-1.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ChunkError, match=r"chunk 1 \(rows 700 to 1399, .*part-1.parquet\) could"):
        chunks.map(lambda part: part.X.sum())


def test_blocks_that_cannot_be_computed_are_named():
    import dask
    import dask.array as da

    def load(index):
        if index == 2:
            raise OSError("disk on fire")
        return np.zeros((5, 2))

    blocks = [da.from_delayed(dask.delayed(load)(i), (5, 2), float) for i in range(4)]
    with pytest.raises(ChunkError, match=r"chunk 2 \(rows 10 to 14\) .*OSError: disk on fire"):
        DaskChunks(da.concatenate(blocks)).map(lambda part: part.X.sum())


def test_errors_of_a_pass_are_its_own():
    import dask.array as da

    def divide(part):
        return 1 // part.index

    for chunks in (ArrayChunks(np.ones((4, 1)), rows=2), DaskChunks(da.ones((4, 1), chunks=2))):
        with pytest.raises(ZeroDivisionError):
            chunks.map(divide)


def test_values_have_to_fit_the_rows(tmp_path):
    import dask.array as da

    X = np.ones((6, 2))
    with pytest.raises(ValueError, match=r"y must be one value for each of 6 rows, got \(5,\)"):
        ArrayChunks(X, y=np.zeros(5))
    with pytest.raises(ValueError, match="X must be of float32 or float64, got int64"):
        ArrayChunks(np.ones((6, 2), int))
    with pytest.raises(ValueError, match="y must have the chunks of X"):
        DaskChunks(da.from_array(X, chunks=3), y=da.zeros(5, chunks=3))
    other = DaskChunks(da.from_array(X, chunks=3), y=da.arange(6, chunks=2))
    assert [each.tolist() for each in other.map(lambda part: part.values["y"])] == [
        [0, 1, 2],
        [3, 4, 5],
    ]
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        ParquetChunks(tmp_path / "nothing.parquet")
    chunks_of("parquet", tmp_path, *rows(n=1400)[:1])
    with pytest.raises(ValueError, match="has no column 'label'; it has x0, x1, x2, x3"):
        ParquetChunks(tmp_path, y="label")


def test_blocks_without_rows_are_passed_over():
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"a": np.arange(6.0)}), npartitions=3)
    chunks = DaskChunks(frame[frame["a"] > 2.5])
    assert chunks.sizes == (1, 2)
    assert [each.tolist() for each in chunks.map(lambda part: part.X.ravel())] == [[3.0], [4, 5]]


def test_dask_is_loaded_only_where_it_is_used():
    code = (
        "import sys, numpy as np, scarce; from scarce.chunks import ArrayChunks; "
        "X = np.random.default_rng(0).normal(size=(400, 2)); "
        "m = scarce.OneClassSVM(kernel='rbf', approximation='nystroem', n_components=9); "
        "m.fit(ArrayChunks(X, rows=100)).predict(X); "
        "print([m for m in ('dask', 'distributed') if m in sys.modules])"
    )
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    )
    assert found.stdout.strip() == "[]"


def joined_names(one, other):
    """A join whose answer says in which order everything was joined."""
    return f"({one}{other})"


@pytest.mark.parametrize("n_chunks", [1, 2, 8, 9, 23])
def test_answers_are_joined_in_the_same_order_by_everyone(n_chunks, tmp_path):
    X = rows(n=5 * n_chunks)[0]
    expected = [str(i) for i in range(n_chunks)]
    while len(expected) > 1:
        expected = [
            functools.reduce(joined_names, expected[i : i + 8]) for i in range(0, len(expected), 8)
        ]
    for name in ("array", "parquet", "dask array"):
        (tmp_path / name).mkdir()
        chunks = chunks_of(name, tmp_path / name, X, step=5)
        assert len(chunks.sizes) == n_chunks
        assert chunks.reduce(lambda part: str(part.index), joined_names) == expected[0]


def test_sums_are_added_where_the_rows_are():
    import dask
    import dask.array as da

    wanted = []

    def scheduler(graph, keys, **settings):
        wanted.append(len(np.ravel(keys)))
        return dask.get(graph, keys, **settings)

    X = rows(n=3000)[0]
    local = ArrayChunks(X, rows=100).reduce(lambda part: part.X.T @ part.X, np.add)
    chunks = DaskChunks(da.from_array(X, chunks=(100, 4)))
    with dask.config.set(scheduler=scheduler):
        found = chunks.reduce(lambda part: part.X.T @ part.X, np.add)
    assert wanted == [1]  # one sum comes to the driver, not thirty
    np.testing.assert_array_equal(found, local)


def test_chunks_that_cannot_be_joined_are_named():
    import dask
    import dask.array as da

    def load(index):
        if index == 11:
            raise OSError("disk on fire")
        return np.ones((5, 2))

    blocks = [da.from_delayed(dask.delayed(load)(i), (5, 2), float) for i in range(20)]
    chunks = DaskChunks(da.concatenate(blocks))
    with pytest.raises(ChunkError, match=r"chunk 11 \(rows 55 to 59\) .*OSError: disk on fire"):
        chunks.reduce(lambda part: part.X.sum(), np.add)
    for other in (ArrayChunks(np.ones((40, 1)), rows=2), DaskChunks(da.ones((40, 1), chunks=2))):
        with pytest.raises(ZeroDivisionError):
            other.reduce(lambda part: 1 // part.index, np.add)


def test_columns_that_are_no_numbers_are_named(tmp_path):
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame(
        {"a": np.arange(6.0), "b": list("uvuvuv"), "c": pd.Timestamp("2020-01-01")}
    )
    frame["d"] = frame["b"].astype("category")
    frame.to_parquet(tmp_path / "rows.parquet")
    names = r"must hold real numbers, got b \(\w+\), c \(\w+.*\), d \(\w+.*\)\. Leave such"
    with pytest.raises(ValueError, match=names):
        DaskChunks(dd.from_pandas(frame, npartitions=2))
    with pytest.raises(ValueError, match=names):
        ParquetChunks(tmp_path)
    with pytest.raises(ValueError, match=r"real numbers, got all columns \(complex128\)"):
        DaskChunks(da.ones((4, 2), dtype=complex))
    numbers = frame[["a"]].assign(e=np.arange(6), f=True)
    numbers.to_parquet(tmp_path / "rows.parquet")
    for chunks in (DaskChunks(dd.from_pandas(numbers, npartitions=1)), ParquetChunks(tmp_path)):
        assert take(chunks, np.array([3])).X.tolist() == [[3.0, 3.0, 1.0]]


def test_an_index_is_no_feature(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": np.arange(6.0), "b": np.ones(6)}).sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "rows.parquet")  # which keeps the index as a column
    chunks = ParquetChunks(tmp_path)
    assert chunks.feature_names.tolist() == ["a", "b"]
    with_index = ParquetChunks(tmp_path, columns=["a", "__index_level_0__"])
    np.testing.assert_array_equal(*take(with_index, np.arange(6)).X.T)


def test_what_is_not_a_table_of_rows_is_named(tmp_path):
    import dask
    import dask.array as da
    import dask.bag as db
    from scipy import sparse

    (tmp_path / "other.parquet").write_bytes(b"no such thing")
    with pytest.raises(ChunkError, match=r"other.parquet could not be opened as a Parquet file"):
        ParquetChunks(tmp_path)
    for X in (dask.delayed(np.ones((4, 2))), db.from_sequence([1, 2])):
        with pytest.raises(TypeError, match="must be a Dask array or DataFrame, got a Dask "):
            DaskChunks(X)
    for rows_ in (0, -2, 1.5):
        with pytest.raises(ValueError, match="rows must be a whole number of at least 1, got"):
            ArrayChunks(np.ones((4, 2)), rows=rows_)
    with pytest.raises(TypeError, match="X must be an array or a memory map, got list"):
        ArrayChunks([[1.0]])
    for empty in (lambda: ArrayChunks(np.ones((4, 0))), lambda: DaskChunks(da.ones((4, 0)))):
        with pytest.raises(ValueError, match=r"0 feature\(s\)"):
            empty()
    blocks = da.ones((4, 2), chunks=2).map_blocks(sparse.csr_array)
    with pytest.raises(TypeError, match="X has sparse blocks, and rows in chunks are dense"):
        DaskChunks(blocks).map(lambda part: part.X)


def test_columns_of_a_frame_by_name():
    import dask.dataframe as dd
    import pandas as pd

    X, y, weights = rows(n=60)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, weight=weights)
    lazy = dd.from_pandas(frame, npartitions=3)
    chunks = DaskChunks(lazy, y="label", sample_weight="weight")
    assert chunks.feature_names.tolist() == list("abcd")
    part = take(chunks, np.array([7, 31]))
    np.testing.assert_array_equal(part.X, X[[7, 31]])
    np.testing.assert_array_equal(part.values["y"], y[[7, 31]])
    np.testing.assert_array_equal(part.values["sample_weight"], weights[[7, 31]])
    with pytest.raises(ValueError, match="y='fate' is no column of X; it has a, b, c, d, label"):
        DaskChunks(lazy, y="fate")


@pytest.mark.parametrize("nothing", [np.nan, None])
def test_labels_that_are_missing_are_named_with_their_chunk(nothing):
    y = np.array([0.0, 1.0, nothing, 1.0]) if nothing is not None else np.array([0, 1, None, 1])
    with pytest.raises(ValueError, match=r"Input y contains NaN or None: chunk 1 \(rows 2 to 3\)"):
        survey(ArrayChunks(np.ones((4, 1)), rows=2, y=y))
    words = np.array(["u", "v", nothing, "v"], dtype=object)
    with pytest.raises(ValueError, match="Input sample_domain contains NaN or None: chunk 1"):
        survey(ArrayChunks(np.ones((4, 1)), rows=2, sample_domain=words), "sample_domain")
