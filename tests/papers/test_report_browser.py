"""The report in a real browser: opened from disk, on a phone and on a desk, light and dark.

Without a browser these tests are skipped; with SCARCE_REQUIRE_BROWSER=1 they fail instead.
"""

from __future__ import annotations

import os
import re
import shutil

import pytest

from papers.report import render
from tests.papers.sample_run import hostile_run, sample_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The browser itself is to keep quiet too.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
SIZES = pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])

# Colour and ground of every text. Grounds in the page are opaque or absent.
TEXT_COLOURS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const parent = node.parentElement;
        if (!node.data.trim() || parent.tagName === "title") continue;
        const style = getComputedStyle(parent);
        const inPlot = parent instanceof SVGElement;
        let ground = parent;
        while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)")
            ground = ground.parentElement;
        found.push([
            node.data.trim(),
            inPlot ? style.fill : style.color,
            getComputedStyle(ground || document.body).backgroundColor,
        ]);
    }
    return found;
}"""


def _unavailable(reason):
    if os.environ.get("SCARCE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"SCARCE_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unavailable("playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        _unavailable(f"no browser is installed: none of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return _written(sample_run(), tmp_path_factory.mktemp("report"))


def _written(run, folder):
    path = folder / "report.html"
    path.write_text(render(run), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser):
    """Return how to open a page; at the end nothing may have been asked for or complained of."""
    contexts, requests, complaints = [], [], []

    def open_page(address, size=DESK, scheme="light"):
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        expected.append(address)
        return page

    expected = []
    yield open_page
    for context in contexts:
        context.close()
    assert requests == expected
    assert complaints == []


def _open_details(page):
    page.evaluate("document.querySelectorAll('details').forEach(node => node.open = true)")


def luminance(colour):
    """Relative luminance by the Web Content Accessibility Guidelines."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_colours():
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(118, 118, 118)", "rgb(255, 255, 255)") == pytest.approx(4.54, abs=0.01)


def test_page_opens_from_disk(visit, address):
    page = visit(address)
    assert page.title() == sample_run().title
    assert page.locator("table").count() > 4
    assert page.locator("svg.plot").count() == 7


@SIZES
def test_page_never_scrolls_sideways(visit, address, size):
    page = visit(address, size)
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
        outside = page.evaluate(
            """() => [...document.querySelectorAll("body *")]
                .filter(node => !node.closest(".scroll") && node.getClientRects().length)
                .filter(node => node.getBoundingClientRect().right > innerWidth + 0.5)
                .map(node => node.outerHTML.slice(0, 200))"""
        )
        assert outside == []
        _open_details(page)


def test_wide_tables_scroll_in_their_box_and_keep_the_first_column(visit, address):
    page = visit(address, PHONE)
    left, moved, hidden = page.evaluate(
        """() => {
            const box = document.querySelector(".scroll");
            const [head, second] = box.querySelectorAll("tbody tr:first-child > *");
            const before = second.getBoundingClientRect().left;
            box.scrollLeft = 150;
            return [
                head.getBoundingClientRect().left - box.getBoundingClientRect().left,
                before - second.getBoundingClientRect().left,
                box.scrollWidth - box.clientWidth,
            ];
        }"""
    )
    assert hidden > 150
    assert moved == pytest.approx(150, abs=1)
    assert left == pytest.approx(0, abs=1)


@SIZES
def test_labels_of_plots_lie_inside_them_and_apart(visit, address, size):
    page = visit(address, size)
    plots = page.evaluate(
        """() => [...document.querySelectorAll("svg.plot")].map(plot => {
            const frame = plot.getBoundingClientRect();
            return [...plot.querySelectorAll("text")].map(label => {
                const box = label.getBoundingClientRect();
                return {
                    text: label.textContent,
                    inside: box.left >= frame.left && box.right <= frame.right
                        && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1,
                    level: !(label.getAttribute("transform") || "").includes("rotate"),
                    box: [box.left, box.right, box.top, box.bottom],
                };
            });
        })"""
    )
    assert len(plots) == 7
    for labels in plots:
        assert [label["text"] for label in labels if not label["inside"]] == []
        level = [label for label in labels if label["level"]]
        for number, one in enumerate(level):
            for other in level[number + 1 :]:
                assert not _overlap(one["box"], other["box"]), (one["text"], other["text"])


def _overlap(one, other):
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


@SCHEMES
def test_texts_are_readable(visit, address, scheme):
    page = visit(address, scheme=scheme)
    _open_details(page)
    texts = page.evaluate(TEXT_COLOURS)
    assert len(texts) > 500
    weak = [text for text in texts if contrast(text[1], text[2]) < 4.5]
    assert weak == []


@SCHEMES
def test_lines_stand_out_from_the_ground(visit, address, scheme):
    page = visit(address, scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    colours = page.evaluate(
        """() => [...document.querySelectorAll(".plot .line")]
            .map(node => getComputedStyle(node).stroke)"""
    )
    assert len(set(colours)) == 7
    assert min(contrast(colour, ground) for colour in colours) >= 3


def test_dark_scheme_is_dark_and_paper_is_white(visit, address):
    ground = "getComputedStyle(document.body).backgroundColor"
    assert luminance(visit(address).evaluate(ground)) > 0.9
    dark = visit(address, scheme="dark")
    assert luminance(dark.evaluate(ground)) < 0.05
    dark.emulate_media(media="print")
    assert luminance(dark.evaluate(ground)) > 0.9


def test_links_lead_to_their_headings(visit, address):
    page = visit(address)
    page.get_by_role("navigation").get_by_role("link", name="Table 3: several source tasks").click()
    assert page.evaluate("location.hash") == "#paper-1-table-2"
    assert page.locator("#paper-1-table-2").bounding_box()["y"] < DESK["height"]


def test_regions_and_pictures_have_names(visit, address):
    page = visit(address)
    assert page.get_by_role("img", name="Plot: Figure 5: running time").count() == 1
    name = re.compile("F of the target class, percent selected")
    assert page.get_by_role("region", name=name).count() == 1
    assert page.get_by_role("table", name=name).count() == 1
    assert page.get_by_role("rowheader", name="RT.orgs(1)").count() > 0


@SIZES
def test_hostile_texts_stay_texts(visit, tmp_path, size):
    run = hostile_run()
    page = visit(_written(run, tmp_path), size)
    assert page.locator("img, script, iframe").count() == 0
    assert page.locator("h1").text_content() == run.title.replace("\x1b\udcff", "\ufffd\ufffd")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
