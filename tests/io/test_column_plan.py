"""What is done with each column, and that a model keeps it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import scarce
from scarce.io import ColumnPlan, Rows, TableError, plan_columns


def rows_of(frame, path="table.csv"):
    return Rows(path, pa.Table.from_pandas(pd.DataFrame(frame), preserve_index=False), 2)


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer_id": random.permutation(1000)[:40],
            "number": np.arange(100, 140),
            "age": random.integers(18, 80, 40),
            "income": np.where(random.random(40) < 0.2, np.nan, random.normal(size=40)),
            "town": random.choice(["a", "b", "c"], 40),
            "phone": [None if i % 3 else "yes" for i in range(40)],
            "name": [f"person {i}" for i in range(40)],
            "country": ["here"] * 40,
            "year": [2024] * 40,
            "nothing": [None] * 40,
        }
    )


def test_uses(frame):
    plan = plan_columns([rows_of(frame)])
    assert {column.name: column.use for column in plan.columns} == {
        "customer_id": "left out",
        "number": "left out",
        "age": "number",
        "income": "number",
        "town": "category",
        "phone": "category",
        "name": "left out",
        "country": "left out",
        "year": "left out",
        "nothing": "left out",
    }
    assert plan.columns[3].missing == frame["income"].isna().sum()
    lines = plan.lines()
    assert len(lines) == 11
    assert "median" in lines[4]
    assert ColumnPlan.from_dicts(plan.as_dicts()) == plan


@pytest.mark.parametrize("name", ["rownames", "row.names", "row names", "Row", "Unnamed: 0"])
def test_numbers_of_rows_are_not_learnt_from(frame, name):
    chosen = frame.assign(**{name: 3 * np.arange(40) + 1})  # some rows of a longer table
    plan = plan_columns([rows_of(chosen)])
    assert "identifier" in next(column.done for column in plan.columns if column.name == name)
    again = plan_columns([rows_of(chosen.assign(**{name: frame["age"]}))])
    assert name in again.used("number")


def test_one_value_and_few_gaps_are_no_feature(frame):
    many, few = np.full(40, np.nan), np.full(40, 7.0)
    many[:30], few[5] = 7.0, np.nan
    plan = plan_columns([rows_of(frame.assign(many=many, few=few))])
    uses = {column.name: column.use for column in plan.columns}
    assert uses["few"] == "left out"
    assert uses["many"] == "number"  # flagged: where it is missing says something


def test_the_user_has_the_last_word(frame):
    plan = plan_columns([rows_of(frame)], features=["age", "number"])
    assert plan.used("number") == ["number", "age"]
    plan = plan_columns([rows_of(frame)], roles={"age": "weight"}, drop=["town"])
    assert plan.used("weight") == ["age"]
    assert "town" not in plan.types


def test_values_of_the_transformer(frame):
    plan = plan_columns([rows_of(frame)], features=["income", "town"])
    values = plan.transformer().fit_transform(plan.frame(rows_of(frame)))
    gaps = frame["income"].isna()
    filled = frame["income"].fillna(frame["income"].median())
    np.testing.assert_allclose(values[:, 0], (filled - filled.mean()) / filled.std(ddof=0))
    np.testing.assert_allclose(values[:, 1], (gaps - gaps.mean()) / gaps.std(ddof=0))
    np.testing.assert_array_equal(values[:, 2:], pd.get_dummies(frame["town"]))


def test_new_categories_and_gaps_are_no_error(frame):
    plan = plan_columns([rows_of(frame)], features=["age", "town"])
    transformer = plan.transformer().fit(plan.frame(rows_of(frame)))
    other = rows_of({"town": ["d", None], "extra": [1, 2], "age": [None, 30.0]})
    values = transformer.transform(plan.frame(other))
    np.testing.assert_array_equal(values[:, 1:], 0)
    assert values[0, 0] == (np.median(frame["age"]) - frame["age"].mean()) / frame["age"].std(
        ddof=0
    )


def test_a_model_file_keeps_it(frame, tmp_path):
    plan = plan_columns([rows_of(frame)])
    transformer = plan.transformer().fit(plan.frame(rows_of(frame)))
    scarce.save(transformer, tmp_path / "columns.skops")
    again = scarce.load(tmp_path / "columns.skops")
    X = plan.frame(rows_of(frame))
    np.testing.assert_array_equal(again.transform(X), transformer.transform(X))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["1", "2", "x"] + ["3"] * 37, r"table.csv, row 4, column 'age': 'x' among numbers"),
        ([[1]] * 40, r"column 'age': list"),
        ([np.inf] + [1.0] * 39, r"row 2, column 'age': inf is not a finite number"),
        (["a\x00b", "c"] * 20, r"row 2, column 'age': a NUL byte"),
        (["a", "b\nc"] * 20, r"row 3, column 'age': a line break"),
        ([b"\xff", b"\xfe"] * 20, r"column 'age': not UTF-8"),
    ],
)
def test_values_that_are_none(frame, column, message):
    frame["age"] = column
    with pytest.raises(TableError, match=message):
        plan_columns([rows_of(frame)])


def test_tables_that_do_not_fit_together(frame):
    other = frame.assign(age=["x", "y"] * 20)
    said = r"different kinds: numbers such as '\d+' in a.csv; texts such as 'x' in b.csv"
    with pytest.raises(TableError, match=said):
        plan_columns([rows_of(frame, "a.csv"), rows_of(other, "b.csv")])
    with pytest.raises(TableError, match=r"b.csv has no column 'age'; it has customer_id"):
        plan_columns([rows_of(frame, "a.csv"), rows_of(frame.drop(columns="age"), "b.csv")])
    with pytest.raises(TableError, match=r"--drop: table.csv has no column 'agee'"):
        plan_columns([rows_of(frame)], drop=["agee"])
