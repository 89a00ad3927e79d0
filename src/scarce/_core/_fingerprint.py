"""What identifies a version of the C sources; also read by the build."""

from __future__ import annotations

import hashlib
from pathlib import Path

SUFFIXES = frozenset({".c", ".h", ".inc", ".def"})


def fingerprint(folder: Path) -> str:
    """Return a digest of all sources in a folder, whatever their line ends."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.iterdir() if each.suffix in SUFFIXES):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]
