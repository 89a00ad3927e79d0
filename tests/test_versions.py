"""Versions agree: the library's in every file, and the oldest that are promised and tested."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")
RELEASE, DATE = re.search(r"(?m)^## (\d[\d.]+) - ([\d-]+)$", CHANGES).groups()
STATED = {
    "CITATION.cff": f"\nversion: {RELEASE}\ndate-released: {DATE}\n",
    "conda/meta.yaml": f'set version = "{RELEASE}"',
    "README.md": f"Version {RELEASE},",
    "docs/index.md": f"Version {RELEASE} ",
}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("name", STATED)
def test_every_file_states_the_last_release(name):
    assert STATED[name] in (ROOT / name).read_text("utf-8")


def test_the_project_is_the_last_release_or_the_next_one_in_development():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert (version == RELEASE) != (version.endswith(".dev0") and "\n## Unreleased\n" in CHANGES)


def test_a_version_has_at_most_thirty_entries():
    for text in re.split(r"(?m)^## ", CHANGES)[1:]:
        assert 0 < len(re.findall(r"(?m)^- ", text)) <= 30


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_end_by_themselves_and_call_steps_that_exist(path):
    steps = set(re.findall(r"(?m)^step_(\w+)", (ROOT / ".ci" / "run").read_text("utf-8")))
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert {"permissions", "concurrency"} <= workflow.keys()
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            called = re.match(r"bash \.ci/run(.*)", step.get("run", ""))
            assert not called or set(called[1].split()) <= steps


def test_updates_are_watched():
    watched = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
    assert {each["package-ecosystem"] for each in watched} == {"github-actions", "pip"}


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
