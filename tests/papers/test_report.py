"""The report as text: what it says, where, and that it is well-formed and harmless."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from papers._panels import panels
from papers._report import render
from papers._results import (
    BEST_OF_GRID,
    FIXED,
    PROTOCOLS,
    SELECTED,
    Figure,
    PaperResult,
    Run,
    Score,
    Series,
    Table,
)
from tests.papers.sample_run import hostile_run, sample_run

SVG = "{http://www.w3.org/2000/svg}"


def parsed(run):
    """Return the page as a tree; the page is strict enough to be read as XML."""
    doctype, page = render(run).split("\n", 1)
    assert doctype == "<!DOCTYPE html>"
    return ElementTree.fromstring(page)


def text_of(node):
    return " ".join("".join(node.itertext()).replace("\u2212", "-").split())


def run_of(*, tables=(), figures=(), **changes):
    paper = PaperResult("p", "A paper", "A citation", tuple(tables), tuple(figures))
    run = Run("A run", "today", "scarce", {}, {}, "a machine", (paper,))
    return replace(run, **changes)


def table_of(means, p_values, n=10, **changes):
    rows = [
        Score("one", method, SELECTED, "acc", mean, 0.01, n, p_value=p)
        for method, mean, p in zip("ABCD", means, p_values, strict=False)
    ]
    table = Table(
        "t", "A table", "", {"acc": "Accuracy"}, ("one",), tuple("ABCD"), "A", tuple(rows)
    )
    return replace(table, **changes)


@pytest.fixture(scope="module")
def sample():
    return parsed(sample_run())


@pytest.mark.parametrize("make", [sample_run, hostile_run, run_of])
def test_page_is_well_formed_and_asks_for_nothing(make):
    tree = parsed(make())
    identities = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(identities) == len(set(identities))
    targets = [node.get("href").removeprefix("#") for node in tree.iter("a")]
    targets += [node.get("aria-labelledby") for node in tree.iter() if node.get("aria-labelledby")]
    assert targets
    assert set(targets) <= set(identities)
    assert not {"script", "img", "link", "iframe"} & {node.tag for node in tree.iter()}
    for node in tree.iter():
        for name, value in node.attrib.items():
            if name.endswith(("href", "src")):
                assert value.startswith("#")


def test_headings_descend_by_single_steps(sample):
    levels = [int(node.tag[1]) for node in sample.iter() if re.fullmatch("h[1-6]", str(node.tag))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(next_ - level <= 1 for level, next_ in pairwise(levels))


def test_every_score_is_in_its_row_and_column(sample):
    found = {}
    for table in sample.iter("table"):
        title = sample.find(f".//h4[@id='{table.get('aria-labelledby')}']").text.strip()
        heads = [text_of(node) for node in table.findall("thead/tr/th")]
        for row in table.findall("tbody/tr"):
            for head, cell in zip(heads, row, strict=True):
                found.setdefault((title, text_of(row[0]), head), []).append(text_of(cell))
    n_scores = 0
    for table in sample_run().papers[0].tables:
        for panel in panels(table):
            title = f"{panel.label}, {panel.protocol}"
            for score in panel.scores:
                beginning = panel.write(score.mean).replace("\u2212", "-")
                cells = found[title, score.setting, score.method]
                (cell,) = (cell for cell in cells if cell.startswith(beginning))
                if score.printed is not None:
                    assert f"paper {score.printed:.2f}" in cell
                n_scores += 1
    assert n_scores > 200


@pytest.mark.parametrize(
    ("n", "p", "sign"), [(10, 0.001, "▼"), (10, 0.4, "="), (3, 0.4, "·"), (10, None, "")]
)
def test_marks_compare_with_the_reference(n, p, sign):
    tree = parsed(run_of(tables=[table_of((0.9, 0.8), (None, p), n)]))
    reference, other = tree.findall(".//tbody/tr/td")[:2]
    assert not set("▲▼=·") & set(text_of(reference))
    assert set("▲▼=·") & set(text_of(other)) == set(sign)


def test_best_of_a_row_is_bold_and_one_repetition_has_no_spread():
    tree = parsed(run_of(tables=[table_of((0.7, 0.9, 0.9), (None, 1, 1), n=1)]))
    cells = tree.findall(".//tbody/tr/td")[:3]
    assert [cell.find("strong") is not None for cell in cells] == [False, True, True]
    assert not any("±" in text_of(cell) for cell in cells)


def test_protocols_and_conditions_are_given(sample):
    text = text_of(sample)
    for name, meaning in PROTOCOLS.items():
        assert f"{name}: {meaning}" in text
    run = sample_run()
    for part in (run.command, run.created, run.machine, *run.versions.values()):
        assert part in text


def test_stars_emphasise_words():
    table = table_of((1.0,), (None,), caption="*Selected* is 2 * 3 <b> * 4.")
    caption = parsed(run_of(tables=[table])).find(".//p[@class='caption']")
    assert [text_of(node) for node in caption.findall("em")] == ["Selected"]
    assert text_of(caption) == "Selected is 2 * 3 <b> * 4."


def line(name="A", y=(1.0, 2.0), **changes):
    return replace(Series(name, tuple(map(float, range(1, len(y) + 1))), tuple(y)), **changes)


def test_plots_name_their_lines_and_dash_those_of_the_paper():
    figure = Figure("f", "F", "", "x_1 $a$", "y", (line(), line(printed=True)))
    (svg,) = parsed(run_of(figures=[figure])).iter(f"{SVG}svg")
    texts = [text_of(node) for node in svg.iter(f"{SVG}text")]
    assert {"A", "A (paper)", "x_1 $a$", "y"} <= set(texts)
    assert "stroke-dasharray" in ElementTree.tostring(svg, encoding="unicode")
    assert svg.get("aria-labelledby") == "paper-1-figure-1"


@pytest.mark.parametrize("y", [(0.0, -1.0), (float("nan"), 1.0), (5.0, 5.0), (3.0,)])
def test_odd_values_are_drawn_or_left_out(y):
    figure = Figure("f", "F", "", "x", "y", (line(y=y),), log_y=True)
    assert list(parsed(run_of(figures=[figure])).iter(f"{SVG}svg"))


@pytest.mark.parametrize("y", [(0.001, 10.0), (0.02, 0.05)])
def test_logarithmic_axes_have_plain_numbers(y):
    figure = Figure("f", "F", "", "x", "y", (line(y=y),), log_y=True)
    (svg,) = parsed(run_of(figures=[figure])).iter(f"{SVG}svg")
    texts = [text_of(node) for node in svg.iter(f"{SVG}text")]
    assert not any("$" in text or "math" in text for text in texts)
    numbers = {float(text) for text in texts if text[:1].isdigit()}
    assert ({0.01, 0.1, 1.0} if y[0] < 0.01 else {0.03}) <= numbers


def test_figures_without_points_are_left_out():
    figure = Figure("f", "F", "", "x", "y", (Series("A", (), ()),))
    assert not list(parsed(run_of(figures=[figure])).iter(f"{SVG}svg"))


def test_reference_with_fixed_parameters_serves_all_protocols():
    scores = [
        Score("one", "A", FIXED, "acc", 0.5, 0.1, 10),
        Score("one", "B", BEST_OF_GRID, "acc", 0.9, 0.1, 10, p_value=0.001),
    ]
    tree = parsed(run_of(tables=[table_of((), (), scores=tuple(scores))]))
    assert any("A with fixed parameters" in text_of(node) for node in tree.iter("h4"))
    assert "▲" in text_of(tree.findall(".//tbody/tr")[0])
