"""Rows beyond memory: chunks of an array, a memory map, Parquet files or a Dask collection.

What a fit asks of rows is one small protocol, `Chunks`: their sizes, a pure function of every
chunk, and some rows by number. Nothing above it knows who holds the rows.
"""

from scarce._names import publish
from scarce.chunks._array import ArrayChunks
from scarce.chunks._band import BandSolution as BandSolution
from scarce.chunks._band import band_fit as band_fit
from scarce.chunks._chunks import ChunkError, Chunks, Part
from scarce.chunks._chunks import starts as starts
from scarce.chunks._chunks import take as take
from scarce.chunks._dask import DaskChunks
from scarce.chunks._features import LandmarkFeatures as LandmarkFeatures
from scarce.chunks._features import LinearFeatures as LinearFeatures
from scarce.chunks._features import landmark_features as landmark_features
from scarce.chunks._memory import COPIES as COPIES
from scarce.chunks._memory import PER_ROW as PER_ROW
from scarce.chunks._open import as_chunks
from scarce.chunks._parquet import ParquetChunks
from scarce.chunks._start import Start as Start
from scarce.chunks._start import refined_start as refined_start
from scarce.chunks._start import smoothed_start as smoothed_start
from scarce.chunks._start import solved_start as solved_start
from scarce.chunks._survey import Survey as Survey
from scarce.chunks._survey import survey as survey

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "ArrayChunks",
    "ChunkError",
    "Chunks",
    "DaskChunks",
    "ParquetChunks",
    "Part",
    "as_chunks",
]

publish("chunks", globals())
