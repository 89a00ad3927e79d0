"""Space kept between solves."""

import threading

import numpy as np
import pytest

from scarce.parallel import KEPT, small_space
from tests.kernels.internals import scratch_tile


def test_space_is_lent_again():
    with small_space("test") as first:
        assert first.dtype == np.float64
        assert first.size == KEPT
    with small_space("test") as second:
        assert second is first


def test_nested_loans_and_other_uses_are_separate():
    with small_space("test") as outer:
        with small_space("test") as inner, small_space("other") as other:
            assert not np.shares_memory(inner, outer)
            assert not np.shares_memory(other, outer)
            assert not np.shares_memory(other, inner)
        with small_space("test") as again:
            assert not np.shares_memory(again, outer)
    with small_space("test") as later:
        assert later is outer


def test_space_comes_back_after_an_exception():
    with pytest.raises(KeyError), small_space("test") as lent:
        raise KeyError
    with small_space("test") as again:
        assert again is lent


def test_threads_have_spaces_of_their_own():
    found = []

    def lend():
        with small_space("test") as space:
            found.append(space)

    with small_space("test") as own:
        thread = threading.Thread(target=lend)
        thread.start()
        thread.join()
        assert not np.shares_memory(found[0], own)


def test_tiles_of_a_thread_share_memory_in_either_precision():
    for dtype in (np.float32, np.float64):
        tile = scratch_tile((256, 512), dtype)
        assert tile.shape == (256, 512)
        assert tile.dtype == dtype
        assert np.shares_memory(tile, scratch_tile((3, 5), dtype))
