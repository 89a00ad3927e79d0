"""Ranks of the page that compares with other libraries."""

import pandas as pd
import pytest

from benchmarks.untuned.__main__ import ranks


def test_ranks_are_mean_places_where_all_have_a_result():
    cells = pd.DataFrame(
        {
            "task": ["a", "a", "b", "b", "c"],
            "method": ["ours", "theirs", "ours", "theirs", "ours"],
            "auc": [0.9, 0.8, 0.5, 0.7, 0.0],  # c: theirs has none, and c does not count
        }
    )
    table = ranks(cells, "auc", ["task"]).set_index("method")
    assert table["rank"].to_dict() == {"ours": 1.5, "theirs": 1.5}
    assert table["mean"].to_dict() == pytest.approx({"ours": 0.7, "theirs": 0.75})
    assert table.settings.tolist() == [2, 2]
