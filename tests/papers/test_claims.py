"""The claims page: every verdict leads to a file, tables are those of the cells, and short."""

import csv
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean

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


@cache
def _means(name):
    figures = defaultdict(list)
    with (RESULTS / "cells" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            key = (line["setting"], line["method"], line["protocol"], line["metric"])
            figures[key].append(float(line["value"]))
    return {key: fmean(values) for key, values in figures.items()}


def _table(heading):
    """Return the titles of the columns and the rows of the first table below a heading."""
    after = PAGE[PAGE.index(heading) :]
    lines = re.search(r"^\|.*\n\|[-|]+\|\n(?:\|.*\n)+", after, re.MULTILINE)[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return head, rows


# Names of the page for methods of the cells.
IN_CELLS = {
    "all labels": "TSVM",
    "one-class": "OSVM",
    "noisy negatives": "SVM_NN",
    "best width": "SVMC",
    "untuned": "scarce, untuned",
    "LWE, RBF": "LWE, RBF models",
    "tensor machine": "STM",
    "by rows": "STM",
    "by columns": "STM, by columns",
    "vector machine": "SVM",
    "`OneClassSTM()`": "scarce, untuned",
    "UOCT": "UOCT-SVM",
    "UOC": "UOC-SVM",
    "OC": "OC-SVM",
    "OC, C = 1": "OC-SVM, C = 1",
    "UOCT as printed": "UOCT-SVM, as printed",
    "UOC as printed": "UOC-SVM, as printed",
    "UOCT-SVM as printed": "UOCT-SVM, as printed",
    "OC-SVM, ν chosen": "OC-SVM",
}


def _method(name):
    return IN_CELLS.get(name, name)


def _protocol(name, other):
    return "fixed" if _method(name) == "scarce, untuned" else other


def _letters(row, column):
    letters = [f"letter {row}", _method(column)]
    protocol = "best of grid" if column in ("best width", "all labels", "one-class") else "fixed"
    return [(*letters, protocol, "second_f1")]


def _first_letters(row, column):
    name, _, protocol = row.partition(", ")
    protocol = "selected" if protocol == "selected" else "fixed"
    return [(f"letter {column}", _method(name), protocol, "f1")]


def _pages(row, column):
    return [(f"{row.split()[0]}, binary", _method(column), "fixed", "f1")]


def _cancer(row, column):
    return [("b-cancer", _method(row), column, metric) for metric in ("f1", "second_f1")]


def _target(row, column):
    return [(row, _method(column), _protocol(column, "selected"), "accuracy")]


def _moons(row, column):
    return [(f"10 % common, {column}", _method(row), _protocol(row, "selected"), "accuracy")]


def _moons_read(row, column):
    return [(f"10 % common, {column}", row, "fixed", "accuracy")]


def _faces(row, column):
    model = (_method(row), _protocol(row, "selected"))
    return [(f"{column} rows", *model, metric) for metric in ("accuracy", "auc")]


def _acceptance(row, column):
    return [(f"ν = {nu}", _method(column), "fixed", row) for nu in (0.1, 0.5, 0.9)]


def _table_4(row, column):
    return [(row, _method(column), _protocol(column, "best of grid"), "f1")]


def _noise(row, column):
    levels = (20, 40, 60, 80, 100)
    return [(f"{row}, {n} % noisy", _method(column), "best of grid", "f1") for n in levels]


TABLES = {
    "**Letters** (10)": ("svmc/table-1", _letters),
    "On the first test set": ("svmc/table-1", _first_letters),
    "**Pages** as binary": ("svmc/table-1", _pages),
    "**Breast cancer**, the": ("svmc/table-1", _cancer),
    "**SVMC and SMC**, F1": ("svmc/width", lambda row, column: [(column, row, "fixed", "f1")]),
    "**Moons**, selected": ("tgplm/moons", _moons),
    "**A reading of the moons**": ("tgplm/moons-read", _moons_read),
    "**Faces**, selected (10)": ("tgplm/faces", _target),
    "**UCI sets**, selected": ("tgplm/uci", _target),
    "**Faces** (50)": ("oc-stm/faces", _faces),
    "**True positive rate**, eight": ("oc-stm/acceptance", _acceptance),
    "**Isolet and LDPA**": ("uoct/uncertain", _table_4),
    "**Noise study**, 20": ("uoct/noise", _noise),
}


@pytest.mark.parametrize("heading", TABLES)
def test_figures_of_a_table_are_those_of_the_cells(heading):
    name, keys = TABLES[heading]
    head, rows = _table(heading)
    compared = 0
    for row in rows:
        for column, cell in zip(head[1:], row[1:], strict=True):
            if not cell or column.startswith("printed") or row[0].startswith("*"):
                continue
            texts = re.sub(r"\[.*?\]", "", cell).split(" / ")
            for text, key in zip(texts, keys(row[0], column), strict=True):
                assert float(text) == pytest.approx(_means(name)[key], abs=0.05 + 1e-9), key
                compared += 1
    assert compared >= 10


def test_means_over_the_noisy_sets_are_those_of_the_cells():
    means = _means("uoct/one-source") | _means("uoct/several-sources")
    names = {"UOC-SVM as printed": "UOC-SVM, as printed"}
    names |= {f"{name} as recorded": name for name in ("UOCT-SVM", "UOC-SVM")}
    names |= {"TLOC-SVM, ν chosen": "TLOC-SVM"}
    sets = {setting for setting, *_ in means}
    assert len(sets) == 23
    for name, *cells in _table("**Noisy sets** (10)")[1]:
        method = names.get(name, _method(name))
        for protocol, text in zip(("selected", "best of grid"), cells, strict=False):
            mean = fmean(means[s, method, protocol, "f1"] for s in sets)
            assert float(text) == pytest.approx(mean, abs=0.05 + 1e-9), (name, protocol)
