"""The same rows in memory, in a memory map, in Parquet files and in Dask collections."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scarce.chunks import ArrayChunks, DaskChunks, ParquetChunks

NAMES = ("array", "map", "parquet", "dask array", "dask frame")


def rows(n=3000, d=4, seed=0):
    """Rows, labels that overlap, and weights of which some are zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.linspace(1.0, 0.4, d)
    y = np.where(X[:, 0] + 0.4 * X[:, 1] ** 2 + 0.6 * random.normal(size=n) > 0.3, 5, 3)
    weights = random.uniform(0.5, 2.0, size=n)
    weights[::9] = 0.0
    return X, y, weights


def chunks_of(name, folder, X, step=700, **values):
    """The rows as chunks of one kind, the values of the rows with them."""
    if name == "array":
        return ArrayChunks(X, rows=step, **values)
    if name == "map":
        path = folder / "rows.npy"
        np.save(path, X)
        return ArrayChunks(np.load(path, mmap_mode="r"), rows=step, **values)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if name == "parquet":
        for key, value in values.items():
            frame[key] = value
        half = (len(frame) // (2 * step)) * step  # two files, several row groups each
        for number, part in enumerate((frame[:half], frame[half:])):
            table = pa.Table.from_pandas(part, preserve_index=False)
            pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=step)
        return ParquetChunks(folder, **{key: key for key in values})
    if name == "dask array":
        import dask.array as da

        values = {key: da.from_array(value, chunks=step) for key, value in values.items()}
        return DaskChunks(da.from_array(X, chunks=(step, 3)), **values)
    import dask.dataframe as dd

    whole = dd.from_pandas(frame.assign(**values), chunksize=step)
    return DaskChunks(whole[list(frame.columns)], **{key: whole[key] for key in values})
