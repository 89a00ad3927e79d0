"""How much memory can still be taken."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path


def free_memory(root: str = "/") -> float | None:
    """Return the bytes that can still be taken, None where that is not known.

    What the system calls available counts pages that it would give back, unlike free ones, and a
    container may be allowed less. ``root`` is where the files of the system are.
    """
    found = [_available(Path(root) / "proc/meminfo"), *_left_in_groups(Path(root))]
    known = [each for each in found if each is not None]
    if known:
        return max(0.0, min(known))
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _available(path: Path) -> float | None:
    for line in _text(path).splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * float(line.split()[1])
    return None


def _left_in_groups(root: Path) -> Iterator[float]:
    """Yield what is left of each limit on the control groups of this process and those above."""
    files = {
        "": ("memory.max", "memory.current", "inactive_file"),
        "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    }
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, kinds, own = line.split(":", 2)
        if kinds not in files:
            continue
        top = root / "sys/fs/cgroup" / kinds
        group = top / own.strip("/")
        for folder in (group, *group.parents):
            limit, used = (_text(folder / name) for name in files[kinds][:2])
            if limit.isdigit() and used.isdigit():  # no limit is the word "max"
                given_back = re.search(
                    rf"^{files[kinds][2]} (\d+)", _text(folder / "memory.stat"), re.M
                )
                yield float(limit) - float(used) + (float(given_back[1]) if given_back else 0.0)
            if folder == top:
                break


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # not this system, or not allowed
        return ""
