"""Groups whose rows come in chunks: what passes add up, and the bags these sums are.

A group may lie in many chunks: sums and weights are added, never means. Common rows enter the
problem by squares alone, so that any number of them acts as no more rows than there are features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.chunks import Chunks, Part, take
from scarce.chunks._features import Features
from scarce.proportions._groups import (
    COMMON,
    LEFTOVER,
    SAME_SHARE,
    check_leftovers,
    group_values,
    read_groups,
    read_shares,
)
from scarce.proportions._soft_labels._features import row_steps

BAG = "bag"


@dataclass(frozen=True)
class GroupTable:
    """What one read finds of the groups."""

    places: dict[Any, int]  # number of each group of positive weight, by its id
    shares: Array  # (n_groups, 1): proportion of positives
    # sizes, counts: (n_groups,): weight and number of rows
    sizes: Array
    counts: Array
    present: int  # groups of all chunks, counted in every chunk anew
    n_common: int  # number of common rows
    common_weight: float  # their weight
    mixed: bool  # whether some group holds two rows that differ

    def read(self, part: Part) -> Part:
        """Return rows that know their bag; those of no group have no weight."""
        local, ids = read_groups(part.values["groups"], part.X.shape[0])
        numbers = np.array([self.places.get(each, LEFTOVER) for each in ids] + [0])
        codes = np.where(local >= 0, numbers[np.maximum(local, 0)], local)
        weights = np.where(codes == LEFTOVER, 0.0, part.weights)
        return Part(part.index, part.first, part.X, {"sample_weight": weights, BAG: codes})


class BagChunks:
    """Chunks whose parts a `GroupTable` has read."""

    def __init__(self, chunks: Chunks, table: GroupTable) -> None:
        self.chunks, self.table = chunks, table
        self.sizes, self.n_features = chunks.sizes, chunks.n_features
        self.dtype, self.feature_names = chunks.dtype, chunks.feature_names

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order."""
        return self.chunks.map(_seen, function, self.table, *broadcast, only=only)

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return ``function(part, *broadcast)`` of all chunks, joined to one answer."""
        return self.chunks.reduce(_seen, join, function, self.table, *broadcast)


def _seen(part: Part, function: Callable[..., Any], table: GroupTable, *broadcast: Any) -> Any:
    return function(table.read(part), *broadcast)


@dataclass(frozen=True)
class _Found:
    """What `_groups_of` returns of a part."""

    ids: list[Any]
    sortable: bool
    shares: Array
    sizes: Array
    counts: Array
    n_common: int
    common_weight: float
    firsts: Array | None  # a row of every group, if none of its rows differ


def _groups_of(part: Part) -> _Found:
    for name in ("y", "groups"):
        if name not in part.values:
            raise ValueError(
                f"a fit from proportions by chunks needs {name}, one value per row, in the chunks "
                "of X; rows that are groups of their own, labels, need rows in memory"
            )
    n, weights = part.X.shape[0], part.weights
    try:
        codes, ids = read_groups(part.values["groups"], n)
        shares = read_shares(part.values["y"], n, percent=False)
        check_leftovers(shares, codes)
        values = group_values(shares, codes, ids)
    except ValueError as error:
        raise ValueError(f"{part.name}: {error}") from None
    taking = np.flatnonzero((codes >= 0) & (weights > 0))
    common = (codes == COMMON) & (weights > 0)
    order = taking[np.argsort(codes[taking], kind="stable")]
    same = codes[order[1:]] == codes[order[:-1]]
    mixed = False
    for start in range(0, order.size - 1, 1024):
        some = np.flatnonzero(same[start : start + 1024]) + start
        if (part.X[order[some]] != part.X[order[some + 1]]).any():
            mixed = True
            break
    firsts = None
    if not mixed:
        firsts = np.full((len(ids), part.X.shape[1]), np.nan)
        firsts[codes[order[::-1]]] = part.X[order[::-1]]
    return _Found(
        ids,
        np.asarray(part.values["groups"]).dtype.kind in "biufUS",
        values,
        np.bincount(codes[taking], weights[taking], minlength=len(ids)),
        np.bincount(codes[taking], minlength=len(ids)),
        int(np.count_nonzero(common)),
        float(weights[common].sum()),
        firsts,
    )


def group_table(chunks: Chunks) -> GroupTable:
    """Read all groups and proportions once; refuse some that differ within a group."""
    found: list[_Found] = chunks.map(_groups_of)
    known: dict[Any, int] = {}
    for each in found:
        for group in each.ids:
            known.setdefault(group, len(known))
    ids = sorted(known) if all(each.sortable for each in found) else list(known)
    places = {group: place for place, group in enumerate(ids)}
    shares = np.full((len(ids), 1), np.nan)
    sizes, counts = np.zeros(len(ids)), np.zeros(len(ids), np.int64)
    firsts: Array | None = np.full((len(ids), chunks.n_features), np.nan)
    mixed = False
    for each in found:
        own = np.array([places[group] for group in each.ids], np.intp)
        off = np.abs(shares[own] - each.shares)[:, 0] > SAME_SHARE
        if off.any():
            group = each.ids[int(np.flatnonzero(off)[0])]
            place = places[group]
            raise ValueError(
                f"y must be constant in a group: the rows of group {group!r} have proportions "
                f"{shares[place, 0]:g} and {each.shares[off][0, 0]:g}, in different chunks"
            )
        shares[own] = each.shares
        sizes[own] += each.sizes
        counts[own] += each.counts
        if each.firsts is None or mixed:
            mixed, firsts = True, None
            continue
        assert firsts is not None
        before = firsts[own]
        mixed = bool((before != each.firsts)[~np.isnan(before) & ~np.isnan(each.firsts)].any())
        firsts[own] = np.where(np.isnan(before), each.firsts, before)
    kept = np.flatnonzero(sizes > 0)
    n_common = sum(each.n_common for each in found)
    if not kept.size and not n_common:
        raise ValueError(
            "groups must hold at least one group or one common row (-1) of positive weight"
        )
    return GroupTable(
        {ids[old]: new for new, old in enumerate(kept)},
        shares[kept],
        sizes[kept],
        counts[kept],
        sum(len(each.ids) for each in found),
        n_common,
        float(sum(each.common_weight for each in found)),
        mixed,
    )


def source_functions(X: Array, sources: list[Any]) -> Array:
    """Return the sources' scores without their constants, a column each."""
    columns = [source.function(X) for source in sources]
    return np.column_stack(columns) if columns else np.empty((X.shape[0], 0))


Sums = tuple[Array, Array, Array | None]


def _sums_of(part: Part, features: Features, sources: list[Any]) -> Sums:
    """Return groups, their sums of raw numbers and of the sources, and the common rows' factor."""
    present = np.unique(part.values[BAG][part.values[BAG] >= 0])
    width = features.width + len(sources)
    sums = np.zeros((present.size, width))
    factor: Array | None = None
    for block in part.blocks(features.width):
        codes, weights = block.values[BAG], block.weights
        raw, functions = features.raw(block.X), source_functions(block.X, sources)
        if not np.isfinite(functions).all():
            raise ValueError(
                f"source gives scores that are not finite on the rows of X: {part.name}"
            )
        own = np.flatnonzero(codes >= 0)
        places = np.searchsorted(present, codes[own])
        shape = present.size, own.size
        adding = sparse.csr_array((weights[own], (places, np.arange(own.size))), shape=shape)
        sums += adding @ np.hstack([raw[own], functions[own]])
        common = np.flatnonzero((codes == COMMON) & (weights > 0))
        if common.size:
            ones = np.ones((common.size, 1))
            rows = np.hstack([raw[common], ones, functions[common]])
            factor = stacked_factor([factor, np.sqrt(weights[common])[:, None] * rows])
    return present, sums, factor


def _joined_sums(one: Sums, other: Sums) -> Sums:
    """Return what `_sums_of` says of the rows of both."""
    present = np.union1d(one[0], other[0])
    sums = np.zeros((present.size, one[1].shape[1]))
    for groups, own, _ in (one, other):
        sums[np.searchsorted(present, groups)] += own
    return present, sums, stacked_factor([one[2], other[2]])


def stacked_factor(rows: list[Array | None]) -> Array | None:
    """Return a triangular matrix with the products of all columns that some rows have."""
    given = [each for each in rows if each is not None]
    return np.asarray(np.linalg.qr(np.vstack(given), mode="r")) if given else None


@dataclass(frozen=True)
class BagSums:
    """Bags of all rows: rows that stand for the common ones, then the groups' means."""

    features: Array  # (n_bags, rank): their features
    functions: Array  # (n_bags, n_sources): the sources' scores without constants
    n_common: int  # rows that stand for the common ones


def bag_sums(
    chunks: BagChunks, table: GroupTable, features: Features, sources: list[Any]
) -> BagSums:
    """Add up the groups' rows, and reduce the common rows, in one read."""
    # Every group of the table has rows of positive weight, so that all are present.
    _, sums, factor = chunks.reduce(_sums_of, _joined_sums, features, sources)
    means = sums / table.sizes[:, None]
    rows = np.empty((0, means.shape[1]))
    if factor is not None:
        rows = standing_rows(factor, features.width)
    every = np.vstack([rows, means])
    own, functions = np.split(every, [features.width], axis=1)
    return BagSums(np.asarray(features.from_raw(own)), functions, rows.shape[0])


def standing_rows(factor: Array, ones: int) -> Array:
    """Return rows of equal weight with the same sums of squares as all common rows.

    ``factor`` is a root of the products of all columns, the column ``ones`` being that of the
    constant. It is turned so that every row has the same constant, and divided by it: the sum over
    the rows of ``(t - w'z - b)^2``, each counted by the common rows' weight divided by their
    number, is that over all common rows, for every ``w`` and ``b``.
    """
    n = factor.shape[0]
    column = factor[:, ones]
    constant = float(np.linalg.norm(column)) / np.sqrt(n)
    mirror = column - constant
    length = float(mirror @ mirror)
    if length > 0:
        factor = factor - np.outer(mirror, (2.0 / length) * (mirror @ factor))
    return np.asarray(np.delete(factor, ones, axis=1) / constant)


def scores_of(
    chunks: BagChunks,
    features: Features,
    sources: list[Any],
    weight_vector: Array,
    chosen: Array,
    every: int,
) -> tuple[Array, Array, Array, Array]:
    """Return numbers among ``chosen``, weights, scores and sources' scores of rows of groups.

    In one read; ``every`` thins the rows out to those of every so many numbers.
    """
    found = chunks.map(_scores_of, features, sources, weight_vector, chosen, every)
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))  # type: ignore[return-value]


def _scores_of(
    part: Part,
    features: Features,
    sources: list[Any],
    weight_vector: Array,
    chosen: Array,
    every: int,
) -> tuple[Array, Array, Array, Array]:
    codes = part.values[BAG]
    meant = np.isin(codes, chosen) & (part.weights > 0)
    if every > 1:
        meant &= (part.first + np.arange(codes.size)) % every == 0
    some = part.rows(np.flatnonzero(meant))
    scores, functions = [np.zeros(0)], [np.zeros((0, len(sources)))]
    for block in some.blocks(features.width):
        scores.append(features.raw(block.X) @ weight_vector)
        functions.append(source_functions(block.X, sources))
    places = np.searchsorted(chosen, some.values[BAG])
    return places, some.weights, np.concatenate(scores), np.vstack(functions)


def soft_label_rows(chunks: BagChunks, table: GroupTable) -> Part:
    """Return the rows of groups that are given soft labels, in two reads."""
    found = chunks.map(_numbers_of, row_steps(table.counts))
    return take(chunks, np.concatenate(found))


def _numbers_of(part: Part, steps: Array) -> Array:
    """Return the numbers of rows at the steps of their groups."""
    codes = part.values[BAG]
    numbers = part.first + np.arange(codes.size)
    own = np.where(codes >= 0, steps[np.maximum(codes, 0)], 0)
    meant = (own > 0) & (part.weights > 0) & (numbers % np.maximum(own, 1) == 0)
    return np.asarray(numbers[meant])
