"""The table on the screen and the JSON file."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import versions
from benchmarks.timing import growth_exponent

Row = dict[str, Any]


def seconds(value: float | None) -> str:
    """Format a time with three digits."""
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def small(value: float | None) -> str:
    """Format a small number with three digits."""
    return "" if value is None else f"{value:.2e}"


def _dig(row: Row, *keys: str) -> Any:
    value: Any = row
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _memory(row: Row, key: str) -> str:
    value = _dig(row, key, "fit_mb")
    return "" if value is None else f"{value:.0f}"


COLUMNS: dict[str, Callable[[Row], str]] = {
    "case": lambda row: row["case"],
    "dtype": lambda row: row.get("dtype") or "",
    "ours": lambda row: seconds(row.get("ours_s")),
    "peer": lambda row: seconds(row.get("peer_s")),
    "peer is": lambda row: row.get("peer") or "",
    "ratio": lambda row: f"{row['ratio']:.3g}" if "ratio" in row else "",
    "target": lambda row: row.get("target") or "",
    "verdict": lambda row: row.get("verdict") or "",
    "obj. diff.": lambda row: small(row.get("objective_difference")),
    "KKT ours": lambda row: small(_dig(row, "ours", "kkt_violation")),
    "KKT peer": lambda row: small(_dig(row, "peer_check", "kkt_violation")),
    "gap ours": lambda row: small(_dig(row, "ours", "dual_gap")),
    "gap peer": lambda row: small(_dig(row, "peer_check", "dual_gap")),
    "error ours": lambda row: small(row.get("ours_error")),
    "error peer": lambda row: small(row.get("peer_error")),
    "MB ours": lambda row: _memory(row, "ours_memory"),
    "MB peer": lambda row: _memory(row, "peer_memory"),
}
NUMBER_COLUMNS = {"ours", "peer", "ratio", "obj. diff.", "exponent"}
NUMBER_COLUMNS |= {
    f"{what} {whose}" for what in ("KKT", "gap", "error", "MB") for whose in ("ours", "peer")
}

GROWTH_COLUMNS: dict[str, Callable[[Row], str]] = {
    "growth of time with n": lambda row: row["growth"],
    "dtype": lambda row: row["dtype"],
    "library": lambda row: row["library"],
    "n": lambda row: f"{row['sizes'][0]}..{row['sizes'][-1]}",
    "exponent": lambda row: f"{row['exponent']:.2f}",
    "target": lambda row: row["target"],
    "verdict": lambda row: row["verdict"],
}


def table(rows: Sequence[Row], columns: dict[str, Callable[[Row], str]] = COLUMNS) -> str:
    """Return an aligned plain-text table; columns that are empty throughout are left out."""
    cells = {name: [show(row) for row in rows] for name, show in columns.items()}
    cells = {name: column for name, column in cells.items() if any(column)}
    lines = []
    for values in zip(*([name, *column] for name, column in cells.items()), strict=True):
        line = []
        for (name, column), value in zip(cells.items(), values, strict=True):
            width = max(map(len, [name, *column]))
            line.append(value.rjust(width) if name in NUMBER_COLUMNS else value.ljust(width))
        lines.append("  ".join(line).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def growth_rows(rows: Iterable[Row], targets: dict[str, float]) -> list[Row]:
    """Fit an exponent to every series of cases that differ in n only."""
    series: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in rows:
        if not row.get("growth"):
            continue
        key = (row["growth"], row["dtype"])
        series.setdefault((*key, "ours"), {})[row["n"]] = row["ours_s"]
        if row.get("peer"):
            series.setdefault((*key, row["peer"]), {})[row["n"]] = row["peer_s"]
    result = []
    for (growth, dtype, library), points in series.items():
        if len(points) < 3:
            continue
        sizes = sorted(points)
        times = [points[n] for n in sizes]
        exponent = growth_exponent(sizes, times)
        limit = targets.get(growth) if library == "ours" else None
        result.append(
            {
                "growth": growth,
                "dtype": dtype,
                "library": library,
                "sizes": sizes,
                "seconds": times,
                "exponent": exponent,
                "target": "" if limit is None else f"< {limit:g}",
                "verdict": "" if limit is None else "met" if exponent < limit else "missed",
            }
        )
    return result


def machine() -> dict[str, Any]:
    """Return the size of the machine and the versions, without anything that names it."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cpus": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load_at_start": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "memory_gb": round(pages / 2**30, 1),
        "versions": {"python": platform.python_version()} | versions(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write `content`; replaces the file in one step, so that a stopped run leaves a whole file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content, indent=1) + "\n")
    draft.replace(path)
