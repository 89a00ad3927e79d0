"""Models of groups on a cluster: the function of the guide, where Dask and Spark would run it."""

import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "per_group.md"


@pytest.fixture(scope="module")
def page():
    """What the code of the page defines."""
    names = {}
    test = doctest.DocTestParser().get_doctest(PAGE.read_text("utf-8"), names, "page", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, clear_globs=False).failed == 0
    return test.globs


def test_spark_would_get_the_columns_of_its_schema(page):
    text = PAGE.read_text("utf-8")
    schema = text.split('schema="')[1].split('"')[0]
    wanted = dict(part.split() for part in schema.split(", "))
    kinds = {"double": "f", "string": "O"}
    for _, rows in page["table"].astype({"pump": object}).groupby("pump"):
        found = page["judged"](rows.reset_index(drop=True))  # as `applyInPandas` gives them
        assert list(found.columns) == list(wanted)
        assert [dtype.kind for dtype in found.dtypes] == [kinds[each] for each in wanted.values()]
        assert len(found) == len(rows)


def test_dask_by_group_on_a_cluster(page):
    distributed = pytest.importorskip("distributed")
    frames = pytest.importorskip("dask.dataframe")
    table, judged = page["table"], page["judged"]
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    )
    with cluster, distributed.Client(cluster):
        frame = frames.from_pandas(table.sample(frac=1.0, random_state=0), npartitions=3)
        lazy = frame.groupby("pump")[list(frame.columns)].apply(judged, meta=judged(table.head(30)))
        found = lazy.compute()
    found.index = found.index.get_level_values(-1)
    wanted = pd.concat([judged(rows) for _, rows in table.groupby("pump")])
    assert found["pump"].sort_index().tolist() == wanted["pump"].sort_index().tolist()
    np.testing.assert_allclose(
        found["p_value"].sort_index(), wanted["p_value"].sort_index(), atol=0.02
    )
