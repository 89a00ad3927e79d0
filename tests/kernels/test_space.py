"""Space kept between solves, and compilation without a place for its cache."""

import threading

import numba
import numpy as np
import pytest

from scarce.kernels._sums import scratch_tile
from scarce.solvers import _jit
from scarce.parallel import KEPT, small_space


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


def test_compiled_functions_do_without_a_cache(monkeypatch):
    asked, njit = [], numba.njit

    def nowhere(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", nowhere)

    @_jit.compiled()
    def twice(x):
        return 2 * x

    assert twice(21) == 42
    first, second = asked
    assert first.pop("cache") is True
    assert first == second
    assert second["nogil"] is True
    assert second["fastmath"] == {"contract", "nsz"}


def test_other_errors_of_the_compiler_are_not_hidden(monkeypatch):
    def broken(**_options):
        raise TypeError("no such option")

    monkeypatch.setattr(numba, "njit", broken)
    with pytest.raises(TypeError, match="no such option"):
        _jit.compiled()(lambda x: x)


def test_plain_arithmetic_is_not_reordered():
    assert "reassoc" not in _jit.CONTRACT
    assert "nnan" not in _jit.REASSOCIATE
