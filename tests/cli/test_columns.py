"""Numbers as people write them, dates, and values that are missing."""

import os
import re

import numpy as np
import pandas as pd
import pytest

import scarce as library
from tests.cli.processes import scarce

AMOUNTS = np.array([1169.0, 5951.5, 2096.25, 7882.0, 4870.75, 950.5, 12.5, 1_200_300.0] * 7)
SHARES = np.array([0.12, 0.035, 0.5, 0.07, 1.0, 0.21, 0.3, 0.005] * 7)


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


STYLES = {
    "german": (AMOUNTS, german),
    "english": (AMOUNTS, lambda value: f"{value:,.2f}"),
    "swiss": (AMOUNTS, lambda value: f"{value:,.2f}".replace(",", "'")),
    "spaces": (AMOUNTS, lambda value: german(value).replace(".", "\u00a0")),
    "euro": (AMOUNTS, lambda value: f"€ {german(value)}"),
    "code": (AMOUNTS, lambda value: f"{german(value)} EUR"),
    "dollar": (AMOUNTS, lambda value: f"${value:,.2f}"),
    "accounts": (-AMOUNTS, lambda value: f"(${-value:,.2f})"),
    "minus behind": (-AMOUNTS, lambda value: f"{german(-value)}-"),
    "percent": (SHARES, lambda value: f"{100 * value:g} %"),
}


@pytest.fixture(scope="module")
def other():
    return np.random.default_rng(0).normal(size=56).round(3)


@pytest.mark.parametrize("style", STYLES)
def test_numbers_as_people_write_them(tmp_path, other, style):
    values, written = STYLES[style]
    plain = pd.DataFrame({"amount": values, "other": other})
    plain.to_csv(tmp_path / "plain.csv", index=False)
    plain.assign(amount=[written(each) for each in values]).to_csv(
        tmp_path / "styled.csv", index=False
    )
    scores = []
    for name in ("plain", "styled"):
        out, _ = scarce("fit", f"{name}.csv", "--out", f"{name}.skops", cwd=tmp_path)
        line = next(line for line in out.splitlines() if line.startswith("amount"))
        assert f"number  {values.min():g} to {values.max():g}" in re.sub(" {2,}", "  ", line)
        command = ["score", f"{name}.skops", f"{name}.csv", "--raw", "--out", f"{name}-s.csv"]
        scarce(*command, cwd=tmp_path)
        scores.append(pd.read_csv(tmp_path / f"{name}-s.csv"))
    pd.testing.assert_frame_equal(*scores)
    # A file of some values alone, which would not tell by themselves, is read as at the fit.
    few = pd.DataFrame({"amount": [written(each) for each in values[:1]], "other": other[:1]})
    few.to_csv(tmp_path / "few.csv", index=False)
    scarce("score", "styled.skops", "few.csv", "--raw", "--out", "few-s.csv", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "few-s.csv")["score"][0]
    assert found == scores[0].set_index("row")["score"][2]
    few.assign(amount="12 mg").to_csv(tmp_path / "few.csv", index=False)
    _, error = scarce("score", "styled.skops", "few.csv", "--out", "x.csv", cwd=tmp_path, code=3)
    assert "few.csv, row 2, column 'amount': '12 mg' is not a number" in error
    few.assign(amount="12 CZK").to_csv(tmp_path / "few.csv", index=False)
    _, error = scarce("score", "styled.skops", "few.csv", "--out", "x.csv", cwd=tmp_path, code=3)
    assert "'12 CZK' is not written as the other numbers are, such as 1" in error


@pytest.mark.parametrize(
    ("written", "row", "value"),
    [
        (lambda i: f"{100 + i} mg", 2, "'100 mg' is a number with 'mg' beside it"),
        (lambda i: f"{i} %" if i % 3 else f"{i}", 3, "'1 %' is not written as '0' is"),
        (lambda i: f"{'$' if i % 5 else '€'} {i}.5", 3, "'$ 1.5' is not written as '€ 0.5' is"),
    ],
    ids=["unit", "percent", "currency"],
)
def test_numbers_that_cannot_be_read_are_refused(tmp_path, other, written, row, value):
    table = pd.DataFrame({"amount": [written(i) for i in range(56)], "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    _, error = scarce("fit", "t.csv", "--out", "m.skops", cwd=tmp_path, code=3)
    assert f"t.csv, row {row}, column 'amount': {value}" in error
    assert error.rstrip().endswith("or --drop the column")
    assert not (tmp_path / "m.skops").exists()
    scarce("fit", "t.csv", "--drop", "amount", "--out", "m.skops", cwd=tmp_path)


def test_a_few_amounts_with_a_unit_are_categories(tmp_path, other):
    table = pd.DataFrame({"dose": ["5 mg", "10 mg"] * 28, "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "m.skops", cwd=tmp_path)
    assert "one-hot, 2 categories" in out


def test_a_file_of_decimal_commas_tells_how_thousands_are_written(tmp_path, other):
    table = pd.DataFrame({"amount": ["1.169", "5.951", "2.096", "9.100"] * 14, "other": other})
    table.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    out, _ = scarce("fit", "t.csv", "--out", "t.skops", cwd=tmp_path)
    assert "1169 to 9100" in out
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")  # decimal points: plain numbers
    out, _ = scarce("fit", "t.csv", "--out", "t.skops", "--force", cwd=tmp_path)
    assert "1.169 to 9.1" in out


DATES = pd.date_range("2025-07-01 06:30", periods=56, freq="31h")
WRITTEN = {
    "iso": "%Y-%m-%d",
    "iso with hours": "%Y-%m-%d %H:%M",
    "german": "%d.%m.%Y",
    "english": "%d/%m/%Y",
    "american": "%m/%d/%Y",
    "whole numbers": "%Y%m%d",
    "names of months": "%d-%b-%Y",
    "in letters": "%d %B %Y",
    "in American letters": "%B %d, %Y",
    "twelve hours": "%m/%d/%Y %I:%M %p",
}


@pytest.mark.parametrize("style", WRITTEN)
def test_dates(tmp_path, other, style):
    table = pd.DataFrame({"when": DATES.strftime(WRITTEN[style]), "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "t.skops", cwd=tmp_path)
    assert "note: dates are left out, --dates learns from them: when\n" in out
    assert library.load(tmp_path / "t.skops").feature_names_in_.tolist() == ["other"]
    out, _ = scarce("fit", "t.csv", "--dates", "--out", "d.skops", cwd=tmp_path)
    assert "note: dates" not in out
    hours = "hours" in style
    model = library.load(tmp_path / "d.skops")
    names = ["when: days", *["when: hour"] * hours, "when: weekday", "other"]
    assert model.feature_names_in_.tolist() == names
    # The same columns, made by pandas, are scored alike.
    day = DATES if hours else DATES.normalize()
    made = pd.DataFrame(
        {
            "when: days": (day - pd.Timestamp(0)) / pd.Timedelta(days=1),
            "when: hour": day.hour.astype(float),
            "when: weekday": day.strftime("%a"),
            "other": other,
        }
    )[names]
    command = ["score", "d.skops", "t.csv", "--raw", "--order", "file", "--out", "s.csv"]
    scarce(*command, cwd=tmp_path)
    found = pd.read_csv(tmp_path / "s.csv")["score"]
    np.testing.assert_allclose(found, model.decision_function(made), rtol=1e-9, atol=1e-15)


def test_dates_whose_day_or_month_comes_first_have_no_first_and_last(tmp_path, other):
    table = pd.DataFrame(
        {"when": [f"{1 + i % 9}/{1 + i % 7}/2026" for i in range(56)], "other": other}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "t.skops", cwd=tmp_path)
    line = next(line for line in out.splitlines() if line.startswith("when"))
    assert "56 dates" in line
    assert "day or month first? write 2026-03-05" in line
    _, said = scarce("fit", "t.csv", "--dates", "--out", "d.skops", cwd=tmp_path, code=3)
    assert "in dates such as 1/1/2026 the day or the month may come first" in said


def test_dates_in_several_ways_are_still_dates(tmp_path, other):
    days = [str(day) if i % 2 else f"{day:%d.%m.%Y}" for i, day in enumerate(DATES.date)]
    pd.DataFrame({"when": days, "other": other}).to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "t.skops", cwd=tmp_path)
    assert re.search(r"when +left out +56 values +dates, not all written in one way\n", out)
    assert "--dates learns from them" not in out  # it would not
    _, said = scarce("fit", "t.csv", "--dates", "--out", "d.skops", cwd=tmp_path, code=3)
    assert "row 3, column 'when': '2025-07-02' is not written as '01.07.2025' is" in said


def test_dates_of_parquet_files_and_missing_ones(tmp_path, other):
    table = pd.DataFrame({"when": DATES.normalize(), "other": other})
    table.loc[::4, "when"] = pd.NaT
    table.to_parquet(tmp_path / "t.parquet")
    out, _ = scarce("fit", "t.parquet", "--dates", "--out", "d.skops", cwd=tmp_path)
    line = next(line for line in out.splitlines() if line.startswith("when"))
    assert "14" in line.split()
    assert "days, weekday; standardised; missing values filled with the median and flagged" in line
    table.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        command = ["score", "d.skops", name, "--raw", "--order", "file", "--out", f"{name}.s.csv"]
        out, _ = scarce(*command, cwd=tmp_path)
        assert "missing values, filled as at the fit: when: days 14, when: weekday 14" in out
    found = [pd.read_csv(tmp_path / f"{name}.s.csv")["score"] for name in ("t.parquet", "t.csv")]
    np.testing.assert_array_equal(*found)


def test_missing_values_are_flagged_where_they_are_common(tmp_path):
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(200, 2)).round(3), columns=["rare", "common"])
    table.loc[7, "rare"] = np.nan
    table.loc[::10, "common"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "m.skops", cwd=tmp_path)
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert lines["rare"].endswith("1        standardised; missing values filled with the median")
    assert lines["common"].endswith("missing values filled with the median and flagged")
    columns = library.load(tmp_path / "m.skops").estimator_[0]
    rows = pd.DataFrame({"rare": [0.5, np.nan], "common": [np.nan, 0.5]})
    values = columns.transform(rows)
    assert values.shape == (2, 3)
    filled = table.fillna(table.median())
    expected = ((rows.fillna(table.median()) - filled.mean()) / filled.std(ddof=0)).to_numpy()
    np.testing.assert_allclose(values[:, :2], expected)
    np.testing.assert_allclose(values[:, 2], [(1 - 0.1) / 0.3, -0.1 / 0.3])


def test_columns_of_one_value_cost_nothing(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(1.0, range(60), [f"c{number}" for number in range(4000)])
    table = table.assign(a=random.normal(size=60), b=random.normal(size=60), text="same")
    table.to_csv(tmp_path / "wide.csv", index=False)
    before = os.times()
    out, _ = scarce("fit", "wide.csv", "--out", "m.skops", cwd=tmp_path)
    after = os.times()
    assert "learnt from 60 rows and 2 columns" in out
    lines = [line.split() for line in out.splitlines() if line.endswith("the same in every row")]
    reason = ["the", "same", "in", "every", "row"]
    assert lines == [
        ["c0", "to", "c3999", "left", "out", "4,000", "columns", *reason],
        ["text", "left", "out", "same", *reason],
    ]
    assert after.children_user - before.children_user < 20  # it was 80


def test_long_texts_are_read(tmp_path):
    texts = [f"{number} " + "x" * 140_000 for number in range(4)]
    rows = pd.DataFrame({"a": [1.0, 2.5, 3.0, 4.0], "text": texts})
    rows.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--features", "a", "--out", "m.skops", cwd=tmp_path)
    assert "learnt from 4 rows and 1 column in" in out


def test_a_word_that_stands_for_missing_values_is_remembered(tmp_path, other):
    ages = [str(20 + i) if i % 5 else "unknown" for i in range(56)]
    table = pd.DataFrame({"age": ages, "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    # One row in five is more than a slip, and still no category beside 44 different numbers.
    _, error = scarce("fit", "t.csv", "--out", "m.skops", cwd=tmp_path, code=3)
    assert "t.csv, row 2, column 'age': 'unknown' among numbers" in error
    assert "name it by --missing if it stands for a missing value" in error
    scarce("fit", "t.csv", "--missing", "unknown", "--out", "m.skops", cwd=tmp_path)
    scarce("score", "m.skops", "t.csv", "--raw", "--out", "s.csv", cwd=tmp_path)
    table.replace("unknown", "").to_csv(tmp_path / "e.csv", index=False)
    scarce("score", "m.skops", "e.csv", "--raw", "--out", "e-s.csv", cwd=tmp_path)
    pd.testing.assert_frame_equal(*(pd.read_csv(tmp_path / name) for name in ("s.csv", "e-s.csv")))
    table.replace("unknown", "?").to_csv(tmp_path / "q.csv", index=False)
    _, error = scarce("score", "m.skops", "q.csv", "--out", "q-s.csv", cwd=tmp_path, code=3)
    assert "q.csv, row 2, column 'age': '?' is not a number; correct it, or name it by" in error
    scarce("score", "m.skops", "q.csv", "--missing", "?", "--out", "q-s.csv", cwd=tmp_path)


def test_codes_of_letters_and_few_numbers_are_categories(tmp_path, other):
    grades = ["K", "P", *map(str, range(1, 13))]
    table = pd.DataFrame({"grade": [grades[i % 14] for i in range(56)], "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    out, _ = scarce("fit", "t.csv", "--out", "m.skops", "--drop", "other", cwd=tmp_path)
    assert "one-hot, 14 categories" in out


def test_rows_above_the_names_or_none_are_spoken_of(tmp_path, other):
    table = pd.DataFrame({"a": other, "b": other[::-1], "c": "x"})
    table.loc[::2, "c"] = "y"
    table.to_csv(tmp_path / "t.csv", index=False, header=False)
    out, _ = scarce("fit", "t.csv", "--out", "m.skops", cwd=tmp_path)
    assert f"note: row 1 of t.csv holds the column names; '{other[0]}' among them looks like" in out
    (tmp_path / "u.csv").write_text("Export of July\n" + table.to_csv(index=False))
    _, error = scarce("fit", "u.csv", "--out", "u.skops", cwd=tmp_path, code=3)
    assert "u.csv, row 2: 3 values, but the header has 1 column (delimiter ',')" in error
    assert "; remove what stands above the row of column names\n" in error


def test_a_delimiter_at_the_end_of_every_row_is_no_column(tmp_path, other):
    table = pd.DataFrame({"a": other, "b": other[::-1]})
    table.to_csv(tmp_path / "t.csv", index=False)
    text = (tmp_path / "t.csv").read_text().replace("\n", ";\n").replace(",", ";")
    (tmp_path / "u.csv").write_text(text)
    for name in ("t", "u"):
        out, _ = scarce("fit", f"{name}.csv", "--out", f"{name}.skops", cwd=tmp_path)
        assert "learnt from 56 rows and 2 columns" in out
        scarce("score", "t.skops", f"{name}.csv", "--raw", "--out", f"{name}-s.csv", cwd=tmp_path)
    found = [pd.read_csv(tmp_path / f"{name}-s.csv") for name in ("t", "u")]
    pd.testing.assert_frame_equal(*found)
    (tmp_path / "u.csv").write_text(text.replace(";\n", ";x\n").replace(";x", ";", 1))
    _, error = scarce("fit", "u.csv", "--out", "v.skops", cwd=tmp_path, code=3)
    assert "u.csv: column 3 has no name; give it one" in error


def test_two_tables_whose_numbers_are_not_written_alike(tmp_path, other):
    table = pd.DataFrame({"amount": 1000.5 + np.arange(56), "other": other})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.assign(amount=[f"$ {value:,.1f}" for value in table.amount]).to_csv(
        tmp_path / "u.csv", index=False
    )
    command = ["fit", "t.csv", "--source", "u.csv", "--out", "m.skops"]
    _, error = scarce(*command, cwd=tmp_path, code=3)
    assert (
        "column 'amount' is written in different ways: numbers such as '1000.5' in t.csv; numbers "
        "such as '$ 1,000.5' in u.csv. Write it in one way\n"
    ) in error
