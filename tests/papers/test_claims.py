"""The claims page: every verdict leads to a file, and its tables can be read on a phone."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAGE = (RESULTS / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[([^\]]*)\]\(([^)#]*)(#[^)]*)?\)")
VERDICT_ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for table in re.findall(r"^\| Claim \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    for line in table.splitlines()
]


def test_there_are_verdicts_on_all_papers():
    assert PAGE.count("| Claim |") == 4
    assert len(VERDICT_ROWS) >= 30


@pytest.mark.parametrize("row", VERDICT_ROWS, ids=lambda row: row[0][:40])
def test_a_verdict_leads_to_its_cells(row):
    claim, verdict, figure, repetitions, cells = row
    assert claim
    assert verdict.startswith("**")
    targets = [target for _, target, _ in LINK.findall(cells)]
    assert targets
    for target in targets:
        assert (RESULTS / target).is_file(), target
    assert all(target.endswith(".csv") for target in targets)
    assert len(LINK.sub(r"\1", figure)) <= 110
    assert re.fullmatch(r"[0-9to, ]+", repetitions)


@pytest.mark.parametrize("row", VERDICT_ROWS, ids=lambda row: row[0][:40])
def test_cells_have_the_repetitions_that_the_page_gives(row):
    *_, repetitions, cells = row
    found = defaultdict(set)
    for _, target, _ in LINK.findall(cells):
        if target.endswith(".csv"):
            with (RESULTS / target).open(encoding="utf-8", newline="") as file:
                for line in csv.DictReader(file):
                    found[target, line["setting"], line["method"]].add(line["repetition"])
    counts = {len(draws) for draws in found.values()}
    assert {int(number) for number in re.findall(r"\d+", repetitions)} <= counts


def test_below_the_verdicts_all_is_folded_and_no_paragraph_is_long():
    assert PAGE.count("<details>") == PAGE.count("</details>") == 4
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", PAGE):
        if not paragraph.lstrip().startswith(("|", "```")):
            assert len(paragraph.split()) <= 120, paragraph[:80]


def test_links_of_the_page_lead_somewhere():
    for _, target, _ in LINK.findall(PAGE):
        assert not target or target.startswith("http") or (RESULTS / target).exists(), target


@pytest.mark.parametrize("path", sorted((RESULTS / "cells").glob("*/*.csv")), ids=lambda p: p.stem)
def test_cell_files_are_used_and_whole(path):
    name = path.relative_to(RESULTS).as_posix()
    assert f"({name})" in PAGE
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head.startswith("setting,repetition,method,protocol,metric,value,parameters")
    assert lines
