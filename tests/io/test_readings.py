"""How numbers and dates are written: one reading for all values of a column, or none."""

import numpy as np
import pytest

from scarce.io import Dialect, TableError, open_table
from scarce.io._readings import date_style, number_styles, styled_dates, styled_numbers

NUMBERS = [
    (["1.169,00", "950,00"], [1169, 950]),
    (["1,169.00", "3"], [1169, 3]),
    (["1'200.50", "12.00"], [1200.5, 12]),
    (["1\u202f234,5", "7"], [1234.5, 7]),
    (["\u20ac 12,50", "\u20ac 1.300,00", "-\u20ac 3"], [12.5, 1300, -3]),
    (["12,50 EUR", "\u22125 EUR"], [12.5, -5]),
    (["R$ 5.10", "R$ 10.20"], [5.1, 10.2]),
    (["12 %", "3,5 %", "100%"], [0.12, 0.035, 1]),
    (["12.345.678", "1.000"], [12345678, 1000]),
    (["2,5", "1.300"], [2.5, 1300]),
    (["(1,234.50)", "3.00"], [-1234.5, 3]),
    (["($ 12)", "$ 7", "$ (5)"], [-12, 7, -5]),
    (["1.234,50-", "7,00"], [-1234.5, 7]),
    (["5 EUR-", "12 EUR"], [-5, 12]),
]


@pytest.mark.parametrize(("texts", "values"), NUMBERS, ids=[case[0][0] for case in NUMBERS])
def test_numbers(texts, values):
    (style,) = number_styles(texts)
    found, wrong = styled_numbers([*texts, None], style)
    assert wrong is None
    np.testing.assert_allclose(found, [*values, np.nan])


@pytest.mark.parametrize(
    "texts",
    [
        ["148 mg", "2 mg"],
        ["12 %", "12"],
        ["\u20ac 12", "$ 12"],
        ["1.2.3", "4.5.6"],
        ["1,23,456.0"],
        ["1.169,00", "1,169.00"],
        ["12", "twelve"],
        ["-(5)"],
        ["(5"],
        ["-"],
        ["()"],
        [""],
    ],
    ids=lambda texts: texts[0],
)
def test_texts_that_are_no_numbers(texts):
    assert number_styles(texts) == []


def test_two_readings_and_what_decides():
    texts = ["1,169", "5,951"]
    values = {tuple(styled_numbers(texts, style)[0]) for style in number_styles(texts)}
    assert values == {(1169.0, 5951.0), (1.169, 5.951)}
    for decimal, first in ((".", 1169.0), (",", 1.169)):
        (style,) = number_styles(texts, decimal)
        assert styled_numbers(texts, style)[0][0] == first
    assert styled_numbers(["1,169", "x"], number_styles(texts)[0])[1] == 1


@pytest.mark.parametrize(
    ("text", "delimiter", "expected"),
    [
        ('a,b\n"1,169",2.5\n"5,951",3.5\n', None, [1169, 5951]),  # a point decides
        ("a;b\n1.169;2,5\n5.951;3,5\n", None, [1169, 5951]),
        ("a;b\n1,169;2,5\n5,951;3,5\n", None, [1.169, 5.951]),
        ("a;b\n1.169;2.5\n5.951;3.5\n", None, [1.169, 5.951]),
        ('a,b\n"1,5",x\n"2,5",y\n', None, [1.5, 2.5]),
        ("a;b\n1.169.000;2\n2.000;3\n", None, [1169000, 2000]),
    ],
)
def test_a_file_tells_its_decimal_sign(tmp_path, text, delimiter, expected):
    path = tmp_path / "t.csv"
    path.write_text(text)
    rows = open_table(path, Dialect(delimiter=delimiter)).read()
    np.testing.assert_allclose(rows.numbers("a"), expected)
    assert rows.kind("a") == "number"


def test_a_file_that_does_not_tell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"1,169",2\n"5,951",3\n')
    with pytest.raises(TableError, match=r"row 2, column 'a': '1,169' may be 1169 or 1\.169"):
        open_table(path).read().kind("a")
    assert open_table(path, Dialect(decimal=".")).read().numbers("a")[0] == 1169
    assert open_table(path, Dialect(decimal=",")).read().numbers("a")[0] == 1.169


@pytest.mark.parametrize(
    ("texts", "style", "first"),
    [
        (["10.07.2025", "1.2.2024"], "dmy.", "2025-07-10T00:00"),
        (["10.7.25", "1.12.99"], "dmy.", "2025-07-10T00:00"),
        (["5/13/2026", "1/2/2026"], "mdy/", "2026-05-13T00:00"),
        (["13/5/2026 7:05", "1/2/2026"], "dmy/", "2026-05-13T07:05"),
        (["5/3/2026", "6/3/2026"], "dmy/?", "2026-03-05T00:00"),
        (["2024-02-29T23:59:01Z", "2024-03-01 00:00"], "ymd-", "2024-02-29T23:59:01"),
        (["2024/02/29"], "ymd/", "2024-02-29T00:00"),
        (["20240229", "20240301"], "ymd", "2024-02-29T00:00"),
        (["5-Mar-2026", "31-DEC-2025"], "dmy-", "2026-03-05T00:00"),
        (["05MAR2026"], "dmy", "2026-03-05T00:00"),
        (["2026-March-05 7:05"], "ymd-", "2026-03-05T07:05"),
    ],
)
def test_dates(texts, style, first):
    assert date_style(texts) == style
    found, wrong = styled_dates([*texts, None], style)
    assert wrong is None
    assert found[0] == np.datetime64(first)
    assert np.isnat(found[-1])
    assert styled_dates([*texts, "x"], style)[1] == len(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["31.02.2024"],
        ["1.2.3"],
        ["2024-13-01"],
        ["12:30"],
        ["7"],
        ["2024115"],
        ["29022024"],
        ["5-Mai-2026"],
        ["Mar-5-2026"],
        ["10.07.2025", "soon"],
        [],
    ],
    ids=str,
)
def test_texts_that_are_no_dates(texts):
    assert date_style(texts) is None


def test_dates_that_are_written_in_several_ways(tmp_path):
    assert date_style(["10.07.2025", "10/07/2025"]) == "~"
    days = [f"{day}.03.2026" for day in range(1, 20)]
    assert date_style([*days, "soon"]) == "~"
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "\n".join([*days, "soon"]))
    rows = open_table(path).read()
    assert rows.kind("a") == "date"
    with pytest.raises(TableError, match=r"row 21, column 'a': 'soon' is not written as '1\.03\."):
        rows.dates("a", "~")


def test_whole_numbers_that_are_days(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("day,number\n20260228,20260228\n,20260229\n20251231,20251231\n")
    rows = open_table(path).read()
    assert (rows.kind("day"), rows.kind("number")) == ("date", "number")  # 2026 has no 29 February
    found = rows.dates("day", rows.reading("day").style)
    assert [str(each)[:10] for each in found] == ["2026-02-28", "NaT", "2025-12-31"]


def test_minus_signs_of_typesetters_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n\u22121.5,x\n2.25,y\n", encoding="utf-8")
    rows = open_table(path).read()
    assert rows.kind("a") == "number"
    np.testing.assert_array_equal(rows.numbers("a"), [-1.5, 2.25])


REFUSED = {
    "unit": (["148 mg", "85 mg", "183 mg", "89 mg"], "row 2, .*'148 mg' is .* with 'mg' beside"),
    "units": (["148 mg", "1.5 g", "2 g", "85", "9"], "row 2, .*'148 mg' is .* with 'mg' beside"),
    "temperature": (["21.5 \u00b0C", "19 \u00b0C"], "'21.5 \u00b0C' is .* with '\u00b0C' beside"),
    "bound": (["0.7", "< 0.5", "1.2", "<0.5", "3"], "row 3, .*'< 0.5' is .* with '<' beside"),
    "percent": (["12 %", "3 %", "12"], "row 4, column 'a': '12' is not written as '12 %' is"),
    "currency": (
        ["\u20ac 12", "$ 12"],
        r"row 3, column 'a': '\$ 12' is not written as '\u20ac 12'",
    ),
    "decimal": (["1.169,00", "5,0", "1,169.00"], "row 4, .*'1,169.00' is not .* '1.169,00'"),
    "plain": (["1e5", "12 %"], "row 2, .*'1e5' is not written as '12 %'"),
    "few but mixed": (["12 %", "12"] * 50, "row 3, column 'a': '12' is not written as '12 %' is"),
    "stray": (["5 mg", *(str(each) for each in range(20))], "row 2, .*'5 mg' among numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_numbers_that_cannot_be_read_together_are_refused(tmp_path, case):
    texts, message = REFUSED[case]
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{text};x\n" for text in texts))
    with pytest.raises(TableError, match=message + ".*--drop the column"):
        open_table(path, Dialect(delimiter=";")).read().kind("a")


@pytest.mark.parametrize(
    "texts",
    [
        ["5 mg", "10 mg", "20 mg"] * 5,  # few values, each often: categories
        ["3A", "12B", "12C", "30D", "7F"],  # seats
        ["10115 Berlin", "80331 M\u00fcnchen", "20095 Hamburg", "89073 Ulm"],
        ["18-25", "26-40", "41+"],
        ["A4", "A5", "B5"],
        ["1.2.3", "1.2.4", "1.3"],
        ["12 mg", "none", "a lot"],
    ],
    ids=lambda texts: texts[0],
)
def test_texts_with_numbers_in_them_stay_texts(tmp_path, texts):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{text};x\n" for text in texts))
    assert open_table(path, Dialect(delimiter=";")).read().kind("a") == "text"
