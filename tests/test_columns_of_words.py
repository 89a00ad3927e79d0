"""Columns of a table that are no numbers: the error names them, a value and a way out."""

import numpy as np
import pandas as pd
import pytest

from tests.subjects import SUBJECTS

WORDS = {
    "words": (["blue", "red"] * 20, r"'colour' \((object|str): 'blue'\)"),
    "categories": (pd.Categorical(["blue", "red"] * 20), r"'colour' \(category: 'blue'\)"),
    "dates": (pd.Timestamp("2020-01-01"), r"'colour' \(datetime64.*2020-01-01"),
}


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@pytest.mark.parametrize("kind", WORDS)
def test_the_error_names_the_column(subject, kind):
    values, message = WORDS[kind]
    X, y, *_ = subject.make(40)
    table = pd.DataFrame(np.reshape(X, (40, -1))).rename(columns=str)
    with pytest.raises(ValueError, match=f"X has columns that are not numbers: {message}"):
        subject.new().fit(table.assign(colour=values), y)


def test_many_columns_are_counted():
    table = pd.DataFrame({f"c{i}": ["a", "b", "c"] for i in range(8)})
    with pytest.raises(ValueError, match=r"'c4' \((object|str): 'a'\) and 3 more\. Encode"):
        SUBJECTS[0].new().fit(table)


def test_other_errors_stay_as_they_are():
    table = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="Input X contains NaN"):
        SUBJECTS[0].new().fit(table)
