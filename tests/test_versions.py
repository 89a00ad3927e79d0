"""The oldest versions that are tested are the lower bounds that are promised."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def lower_bounds(extra):
    """Return the lower bounds of the library with an extra, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pending, seen, bounds = [extra], set(), {}
    lines = list(project["dependencies"])
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            lines += project["optional-dependencies"][one]
            for line in project["optional-dependencies"][one]:
                if match := re.match(r"scarce\[(.*)\]", line):
                    pending += match[1].split(",")
    for line in lines:
        needed = Requirement(line)
        if needed.name != "scarce":
            (bound,) = [each for each in needed.specifier if each.operator in (">=", "~=")]
            bounds.setdefault(needed.name, set()).add(bound.version)
    return bounds


def test_the_oldest_versions_are_those_of_the_project():
    pinned = {}
    for line in (ROOT / ".ci" / "lowest.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            pinned[name] = version
    bounds = lower_bounds("test")
    assert pinned.keys() == bounds.keys()
    for name, versions in bounds.items():
        assert len(versions) == 1, name
        assert re.sub(r"(\.0)+$", "", pinned[name]) == re.sub(r"(\.0)+$", "", versions.pop()), name
