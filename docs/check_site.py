"""The built site: every link leads somewhere, and pages open in a real browser.

``python -m pytest -n0 docs/check_site.py`` after the site was built into docs/_build/html. Without
a browser its tests are skipped; with SCARCE_REQUIRE_BROWSER=1 they fail instead.
"""

from __future__ import annotations

import os
import runpy
import shutil
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote, urlsplit

import pytest

SITE = Path(__file__).parent / "_build" / "html"
PAGES = (
    "index.html",
    "quick_start.html",
    "guide/false_alarms.html",
    "guide/label_proportions.html",
    "gallery/index.html",
    "gallery/situations/plot_windows.html",
    "reference/generated/scarce.CalibratedOneClass.html",
    "reference/generated/scarce.SVMC.html",
    "reference/generated/scarce.OneClassSVM.html",
    "reference/generated/scarce.TransferGroupProbabilitySVM.html",
    "theory/certificate.html",
    "theory/uoct_svm.html",
    "results/untuned_label_proportions.html",
    "results/untuned_prior_shift.html",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The browser itself is to keep quiet too.
FLAGS = (
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# Paragraphs, items, titles and names in the text that reach beyond the width of the screen.
TEXT = "article :is(p, li, dt, h1, h2, p code, li code)"
WIDER = """width => [...document.querySelectorAll('TEXT')]
    .filter(e => !e.closest('table, pre, .highlight, .math, mjx-container, [hidden]'))
    .filter(e => Math.max(e.getBoundingClientRect().right,
        e.getBoundingClientRect().left + (e.matches('h1, h2') ? e.scrollWidth : 0)) > width + 1)
    .map(e => e.textContent.trim().slice(0, 60))""".replace("TEXT", TEXT)
# Words in names of classes and parameters that are torn in two lines.
NAMES = "article :is(h1, td code .pre, dt > strong, dt > a .pre)"
TORN = """() => [...document.querySelectorAll('NAMES')]
    .flatMap(e => [...e.childNodes]).filter(n => n.nodeType === Node.TEXT_NODE)
    .filter(n => /^[A-Za-z_]{2,16}$/.test(n.data)).filter(n => {
        const range = document.createRange();
        range.selectNode(n);
        return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1;
    }).map(n => n.data)""".replace("NAMES", NAMES)


class Links(HTMLParser):
    """The links, and what can be linked to, of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.marks: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.marks |= {given[name] for name in ("id", "name") if given.get(name)}


@cache
def links_of(path: Path) -> Links:
    return Links(path.read_text("utf-8"))


def test_every_link_inside_the_site_leads_somewhere():
    pages = [page for page in sorted(SITE.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) > 100
    broken = []
    for page in pages:
        for link in links_of(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file():
                broken.append((page.name, link))
            elif parts.fragment and target.suffix == ".html":
                marks = links_of(target).marks
                if unquote(parts.fragment) not in marks:
                    broken.append((page.name, link))
    assert broken == []


@pytest.fixture(scope="module")
def browser():
    reason = None
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        reason = "playwright is not installed"
    if program is None:
        reason = f"no browser is installed: none of {', '.join(BROWSERS)}"
    if reason and os.environ.get("SCARCE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"SCARCE_REQUIRE_BROWSER=1, but {reason}")
    if reason:
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """Serve the site: from disk, browsers let no page read another, and the search does."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


# Sphinx's search adds a summary also for a page that has no text of its own, and there is none.
KNOWN = {"Failed to execute 'appendChild' on 'Node': parameter 1 is not of type 'Node'."}


@pytest.fixture
def opened(browser, address):
    """Open a page of the site; afterwards nothing may have failed or gone elsewhere."""
    faults, contexts = [], []

    def look(name, width=1280, scheme="light"):
        size = {"width": width, "height": 844}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(120_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: said.type == "error" and faults.append(said.text))
        page.on("pageerror", lambda error: str(error) in KNOWN or faults.append(str(error)))
        inside = (address, "data:", "blob:")
        page.on("request", lambda to: to.url.startswith(inside) or faults.append(to.url))
        page.goto(address + name)
        return page

    yield look
    for context in contexts:
        context.close()
    assert faults == []


def test_the_search_finds_a_name(opened):
    page = opened("search.html?q=SVMC")
    page.wait_for_selector("#search-results li a")
    found = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
    assert any("scarce.SVMC" in address for address in found)


LEADS = runpy.run_path(str(Path(__file__).parent / "field_words.py"))["LEADS"]


@pytest.mark.parametrize("word", LEADS)
def test_a_search_for_a_word_of_the_field_finds_its_page_first(opened, word):
    page = opened(f"search.html?q={quote(word)}")
    page.wait_for_selector("#search-results li a")
    first = page.eval_on_selector("#search-results li a", "a => a.href")
    assert urlsplit(first).path == f"/{LEADS[word]}.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_phone(opened, name, scheme):
    page = opened(name, width=390, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # Nothing of the text lies outside, but for what scrolls by itself: tables, code, formulas.
    assert page.evaluate(WIDER, 390) == []
    assert page.evaluate(TORN) == []
    size = page.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    )
    assert size >= 14
    assert page.evaluate("document.documentElement.dataset.theme") == scheme


@pytest.mark.parametrize("name", ["results/README.html", "when_it_warns.html"])
def test_tables_of_sentences_are_no_wider_than_the_page(opened, name):
    page = opened(name, width=1280)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    wide = "[...document.querySelectorAll('article table.sentences')]"
    assert page.evaluate(f"{wide}.length") > 0
    assert page.evaluate(f"{wide}.filter(e => e.scrollWidth > e.clientWidth + 1).length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(opened, scheme):
    page = opened("index.html", scheme=scheme)
    colours = page.evaluate(
        """() => [getComputedStyle(document.querySelector('article p')).color,
                  getComputedStyle(document.body).backgroundColor]"""
    )
    assert contrast(*colours) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as the accessibility guidelines define it."""

    def luminance(colour: str) -> float:
        parts = [int(float(v)) / 255 for v in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_formulas_are_drawn(opened):
    page = opened("theory/uoct_svm.html")
    page.wait_for_selector("mjx-container")
