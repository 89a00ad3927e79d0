"""Rows beyond memory: chunks of an array, a memory map, Parquet files or a Dask collection.

What a fit asks of rows is one small protocol, `Chunks`: their sizes, a pure function of every
chunk, and some rows by number. Nothing above it knows who holds the rows.
"""

from scarce._names import publish
from scarce.chunks._array import ArrayChunks
from scarce.chunks._band import BandSolution, band_fit
from scarce.chunks._chunks import ChunkError, Chunks, Part, take
from scarce.chunks._chunks import starts as starts
from scarce.chunks._dask import DaskChunks
from scarce.chunks._features import LandmarkFeatures, LinearFeatures, landmark_features
from scarce.chunks._memory import COPIES as COPIES
from scarce.chunks._memory import PER_ROW as PER_ROW
from scarce.chunks._open import as_chunks
from scarce.chunks._parquet import ParquetChunks
from scarce.chunks._start import Start, smoothed_start, solved_start
from scarce.chunks._survey import Survey, survey

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "ArrayChunks",
    "BandSolution",
    "ChunkError",
    "Chunks",
    "DaskChunks",
    "LandmarkFeatures",
    "LinearFeatures",
    "ParquetChunks",
    "Part",
    "Start",
    "Survey",
    "as_chunks",
    "band_fit",
    "landmark_features",
    "smoothed_start",
    "solved_start",
    "survey",
    "take",
]

publish("chunks", globals())
