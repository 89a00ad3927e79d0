"""The page of a fit, also in a real browser: on a phone and on a desk, light and dark."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from scarce.cli import main
from tests.cli.internals import page
from tests.cli.tables import customers, districts, images

SIZES = {"phone": (390, 844), "desk": (1280, 900)}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    good = customers(30).rename(columns={"age": HOSTILE})
    good["customer"] = [f"<img src=x onerror=alert({i})>" for i in range(30)]
    good.to_csv(folder / "good.csv", index=False)
    related = customers(40, 4.0, seed=3).rename(columns={"age": HOSTILE})
    related.to_csv(folder / "related.csv", index=False)
    unknown = pd.concat([customers(30, seed=1), customers(50, 25.0, seed=2)])
    unknown.rename(columns={"age": HOSTILE}).to_csv(folder / "unknown.csv", index=False)
    districts(6, 10).to_csv(folder / "rows.csv", index=False)
    np.savez(folder / "images.npz", X=images(6))
    fits = {
        "one-class": ["good.csv", "--id", "customer"],
        "transfer": ["good.csv", "--source", "related.csv", "--radius", "0.1"],
        "pu": ["good.csv", "--unlabelled", "unknown.csv", "--set", "n_bags=4"],
        "groups": ["rows.csv", "--group", "district", "--share", "share"],
        "tensor": ["images.npz", "--kind", "tensor", "--set", "tol=0.01"],
    }
    for kind, options in fits.items():
        words = [
            str(folder / word) if word.endswith((".csv", ".npz")) else word for word in options
        ]
        out = ["--out", str(folder / f"{kind}.skops"), "--report", str(folder / f"{kind}.html")]
        assert main(["fit", *words, *out]) == 0
    return folder


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("one-class", ["of new rows of the class will be rejected", "Most typical"]),
        ("transfer", ["What each source contributed", "related.csv", "from round to round"]),
        ("pu", ["How many belong to the class", "The threshold accepts", "unlabelled"]),
        ("groups", ["Given and predicted proportions", "Each point is one of 6 groups"]),
        ("tensor", ["What a normal sample looks like", "from round to round"]),
    ],
)
def test_every_kind_has_its_page(folder, kind, texts):
    content = (folder / f"{kind}.html").read_text()
    for text in [*texts, "What it was learnt from", "olved to optimality"]:
        assert text in content, text
    assert content.count("<svg") >= 2
    assert "<script" not in content
    assert "<img" not in content
    assert "#010101" not in content  # colours are the style's


def test_values_are_escaped_and_none_may_be_forgotten():
    from jinja2 import UndefinedError

    story = SimpleNamespace(head=HOSTILE, sentence="", svg="<svg></svg>", commands=[], link="a")
    content = page("stories.html", {"stories": [story]})
    assert "&lt;script&gt;" in content
    assert "<script" not in content
    with pytest.raises(UndefinedError):
        page("report.html", {})


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_can_be_read(browser, folder, size, scheme):
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    for kind in ("one-class", "groups", "tensor"):
        view, errors = context.new_page(), []
        view.on("console", lambda message: errors.append(message.text))  # noqa: B023
        view.goto((folder / f"{kind}.html").as_uri())
        assert errors == []
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        colours = view.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
                      getComputedStyle(document.body).color,
                      getComputedStyle(document.querySelector("svg text")).fill]"""
        )
        ground, text, inked = map(luminance, colours)
        assert (ground > 0.9) == (scheme == "light")
        for ink in (text, inked):
            assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5
        heads = view.evaluate("[...document.querySelectorAll('h1, h2')].map(h => h.innerText)")
        assert "What it was learnt from" in heads
        assert view.get_by_role("img").first.bounding_box()["width"] > 0.6 * min(width, 640)
        view.close()
    context.close()


def luminance(colour):
    channels = [int(part) / 255 for part in colour.strip("rgba()").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
