"""The report in a real browser: opened from disk, on a phone and on a desk, light and dark.

Without a browser these tests are skipped; with SCARCE_REQUIRE_BROWSER=1 they fail instead.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from papers._report import render
from tests.papers.sample_run import hostile_run, sample_run

READINGS = Path(__file__).parents[2] / "docs" / "results" / "readings.html"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.mark.parametrize("make", [sample_run, hostile_run])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_page_opens_from_disk_and_fits(browser, tmp_path, make, scheme, size):
    path = tmp_path / "report.html"
    path.write_text(render(make()), encoding="utf-8")
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.evaluate("document.querySelectorAll('svg.plot').length") > 0
    ground, ink, plot = page.evaluate(
        """() => [getComputedStyle(document.body).backgroundColor,
                  getComputedStyle(document.body).color,
                  getComputedStyle(document.querySelector('svg.plot text')).fill]"""
    )
    dark = sum(map(int, re.findall(r"\d+", ground)[:3])) < 3 * 128
    assert dark == (scheme == "dark")
    assert plot == ink  # plots follow the scheme
    context.close()
    assert requests == [path.as_uri()]
    assert complaints == []


def test_no_table_of_the_readings_is_wider_than_the_page(browser):
    page = browser.new_page(viewport=DESK)
    page.goto(READINGS.as_uri())
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('.scroll')]
                 .map(box => [box.scrollWidth, box.clientWidth])"""
    )
    page.close()
    assert len(boxes) > 60
    assert all(inside <= outside + 1 for inside, outside in boxes)
