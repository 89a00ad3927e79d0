"""Elements of HTML and SVG as text; whatever is not an element already is escaped."""

from __future__ import annotations

import html
import re

# Not allowed in a page, escaped or not. They come with captured error messages.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_STARS = re.compile(r"(?<![\w*])\*(\w[^*\n]*)\*(?![\w*])")
_EMPTY = frozenset({"br", "circle", "line", "meta", "path", "rect"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Return the text as markup that shows it literally, in an element or an attribute."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_CONTROL.sub("\ufffd", text)))


def joined(*parts: str) -> Html:
    """Put parts one after the other, escaping those that are plain text."""
    return Html("".join(escaped(part) for part in parts))


def emphasised(text: str) -> Html:
    """Return a text in which what stands between stars, *like this*, is emphasised."""
    pieces = _STARS.split(text)
    return joined(
        *(element("em", piece) if number % 2 else piece for number, piece in enumerate(pieces))
    )


def element(name: str, /, *children: str, **attributes: str | float | None) -> Html:
    """Return one element; `class_` and `aria_label` stand for `class` and `aria-label`.

    An attribute that is None is left out.
    """
    opening = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Html(f"<{opening} />")
    return Html(f"<{opening}>{joined(*children)}</{name}>")
