"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file so that readers see the old one or the new one, never a part.

    ``content``: what it will hold; text as UTF-8.
    """
    with whole_file(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a place to write to, which becomes the file when all went well.

    The draft lies beside the file and takes its name once it is on the disk. Drafts that killed
    processes left behind are removed.

    Yields
    ------
    Path
        The draft.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{path.name}.*.draft"):
        if not _is_running(left.suffixes[-2][1:]):
            left.unlink(missing_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        # A full disk names no file, or the draft, which nobody has heard of.
        if error.errno is None or error.filename not in (None, str(draft), draft):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
