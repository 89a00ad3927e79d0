"""Groups of rows and the proportions of the classes in them: reading and checking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from scarce._arrays import Array
from scarce._frame import note

COMMON = -1  # id of a row that belongs to both domains
LEFTOVER = -2  # id of a row that belongs to no group; None and NaN say the same
SAME_SHARE = 1e-9  # differences of shares below this are rounding
NO_PERCENT = 2.0  # up to which a share above 1 is an error and not a percentage
WHOLE = 1e-6  # how far the shares of all classes may be from adding up to one


@dataclass(frozen=True)
class Bags:
    """The bags that the learner sees: single common rows first, then groups by their means."""

    codes: Array  # (n_samples,): bag of each row; -1 for a row that takes no part
    weights: Array  # (n_samples,): weight of each row in its bag's mean
    n_common: int  # number of common rows
    # (n_groups, n_problems): proportion of each class to be separated; of the positives alone for
    # two classes
    shares: Array
    sizes: Array  # (n_groups,): weight of each group
    masses: Array  # (n_common + n_groups,): factor of each bag's cost

    @property
    def n_bags(self) -> int:
        """Number of common rows and groups."""
        return self.masses.size

    @property
    def rows(self) -> Array:
        """Rows that take part."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def single(self) -> bool:
        """Whether every bag is one row."""
        return self.rows.size == self.n_bags

    def in_means(self) -> Array:
        """Return the weight of each row in its bag's mean, as a proportion that sums to one."""
        rows = self.rows
        totals = np.bincount(self.codes[rows], self.weights[rows], minlength=self.n_bags)
        shares = np.zeros(self.codes.size)
        shares[rows] = self.weights[rows] / totals[self.codes[rows]]
        return shares


def single_rows(shares: Array, weights: Array) -> Bags:
    """Return bags for rows that are groups of their own; a weight is a factor of the cost."""
    rows = np.flatnonzero(weights)
    codes = np.full(weights.size, -1)
    codes[rows] = np.arange(rows.size)
    return Bags(codes, weights, 0, shares[rows], np.ones(rows.size), weights[rows])


def grouped_rows(y: Any, groups: Any, weights: Array) -> Bags:
    """Return bags for rows in groups; checks ids and shares.

    A weight is a factor of the cost of a common row; in a group it counts in mean and size.
    """
    codes, ids = read_groups(groups, weights.size)
    _check_one_value_a_row(y, weights.size, len(ids))
    shares = read_shares(y, weights.size, _as_ids(groups))
    check_leftovers(shares, codes)
    grouped = codes >= 0
    values = group_values(shares, codes, ids)
    sizes = np.bincount(codes[grouped], weights[grouped], minlength=len(ids))
    kept = sizes > 0  # a group whose rows all have weight 0 is not there
    common = np.flatnonzero((codes == COMMON) & (weights > 0))
    if not kept.any() and not common.size:
        raise ValueError(
            "groups must hold at least one group or one common row (-1) of positive weight, got "
            f"{int((codes == LEFTOVER).sum())} leftover rows among {codes.size}"
        )
    place = np.cumsum(kept) - 1 + common.size
    bags = np.full(codes.size, -1)
    taken = np.flatnonzero(grouped & (weights > 0))
    bags[taken] = place[codes[taken]]
    bags[common] = np.arange(common.size)
    masses = np.concatenate([weights[common], np.ones(int(kept.sum()))])
    return Bags(bags, weights, common.size, values[kept], sizes[kept], masses)


def _check_one_value_a_row(y: Any, n_rows: int, n_groups: int) -> None:
    """Refuse a table of the groups' proportions, which is what users have, and say what to do."""
    if isinstance(y, Mapping):
        raise ValueError(
            f"y must give the proportion of the group for each of the {n_rows} rows, got a mapping "
            f"of {len(y)} groups; use scarce.proportions.expand_proportions(y, groups)"
        )
    shape = np.shape(y)
    if shape and shape[0] == n_groups != n_rows:
        raise ValueError(
            f"y has one value for each of the {n_groups} groups and must have one for each of the "
            f"{n_rows} rows, the proportion of the row's group; use "
            "scarce.proportions.expand_proportions({group: proportion, ...}, groups)"
        )


def read_shares(y: Any, n_rows: int, groups: Array | None = None, *, percent: bool = True) -> Array:
    """Return proportions per row: one column of positives, or one column per class.

    ``y``: percentages if some are above 1 and ``percent``. ``groups``: id of each row's group, for
    messages.
    """
    try:
        shares = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y"
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"y must hold numbers, the proportions of the groups between 0 and 1; {error}"
        ) from None
    check_consistent_length(shares, np.empty(n_rows))
    if shares.ndim == 1 or shares.shape[1] == 1:
        shares = shares.reshape(-1, 1)
    if percent:
        shares = _from_percent(shares, groups)
    there = ~np.isnan(shares).any(axis=1)
    outside = np.flatnonzero(there & ((shares < 0) | (shares > 1)).any(axis=1))
    if outside.size:
        # Among percentages it is the one above 100 that is wrong.
        excess = np.maximum(shares - 1.0, -shares)[outside].max(axis=1)
        worst = outside[excess.argmax()] if np.nanmax(shares) > 100 else outside[0]
        line = shares[worst]
        raise ValueError(
            "y must hold the proportion of positives in the row's group, between 0 and 1, got "
            f"{line[np.maximum(line - 1.0, -line).argmax()]:g} in {_named(worst, groups)}"
            + ("" if percent else "; divide percentages by 100")
        )
    if shares.shape[1] > 1:
        sums = shares.sum(axis=1)
        wrong = np.flatnonzero(there & ~(np.abs(sums - 1.0) <= WHOLE))
        if wrong.size:
            raise ValueError(
                f"the {shares.shape[1]} proportions of each row of y must sum to 1, got "
                f"{sums[wrong[0]]:g} in {_named(wrong[0], groups)}"
            )
    return np.asarray(shares)


def _from_percent(shares: Array, groups: Array | None) -> Array:
    """Return proportions of percentages, if all are in 0 to 100 and some clearly above 1."""
    given = shares[~np.isnan(shares)]
    if not given.size or given.max() <= NO_PERCENT or given.min() < 0 or given.max() > 100:
        return shares
    small = np.flatnonzero(((shares > 0) & (shares < 1)).any(axis=1))
    if shares.shape[1] == 1 and small.size:
        large = np.flatnonzero((shares > 1).any(axis=1))
        raise ValueError(
            f"y mixes scales: {shares[small[0], 0]:g} in {_named(small[0], groups)} looks like a "
            f"proportion, {shares[large[0], 0]:g} in {_named(large[0], groups)} like a percentage; "
            "give proportions between 0 and 1 (divide percentages by 100)"
        )
    note(f"y holds values up to {given.max():g}: they are taken for percentages and divided by 100")
    return np.asarray(shares / 100.0)


def _named(row: Any, groups: Array | None) -> str:
    if groups is None:
        return f"row {int(row)}"
    group = groups[int(row)]
    return f"group {group.item() if isinstance(group, np.generic) else group!r}"


def group_values(shares: Array, codes: Array, ids: Sequence[Any]) -> Array:
    """Return the one row of proportions of each group; an error when its rows disagree."""
    grouped = np.flatnonzero(codes >= 0)
    missing = grouped[np.isnan(shares[grouped]).any(axis=1)]
    if missing.size:
        row = int(missing[0])
        raise ValueError(
            f"y must hold the proportion of the row's group; row {row} of group "
            f"{ids[codes[row]]!r} has NaN, which only common rows (-1) and leftover rows "
            "(-2, None or NaN) may have"
        )
    first = np.full(len(ids), codes.size)
    np.minimum.at(first, codes[grouped], grouped)
    values = shares[first]
    off = np.abs(shares[grouped] - values[codes[grouped]]).max(axis=1, initial=0.0) > SAME_SHARE
    if off.any():
        row = int(grouped[off][0])
        raise ValueError(
            f"y must be constant in a group: the rows of group {ids[codes[row]]!r} have "
            f"proportions {_plain(shares[first[codes[row]]])} and {_plain(shares[row])}. If "
            "y holds labels of rows, leave groups out, or count proportions with "
            "scarce.proportions.group_proportions"
        )
    return np.asarray(values)


def _plain(shares: Array) -> Any:
    return float(shares[0]) if shares.size == 1 else shares.tolist()


def check_leftovers(shares: Array, codes: Array) -> None:
    """Refuse proportions of rows marked -2, which may be the id of a group after all."""
    marked = np.flatnonzero((codes == LEFTOVER) & ~np.isnan(shares).all(axis=1))
    if marked.size:
        row = int(marked[0])
        raise ValueError(
            f"row {row} has groups=-2 (or None, NaN), which marks a row of no group, but its y is "
            f"{_plain(shares[row])}; give NaN, or another id if it is a group"
        )


def read_groups(groups: Any, n_rows: int) -> tuple[Array, list[Any]]:
    """Return a code per row and the ids the codes stand for.

    Codes count from 0; `COMMON` and `LEFTOVER` stay as they are. Ids may be any hashable values.
    """
    values = _as_ids(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must give one id for each of the {n_rows} rows, got shape {values.shape}"
        )
    if values.dtype.kind in "US" and (values == values.dtype.type("-1")).any():
        raise ValueError(
            "groups holds the text '-1', which NumPy makes of -1 beside text; give a list or an "
            "array of dtype object, so that -1 stays a number"
        )
    if values.dtype.kind not in "biufUS":
        return _hashed_codes(values)
    marked = np.zeros(n_rows, dtype=bool)
    codes = np.empty(n_rows, dtype=np.intp)
    if values.dtype.kind in "if":
        for mark in (COMMON, LEFTOVER):
            codes[values == mark] = mark
            marked |= values == mark
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = LEFTOVER
        marked |= np.isnan(values)
    ids, codes[~marked] = np.unique(values[~marked], return_inverse=True)
    return codes, ids.tolist()


def _as_ids(groups: Any) -> Array:
    """Return the ids as an array; a list keeps its elements, -1 beside text and tuples too."""
    if hasattr(groups, "dtype") or hasattr(groups, "__array__"):
        return np.asarray(groups)
    if not isinstance(groups, Iterable):
        raise ValueError(f"groups must hold one id for each row, got {groups!r}")
    listed = list(groups)
    values = np.empty(len(listed), dtype=object)
    values[:] = listed
    return values


def _hashed_codes(values: Array) -> tuple[Array, list[Any]]:
    known: dict[Any, int] = {}
    codes = np.empty(values.size, dtype=np.intp)
    for row, value in enumerate(values):
        if _is_missing(value):
            codes[row] = LEFTOVER
            continue
        try:
            marked = value in (COMMON, LEFTOVER)
            codes[row] = int(value) if marked else known.setdefault(value, len(known))
        except TypeError:
            raise ValueError(
                f"groups must hold hashable ids, got {value!r} of {type(value).__name__} in row "
                f"{row}"
            ) from None
    return codes, list(known)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return type(value).__name__ == "NAType"
