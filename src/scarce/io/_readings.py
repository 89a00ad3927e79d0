"""How numbers and dates are written in text: found from all values of a column, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from scarce._arrays import Array

CURRENCIES = (
    *"\u20ac$\u00a3\u00a5\u20b9\u20bd\u20a9\u20aa\u20ba\u20ab\u0e3f",
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF"),
    *("CAD", "AUD", "NZD", "BRL", "MXN", "ZAR", "TRY", "KRW", "SGD", "HKD", "kr", "z\u0142", "R$"),
)
UNITS = ("%", *sorted(CURRENCIES, key=len, reverse=True))
SPACES = "\u0020\u00a0\u202f\u2009"
THOUSANDS = (".", ",", "'", "\u2019", *SPACES)
NONE = "0"  # no sign between thousands
PLAIN = "." + NONE  # as programs write numbers
ORDERS = {"": ("dmy",), ".": ("dmy",), "/": ("dmy", "mdy"), "-": ("dmy", "mdy")}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DATE = re.compile(
    r"\s*(\d{1,4})([./-]?)(\d{1,2}|[A-Za-z]{3,9})\2(\d{1,4})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([AaPp][Mm])?)?"
    r"\s*(?:Z|[+-]\d\d:?\d\d)?\s*"
)
# Named months with spaces: 10 July 2025, July 10, 2025.
DAY_MONTH = re.compile(r"\A\s*(\d{1,2})\.?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})")
MONTH_DAY = re.compile(r"\A\s*([A-Za-z]{3,9})\.?\s+(\d{1,2}),?\s+(\d{4})")
BESIDE = re.compile(  # a number with a unit after it, or a sign such as < before it
    rf"\s*([<>~\u2264\u2265]?)\s*([-+\u2212]?\d(?:[\d.,'\u2019{SPACES}]*\d)?)"
    r"\s*((?:\u00b0\s?)?[^\W\d_][^\s\d]{0,11})?\s*"
)
EITHER = "?"  # a date that may be read day first or month first
SEVERAL = "~"  # dates that are written in several ways
OR_MISSING = "correct it, or name it by --missing if it stands for a missing value"
MOSTLY = 0.9  # share of numbers or dates from which on other text among them is a mistake


def number_styles(texts: Sequence[str], decimal: str | None = None) -> list[str]:
    """Return the ways in which all of some texts can be read as numbers.

    A style is the decimal sign, the sign between thousands (0 for none) and the unit: ``",.EUR"``
    is that of ``1.169,00 EUR``.

    ``decimal``: the decimal sign of the file, where that is known: it decides between two.
    Returned: none, one, or two that differ in what they read.
    """
    if not texts:
        return []
    unit = _unit(texts[0])
    bare = [_without(text, unit) for text in texts]
    if any(text is None for text in bare):
        return []
    values = [str(text) for text in bare]
    styles = [style for sign in ".," if (style := _style(values, sign, unit))]
    if len(styles) < 2:
        return styles
    if decimal is not None:
        return [style for style in styles if style[0] == decimal]
    return styles if styles[0][1] != styles[1][1] else styles[:1]  # neither sign: the same values


def _style(values: list[str], decimal: str, unit: str) -> str | None:
    signs = {sign for text in values for sign in text if sign in THOUSANDS and sign != decimal}
    if len(signs) > 1:
        return None
    thousands = signs.pop() if signs else NONE
    pattern = _pattern(decimal, thousands)
    if all(pattern.fullmatch(text) for text in values):
        return f"{decimal}{thousands}{unit}"
    return None


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    grouped = "" if thousands == NONE else rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|"
    return re.compile(rf"[-+\u2212]?(?:{grouped}\d+)(?:{re.escape(decimal)}\d+)?")


def _unit(text: str) -> str:
    bare = text.strip().strip("-+\u2212()").strip()
    return next((unit for unit in UNITS if bare.startswith(unit) or bare.endswith(unit)), "")


def _without(text: str, unit: str) -> str | None:
    """Return a text without its unit, None if it has another one or none."""
    bare = text.strip()
    if unit:
        if unit not in bare:
            return None
        bare = bare.replace(unit, "", 1).strip()
    # As accountants and their programs write it: (5), 5-.
    if bare[:1] + bare[-1:] == "()":
        bare = f"-{bare[1:-1]}"
    elif bare[-1:] in ("-", "\u2212"):
        bare = f"-{bare[:-1]}"
    if bare[:1] in ("-", "+", "\u2212"):
        bare = bare[:1] + bare[1:].strip()
    return bare


def styled_numbers(texts: Iterable[object], style: str) -> tuple[Array, int | None]:
    """Return texts as numbers, and the place of the first that is none in this style.

    ``texts``: texts, and other things where a value is missing.
    """
    decimal, thousands, unit = style[0], style[1], style[2:]
    pattern = _pattern(decimal, thousands)
    known: dict[str, float | None] = {}

    def read(text: str) -> float | None:
        bare = _without(text, unit)
        if style == PLAIN and is_plain(text):
            return float(text)
        if bare is None or not pattern.fullmatch(bare):
            return None
        plain = bare.replace("\u2212", "-")
        plain = plain if thousands == NONE else plain.replace(thousands, "")
        return float(plain.replace(decimal, ".")) / (100.0 if unit == "%" else 1.0)

    values: list[float] = []
    for place, text in enumerate(texts):
        value: float | None = np.nan
        if isinstance(text, str):
            value = known[text] = known[text] if text in known else read(text)
        if value is None:
            return np.array(values), place
        values.append(value)
    return np.array(values, dtype=np.float64), None


def why_no_number(text: str, style: str) -> str:
    """Return what is wrong with a text that is no number in a style.

    Examples
    --------
    >>> why_no_number("1,169.00", ",.EUR")
    'is not written as the other numbers are, such as 1.234,5 EUR'
    >>> why_no_number("none", ",.EUR")
    'is not a number; correct it, or name it by --missing if it stands for a missing value'
    """
    if not (is_plain(text) or number_styles([text])):
        return f"is not a number; {OR_MISSING}"
    thousands = "" if style[1] == NONE else style[1]
    such = f"1{thousands}234{style[0]}5 {style[2:]}".rstrip()
    return f"is not written as the other numbers are, such as {such}"


def is_plain(text: str) -> bool:
    """Return whether a text is a number as programs write it, such as 1.5 or -2e3."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def beside_number(text: str) -> str | None:
    """Return what stands beside the number in a text: "" if nothing but a unit that is read.

    Returned: "mg" of ``148 mg``, "<" of ``< 0.5``, None if the text is no such thing.
    """
    if is_plain(text) or number_styles([text]):
        return ""
    match = BESIDE.fullmatch(text)
    if match is None or not number_styles([match[2]]):
        return None
    return match[1] + (match[3] or "")


def date_style(texts: Sequence[str]) -> str | None:
    """Return how some texts can be read as dates, None if they cannot.

    Returned: the order of year, month and day, "ymd", "dmy" or "mdy", and the sign between them;
    "?" after that where day and month may also be the other way round. "~" alone if nearly all are
    dates, but not all in one way.
    """
    styles = date_styles(texts)
    if styles:
        return styles[0] + (EITHER if len(styles) > 1 else "")
    dates = sum(bool(date_styles([text])) for text in texts)
    return SEVERAL if dates and dates >= MOSTLY * len(texts) else None


def date_styles(texts: Sequence[str]) -> list[str]:
    """Return the ways in which all of some texts can be read as dates."""
    found = [_matched(text) for text in texts]
    if not found or found[0] is None:
        return []
    sign = found[0][2]
    return [
        order + sign
        for order in ("ymd", *ORDERS[sign])
        if all(match is not None and _moment(match, order + sign) is not None for match in found)
    ]


def styled_dates(texts: Iterable[object], style: str) -> tuple[Array, int | None]:
    """Return texts as moments, and the place of the first that is none in this style.

    ``texts``: texts, and other things where a value is missing.
    """
    moments: list[np.datetime64] = []
    for place, text in enumerate(texts):
        moment: np.datetime64 | None = np.datetime64("NaT", "s")
        if isinstance(text, str):
            match = _matched(text)
            moment = None if match is None else _moment(match, style)
        if moment is None:
            return np.array(moments, dtype="datetime64[s]"), place
        moments.append(moment)
    return np.array(moments, dtype="datetime64[s]"), None


def _matched(text: str) -> re.Match[str] | None:
    text = DAY_MONTH.sub(r"\1-\2-\3", text)
    return DATE.fullmatch(MONTH_DAY.sub(r"\2-\1-\3", text))


def _moment(match: re.Match[str], style: str) -> np.datetime64 | None:
    order, sign = style[:3], style[3:4]
    parts = dict(zip(order, (match[1], match[3], match[4]), strict=True))
    year, month, day = parts["y"], parts["m"], parts["d"]
    if not sign and match[3].isdigit() and tuple(map(len, (year, month, day))) != (4, 2, 2):
        return None
    if month.isalpha():
        month = str(1 + MONTHS.index(month[:3].lower())) if month[:3].lower() in MONTHS else "0"
    short = len(year) == 2 and order != "ymd"
    if match[2] != sign or not (short or len(year) == 4) or max(len(month), len(day)) > 2:
        return None
    number = int(year) + (0 if not short else 2000 if int(year) < 70 else 1900)
    try:
        moment = np.datetime64(f"{number:04d}-{int(month):02d}-{int(day):02d}", "s")
    except ValueError:
        return None
    hour, minute, second = (int(match[place] or 0) for place in (5, 6, 7))
    if match[8] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match[8].lower() == "pm")
    if hour > 23 or minute > 59 or second > 59:
        return None
    return np.datetime64(moment + np.timedelta64(hour * 3600 + minute * 60 + second, "s"))
