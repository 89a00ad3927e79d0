"""One loader for all data sets: find the file, read it, verify what it holds."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from papers.data import _fetch
from papers.data._dataset import Dataset, DatasetMismatchError, DatasetNotFoundError
from papers.data._read import LISTS, read
from papers.data._registry import DATASETS, Entry

VARIABLE = "SCARCE_DATA"
UNREADABLE = (OSError, EOFError, ValueError, KeyError, IndexError, zlib.error, zipfile.BadZipFile)


def load_dataset(
    name: str, *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Dataset:
    """Load a data set of the papers and verify its rows and classes.

    Looked at, in this order: the folder `data_home`, or else the one named by the environment
    variable ``SCARCE_DATA``; the folder ``scarce`` in scikit-learn's cache; what comes with
    scikit-learn; and last, where the set is to be had so, scikit-learn's downloads and their cache.

    Parameters
    ----------
    name : str
        A key of `DATASETS`, which tells the file names, formats, origins and licences.
    data_home : str or path, default=None
        Folder to look in first, instead of that of ``SCARCE_DATA``.
    download_if_missing : bool, default=True
        Whether to download a set that is not at hand.

    Returns
    -------
    Dataset
        Nothing is encoded or left out; see `encode_table` and `plain_texts`.

    Raises
    ------
    DatasetNotFoundError
        With the file's name, where it was looked for and how to get it.
    DatasetMismatchError
        When the file is damaged or holds other rows or classes than it should.

    Notes
    -----
    Damage is noticed by the check sums within the compressed files. The one in `DATASETS` is not
    compared, so that a file made anew from the original is as good as ours.

    Examples
    --------
    >>> from papers.data import load_dataset
    >>> wdbc = load_dataset("wdbc")
    >>> wdbc.data.shape, wdbc.source
    ((569, 30), 'scikit-learn')
    """
    if name not in DATASETS:
        raise ValueError(f"name must be one of {', '.join(sorted(DATASETS))}; got {name!r}")
    entry = DATASETS[name]
    if entry.file:
        for _, folder in _folders(data_home):
            path = folder / entry.file
            if path.is_file():
                return _verified(_read(name, entry, path), entry)
    dataset = _fetch.embedded(name)
    if dataset is None:
        dataset = _download(name, entry, data_home, download_if_missing)
    return _verified(dataset, entry)


def _folders(data_home: str | os.PathLike[str] | None) -> list[tuple[str, Path]]:
    """Return the folders to look in, each with what named it."""
    if data_home is not None:
        first = [("data_home", Path(data_home))]
    elif os.environ.get(VARIABLE):
        first = [(VARIABLE, Path(os.environ[VARIABLE]))]
    else:
        first = []
    # The folder of scikit-learn's get_data_home, which would create it.
    home = os.environ.get("SCIKIT_LEARN_DATA", os.path.join("~", "scikit_learn_data"))
    return [*first, ("cache", Path(home).expanduser() / "scarce")]


def _read(name: str, entry: Entry, path: Path) -> Dataset:
    try:
        return read(name, entry, path)
    except UNREADABLE as error:
        raise DatasetMismatchError(
            f"{path} cannot be read ({type(error).__name__}: {error}); "
            f"{_fingerprint(path, entry)}. Get it again: {entry.origin}"
        ) from error


def _fingerprint(path: Path, entry: Entry) -> str:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        found = "unknown"
    return f"its sha256 is {found}, that of the file we used {entry.sha256}"


def _download(
    name: str, entry: Entry, data_home: str | os.PathLike[str] | None, allowed: bool
) -> Dataset:
    looked = ", ".join(f"{folder} ({named})" for named, folder in _folders(data_home))
    if not _fetch.can_download(name, entry):
        why = "It cannot be downloaded automatically"
    elif not allowed:
        why = "download_if_missing=False"
    else:
        try:
            return _fetch.download(name, entry)
        except OSError as error:  # no network, or the server's refusal
            why, cause = f"Downloading failed ({error})", error
        raise DatasetNotFoundError(_not_found(entry, looked, why)) from cause
    raise DatasetNotFoundError(_not_found(entry, looked, why))


def _not_found(entry: Entry, looked: str, why: str) -> str:
    return (
        f"{entry.file} was not found; looked in {looked}. {why}. To get it: {entry.origin}. Put it "
        f"into one of these folders, or set {VARIABLE} to its own. Licence: {entry.licence}"
    )


def _verified(dataset: Dataset, entry: Entry) -> Dataset:
    """Return the set if its rows, features and classes are those of the table."""
    found: dict[str, Any] = {
        "rows": len(dataset.data),
        "features": dataset.data.shape[1:],
        "labels": len(dataset.target),
        "classes": _class_counts(dataset),
    }
    expected = {
        "rows": entry.rows,
        "features": entry.shape,
        "labels": entry.rows,
        "classes": dict(entry.classes),
    }
    for what, value in expected.items():
        if found[what] != value:
            raise DatasetMismatchError(
                f"{dataset.name} from {dataset.source} has other {what} than published: found "
                f"{_brief(found[what], value)}, expected {_brief(value, found[what])}. "
                f"To get it again: {entry.origin}"
            )
    return dataset


def _class_counts(dataset: Dataset) -> dict[Any, int]:
    if dataset.name == "reuters":
        return {key: sum(map(bool, dataset.extra[key])) for key in LISTS}
    return dict(Counter(dataset.target.tolist()))


def _brief(value: Any, other: Any) -> Any:
    """Of two class counts only what differs."""
    if not isinstance(value, dict):
        return value
    return {key: count for key, count in sorted(value.items()) if other.get(key) != count}
