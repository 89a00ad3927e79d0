"""The report as text: what it says, where, and that it is well-formed and harmless."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

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
from papers.report import render
from tests.papers.sample_run import hostile_run, sample_run

DECIMALS = {"f": 2, "speed": 4}


def parsed(run):
    """Return the page as a tree; the page is strict enough to be read as XML."""
    doctype, page = render(run).split("\n", 1)
    assert doctype == "<!DOCTYPE html>"
    return ElementTree.fromstring(page)


def text_of(node):
    text = "".join(node.itertext()).replace("\u2007", " ").replace("\u2212", "-")
    return " ".join(text.split())


def with_class(tree, name):
    return [node for node in tree.iter() if name in node.get("class", "").split()]


def run_of(*, tables=(), figures=(), **changes):
    paper = PaperResult("p", "A paper", "A citation", tuple(tables), tuple(figures))
    run = Run("A run", "today", "scarce", {}, {}, "a machine", (paper,))
    return replace(run, **changes)


def small_table(scores, **changes):
    table = Table(
        "t", "A table", "", {"acc": "Accuracy"}, ("one",), ("A", "B", "C", "D"), "A", tuple(scores)
    )
    return replace(table, **changes)


def scores(means, p_values, **changes):
    return [
        replace(Score("one", method, SELECTED, "acc", mean, 0.01, 10, p_value=p), **changes)
        for method, mean, p in zip("ABCD", means, p_values, strict=False)
    ]


@pytest.fixture(scope="module")
def sample():
    return parsed(sample_run())


@pytest.mark.parametrize("make", [sample_run, hostile_run, lambda: run_of()])
def test_page_is_well_formed_and_its_references_lead_somewhere(make):
    tree = parsed(make())
    identities = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(identities) == len(set(identities))
    targets = [node.get("href").removeprefix("#") for node in tree.iter("a")]
    targets += [node.get("aria-labelledby") for node in tree.iter() if node.get("aria-labelledby")]
    assert targets
    assert set(targets) <= set(identities)


def test_headings_descend_by_single_steps(sample):
    levels = [int(node.tag[1]) for node in sample.iter() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(next_ - level <= 1 for level, next_ in pairwise(levels))


def test_every_score_is_in_its_place():
    run = sample_run()
    tree = parsed(run)
    n_scores = 0
    for number, table in enumerate(run.papers[0].tables, 1):
        section = tree.find(f".//section[@aria-labelledby='paper-1-table-{number}']")
        panels = {text_of(panel.find("h4")): panel for panel in with_class(section, "panel")}
        for score in table.scores:
            title = f"{table.metrics[score.metric]} {score.protocol} larger is better"
            heads = [text_of(node) for node in panels[title].findall(".//thead/tr/th")]
            row = next(
                row
                for row in panels[title].findall(".//tbody/tr")
                if text_of(row.find("th")) == score.setting
            )
            column = next(
                place
                for place, head in enumerate(heads)
                if head.startswith(score.method)
                and head.removeprefix(score.method) in ("", "reference")
            )
            cell = text_of(list(row)[column])
            places = 4 if table.key == "several" else DECIMALS[score.metric]
            assert cell.startswith(f"{score.mean:.{places}f} ± {score.std:.{places}f}")
            if score.printed is not None:
                difference = score.mean - score.printed
                assert cell.endswith(f"paper {score.printed:.2f}, {difference:+.{places}f}")
            assert score.cells in [text_of(node) for node in row.iter("code")]
            n_scores += 1
    assert n_scores == sum(len(table.scores) for table in run.papers[0].tables) == 207


def test_repetitions_of_a_row_are_given_and_their_range_where_they_differ(sample):
    panel = with_class(sample, "panel")[0]
    column = [text_of(node) for node in panel.iter("th")].index("Runs")
    found = [text_of(list(row)[column]) for row in panel.findall(".//tbody/tr")]
    assert found == ["10"] * 4 + ["7–9"] + ["10"] * 4


def test_marks_compare_with_the_reference():
    table = small_table(scores([0.80, 0.70, 0.90, 0.95], [None, 0.01, 0.0499, 0.05]))
    panel = with_class(parsed(run_of(tables=[table])), "panel")[0]
    assert [text_of(node) for node in with_class(panel, "mark")] == ["", "▼", "▲", "="]
    assert "p = 0.050" in text_of(panel)


def test_times_are_told_where_they_are_known():
    known, unknown = (text_of(parsed(run_of(seconds=seconds))) for seconds in (75.0, None))
    assert "today, 1 min 15 s, a machine" in known
    assert "today, a machine" in unknown
    assert "not known: went on with an earlier run" in unknown


@pytest.mark.parametrize(("length", "folded"), [(100, False), (1000, True)])
def test_a_long_caption_is_folded_after_its_first_sentence(length, folded):
    rest = ("words " * length)[: length - 1] + "."
    table = small_table(scores([0.8], [None]), caption=f"The rows are rows. {rest}")
    section = parsed(run_of(tables=[table])).find(".//details/..")
    if not folded:
        assert section is None
        return
    assert text_of(section.find("p")) == "The rows are rows."
    assert text_of(section.find("details/p")) == rest


def test_without_a_p_value_there_is_no_mark():
    table = small_table(scores([0.8, 0.7], [None, None]))
    panel = with_class(parsed(run_of(tables=[table])), "panel")[0]
    assert [text_of(node) for node in with_class(panel, "mark")] == ["", ""]


def test_best_of_a_row_is_bold():
    table = small_table(scores([0.8, 0.7, 0.9], [None, 1, 1]))
    panel = with_class(parsed(run_of(tables=[table])), "panel")[0]
    assert [text_of(node) for node in panel.iter("strong")] == ["0.9000"]


def test_means_that_differ_by_rounding_are_both_best():
    table = small_table(scores([0.3, 0.1 + 0.2, 0.2], [None, 1, 1]))
    panel = with_class(parsed(run_of(tables=[table])), "panel")[0]
    assert [text_of(node) for node in panel.iter("strong")] == ["0.3000", "0.3000"]


def test_summary_counts_from_the_side_of_the_reference():
    table = small_table(scores([0.8, 0.7, 0.9, 0.6], [None, 0.01, 0.01, 0.02], printed=0.75))
    card = text_of(with_class(parsed(run_of(tables=[table])), "card")[0])
    assert "A against the others: significantly better in 2, worse in 1, no difference in 0" in card
    # Distances from 0.75: 0.05, 0.05, 0.15, 0.15.
    assert "Median distance from 4 printed figures: 0.1000 (Accuracy)" in card


def test_one_repetition_has_no_spread():
    table = small_table(scores([0.8], [None], n=1, std=0.0))
    assert "±" not in text_of(with_class(parsed(run_of(tables=[table])), "panel")[0])


def test_figures_that_the_table_does_not_announce_are_not_lost():
    stray = Score("two", "E", "another protocol", "auc", 0.5, 0.1, 3)
    table = small_table([*scores([0.8], [None]), stray])
    last = text_of(with_class(parsed(run_of(tables=[table])), "panel")[-1])
    assert last.startswith("auc another protocol")
    assert "two0.5000 ± 0.1000" in last


def test_small_and_large_figures_in_one_table_keep_their_digits():
    table = small_table(scores([0.00123, 456.7], [None, 1]))
    text = text_of(with_class(parsed(run_of(tables=[table])), "panel")[0])
    assert "0.00123 ±" in text
    assert "457 ±" in text


def test_protocols_are_explained(sample):
    text = text_of(sample)
    for protocol, meaning in PROTOCOLS.items():
        assert f"{protocol} {meaning}" in text


def test_conditions_of_the_run_are_given(sample):
    run = sample_run()
    text = text_of(sample)
    expected = [run.title, run.created, run.command, run.machine, *run.notes, "1 h 13 min"]
    expected += [f"{name}{value}" for name, value in (run.settings | run.versions).items()]
    for paper in run.papers:
        expected += [paper.title, paper.citation, *paper.skipped, *paper.remarks]
        expected += [item.caption.replace("*", "") for item in (*paper.tables, *paper.figures)]
    for words in expected:
        assert words in text


def test_values_of_figures_are_also_in_a_table(sample):
    for number, figure in enumerate(sample_run().papers[1].figures[:2], 1):
        node = sample.find(f".//figure[@aria-labelledby='paper-2-figure-{number}']")
        text = text_of(node.find("details"))
        for series in figure.series:
            spreads = series.spread or (None,) * len(series.y)
            for y, spread in zip(series.y, spreads, strict=True):
                assert (f"{y:.2f}" if spread is None else f"{y:.2f} ± {spread:.2f}") in text


def test_plots_have_a_marker_with_a_tooltip_for_each_point(sample):
    figures = [figure for paper in sample_run().papers for figure in paper.figures]
    plots = with_class(sample, "plot")
    assert len(plots) == len(figures)
    for figure, plot in zip(figures, plots, strict=True):
        assert len(with_class(plot, "marker")) == sum(len(series.x) for series in figure.series)
        titles = [text_of(node) for node in plot.iter("title")]
        for series in figure.series:
            label = f"{series.name} (paper)" if series.printed else series.name
            named = [title for title in titles if title.startswith(f"{label}, ")]
            assert len(named) >= len(series.x)


def test_tooltips_say_name_place_and_value(sample):
    series = sample_run().papers[0].figures[0].series[0]
    titles = [text_of(node) for node in with_class(sample, "plot")[0].iter("title")]
    for x, y, spread in zip(series.x, series.y, series.spread, strict=True):
        assert f"{series.name}, {x:.0f}: {y:.2f} ± {spread:.2f}" in titles


def test_positions_in_a_plot_are_those_of_the_values():
    series = Series("a", (1.0, 2.0, 4.0), (10.0, 30.0, 20.0))
    figure = Figure("f", "F", "", "x", "y", (series,))
    plot = with_class(parsed(run_of(figures=[figure])), "plot")[0]
    places = [
        tuple(map(float, re.findall(r"[\d.]+", node.get("transform"))))
        for node in with_class(plot, "marker")
    ]
    (x1, y1), (x2, y2), (x4, y4) = places
    assert (x4 - x1) == pytest.approx(3 * (x2 - x1), abs=0.05)
    assert (y1 - y2) == pytest.approx(2 * (y1 - y4), abs=0.05)
    assert y2 < y4 < y1


def test_positions_on_logarithmic_axes_are_those_of_the_logarithms():
    series = Series("a", (1.0, 10.0, 1000.0), (1e-4, 1e-3, 1e-1), spread=(1.0, 0.0, 0.0))
    figure = Figure("f", "F", "", "x", "y", (series,), log_x=True, log_y=True)
    plot = with_class(parsed(run_of(figures=[figure])), "plot")[0]
    (x1, y1), (x2, y2), (x3, y3) = (
        tuple(map(float, re.findall(r"[\d.]+", node.get("transform"))))
        for node in with_class(plot, "marker")
    )
    assert (x3 - x1) == pytest.approx(3 * (x2 - x1), abs=0.05)
    assert (y1 - y3) == pytest.approx(3 * (y1 - y2), abs=0.05)


def test_printed_lines_look_like_ours_of_the_same_name_but_dashed():
    ours, other = Series("a", (0.0, 1.0), (1.0, 2.0)), Series("b", (0.0, 1.0), (1.0, 3.0))
    figure = Figure("f", "F", "", "x", "y", (replace(ours, printed=True), other, ours))
    plot = with_class(parsed(run_of(figures=[figure])), "plot")[0]
    groups = [node for node in plot.iter("g") if node.get("class")]
    looks = [(node.get("class"), with_class(node, "marker")[0].get("d")) for node in groups]
    (printed, printed_marker), (other_class, other_marker), (own, own_marker) = looks
    assert printed == f"{own} from-paper"
    assert printed_marker == own_marker != other_marker
    assert other_class != own


def test_sixteen_lines_all_look_different():
    series = tuple(Series(f"method {n}", (0.0, 1.0), (1.0, float(n))) for n in range(16))
    figure = Figure("f", "F", "", "x", "y", series)
    samples = with_class(parsed(run_of(figures=[figure])), "sample")
    looks = {
        (node.find("g").get("class"), with_class(node, "marker")[0].get("d")) for node in samples
    }
    assert len(looks) == 16


def test_points_that_a_logarithmic_axis_cannot_show_are_counted():
    series = Series("a", (0.0, 1.0, 10.0), (1.0, -1.0, 2.0))
    figure = Figure("f", "F", "", "x", "y", (series,), log_x=True, log_y=True)
    tree = parsed(run_of(figures=[figure]))
    assert len(with_class(with_class(tree, "plot")[0], "marker")) == 1
    assert "not positive on a logarithmic axis: 2 points." in text_of(tree.find(".//figcaption"))


@pytest.mark.parametrize("log", [False, True])
def test_degenerate_figures_are_drawn(log):
    lines = (Series("none", (), ()), Series("one", (3.0,), (5.0,)))
    figure = Figure("f", "F", "", "x", "y", lines, log_x=log, log_y=log)
    page = render(run_of(figures=[figure]))
    assert "nan" not in page
    assert page.count("<figure") == 1


@pytest.mark.parametrize("series", [(), (Series("none", (), ()),)])
def test_figures_without_points_are_left_out(series):
    empty = Figure("f", "An empty figure", "", "x", "y", series)
    full = Figure("g", "A full figure", "", "x", "y", (Series("one", (3.0,), (5.0,)),))
    page = render(run_of(figures=[empty, full]))
    assert "An empty figure" not in page
    assert page.count("<figure") == 1
    assert "0 tables, 1 figure<" in page


def test_texts_cannot_become_markup():
    run, plain = hostile_run(), sample_run()
    tree, expected = parsed(run), parsed(plain)
    assert {node.tag for node in tree.iter()} <= {node.tag for node in expected.iter()}
    attributes = {name for node in tree.iter() for name in node.keys()}
    assert attributes <= {name for node in expected.iter() for name in node.keys()}
    assert tree.find("head/title").text == run.title.replace("\x1b\udcff", "\ufffd\ufffd")


class _Reader(HTMLParser):
    """Collects what a browser might load, as an HTML parser sees it."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        names = ("src", "href", "xlink:href", "action", "data", "srcset", "poster")
        self.addresses += [value for name, value in attributes if name in names]


@pytest.mark.parametrize("make", [sample_run, hostile_run])
def test_page_refers_to_nothing_outside_itself(make):
    page = render(make())
    reader = _Reader()
    reader.feed(page)
    assert not reader.tags & {"script", "img", "iframe", "object", "embed", "link", "base"}
    assert reader.addresses
    assert all(address.startswith("#") for address in reader.addresses)
    style = page[page.index("<style>") : page.index("</style>")]
    assert not re.search(r"url\(|@import|@font-face|//", style)


def test_page_can_be_written_as_utf8():
    render(hostile_run()).encode("utf-8")


def test_both_protocols_have_a_panel_each(sample):
    badges = [text_of(node) for node in with_class(sample, "badge")]
    assert {SELECTED, BEST_OF_GRID} <= set(badges)


def test_reference_with_fixed_parameters_serves_all_protocols():
    fixed = Score("one", "A", FIXED, "acc", 0.8, 0.01, 10)
    others = scores([0.0, 0.9, 0.7], [None, 0.01, 0.01])[1:]
    panels = with_class(parsed(run_of(tables=[small_table([fixed, *others])])), "panel")
    assert [text_of(node) for node in with_class(panels[0], "mark")] == ["▲", "▼"]
    assert "reference: A with fixed parameters" in text_of(panels[0].find("h4"))


@pytest.mark.parametrize(
    ("caption", "emphasised"),
    [
        ("so *selected* is (*best of grid*) here", ["selected", "best of grid"]),
        ("2 * 3 * 4, a*b*c, **, *<b>*", []),
    ],
)
def test_stars_emphasise_words(caption, emphasised):
    table = small_table(scores([0.8], [None]), caption=caption)
    tree = parsed(run_of(tables=[table]))
    assert [text_of(node) for node in tree.iter("em")] == emphasised
    shown = "".join(with_class(tree, "caption")[0].itertext())
    assert shown == (caption.replace("*", "") if emphasised else caption)


def test_long_names_of_categories_keep_both_ends_and_say_the_rest_when_pointed_at(sample):
    plot = with_class(sample, "plot")[1]
    label = next(node for node in plot.iter("text") if "…" in text_of(node))
    assert label.find("title").text == "NG.os against NG.hockey, one half"
    assert label.find("title").tail == "NG.os aga…one half"


@pytest.mark.parametrize(
    ("n", "p", "sign"),
    [
        # Two comparisons: the smallest corrected p-value is 2 * 2 / 2^n.
        (6, 0.0625, "·"),
        (7, 0.0625, "="),
        (6, 0.04, "▼"),
    ],
)
def test_no_difference_is_not_claimed_where_none_could_be_found(n, p, sign):
    table = small_table(scores([0.8, 0.7, 0.6], [None, p, p], n=n))
    tree = parsed(run_of(tables=[table]))
    panel = with_class(tree, "panel")[0]
    assert [text_of(node) for node in with_class(panel, "mark")] == ["", sign, sign]
    told = "too few repetitions to tell in 2 of 2" in text_of(with_class(tree, "card")[0])
    assert told == (sign == "·")
