"""The ranked list: sorted, in words, few digits, the head explained, a page of it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import scarce as library
from tests.cli.internals import Head, Ranked, _rounded
from tests.cli.processes import scarce
from tests.cli.tables import customers, districts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    customers(60).to_csv(folder / "good.csv", index=False)
    many = pd.concat([customers(60, seed=1), customers(140, 15.0, seed=2)])
    many.to_csv(folder / "new.csv", index=False)
    districts().to_csv(folder / "rows.csv", index=False)
    scarce("fit", "good.csv", "--id", "customer", "--out", "one.skops", cwd=folder)
    pu = ["fit", "good.csv", "--unlabelled", "new.csv", "--set", "n_bags=4", "--out", "pu.skops"]
    scarce(*pu, cwd=folder)
    shares = ["--group", "district", "--share", "share", "--out", "groups.skops"]
    scarce("fit", "rows.csv", *shares, cwd=folder)
    return folder


@pytest.mark.parametrize(
    ("model", "table", "meaning", "words", "lowest"),
    [
        ("one", "new.csv", ["distance_ratio", "p_value"], {"accepted", "rejected"}, True),
        ("pu", "new.csv", ["probability"], {"positive", "not positive"}, False),
        ("groups", "rows.csv", ["probability"], {"positive", "negative"}, False),
    ],
)
def test_the_list_is_ranked_and_in_words(folder, model, table, meaning, words, lowest):
    command = ["score", f"{model}.skops", table]
    out, _ = scarce(*command, "--out", f"{model}.csv", cwd=folder)
    found = pd.read_csv(folder / f"{model}.csv")
    name = "customer" if model == "one" else "row"
    assert list(found) == ["rank", name, "score", *meaning, "decision"]
    assert found["rank"].tolist() == list(range(1, len(found) + 1))
    assert (
        found["score"].is_monotonic_increasing if lowest else found["score"].is_monotonic_decreasing
    )
    assert set(found["decision"]) == words
    counts = found["decision"].value_counts()
    assert f"{counts.iloc[0]} {counts.index[0]}, {counts.iloc[1]} {counts.index[1]}\n" in out
    digits = [text.replace("-", "").split("e")[0].replace(".", "").lstrip("0")
              for text in pd.read_csv(folder / f"{model}.csv", dtype=str)["score"]]  # fmt: skip
    assert max(map(len, digits)) <= 4
    scarce(*command, "--order", "file", "--raw", "--out", f"{model}-f.csv", cwd=folder)
    plain = pd.read_csv(folder / f"{model}-f.csv")
    assert list(plain) == list(found)[1:]
    estimator = library.load(folder / f"{model}.skops")
    again = plain.sort_values("score", ascending=lowest, kind="stable")
    assert again[name].tolist() == found[name].tolist()
    np.testing.assert_allclose(found["score"], again["score"], rtol=6e-4)
    assert estimator.predict is not None


def test_what_is_kept_is_explained_and_no_more(folder):
    command = ["score", "one.skops", "new.csv", "--explain", "2", "--force", "--out", "e.csv"]
    out, _ = scarce(*command, cwd=folder)
    whole = pd.read_csv(folder / "e.csv")
    assert "reasons are given" not in out  # 200 rows, all of them
    assert whole["reason_1"].notna().all()
    out, _ = scarce(*command, "--bottom", "3", cwd=folder)
    few = pd.read_csv(folder / "e.csv")
    pd.testing.assert_frame_equal(few, whole.head(3))
    pd.concat([customers(700, seed=5), customers(600, 15.0, seed=6)]).to_csv(
        folder / "more.csv", index=False
    )
    command[2] = "more.csv"
    out, _ = scarce(*command, "--order", "file", cwd=folder)
    assert "note: reasons are given for the first 1,000 rows by score\n" in out
    found = pd.read_csv(folder / "e.csv")
    given = found["reason_1"].notna()
    assert given.sum() == 1000
    assert found["score"][given].max() <= found["score"][~given].min()  # the rejected first


def test_a_page_of_the_list(folder):
    hostile = customers(80, 10.0, seed=8)
    hostile["customer"] = "<script>alert(1)</script>" + hostile["customer"]
    hostile.to_csv(folder / "hostile.csv", index=False)
    command = ["score", "one.skops", "hostile.csv", "--out", "h.csv", "--report", "h.html"]
    out, _ = scarce(*command, cwd=folder)
    assert "report: h.html\n" in out
    page = (folder / "h.html").read_text()
    found = pd.read_csv(folder / "h.csv")
    columns = ["rank", "customer", "score", "distance_ratio", "p_value", "decision"]
    assert list(found) == columns  # no reasons asked
    assert page.count("<tr><td>") == 50
    assert "<script" not in page
    assert "hostile.csv, scored" in page
    first = page.index(found["customer"][0].replace("<", "&lt;").replace(">", "&gt;"))
    second = page.index(found["customer"][1].replace("<", "&lt;").replace(">", "&gt;"))
    assert first < second
    assert "80 rows: " in page
    assert page.count("<svg") == 1
    _, error = scarce(*command, cwd=folder, code=2)
    assert "--force overwrites it" in error


@pytest.mark.parametrize("limit", [None, 1, 40, 700])
def test_runs_on_the_disk_are_merged_in_order(tmp_path, limit):
    random = np.random.default_rng(0)
    keys = random.integers(0, 50, 900).astype(float)  # ties keep the order of the table
    with Ranked(tmp_path / "out.csv", limit, run=100, step=7) as ranked:
        for part in np.array_split(np.arange(900), 40):
            frame = pd.DataFrame({"id": [f"r{n}" for n in part]})
            ranked.add(frame, keys[part], part)
        found = pa.concat_tables(ranked.tables())
        if limit is None:
            assert len(list(tmp_path.iterdir())) == 8
    expected = np.argsort(keys, kind="stable")[:limit]
    assert found.column("id").to_pylist() == [f"r{n}" for n in expected]
    assert not list(tmp_path.iterdir())


def test_the_head_of_a_list_is_kept():
    random = np.random.default_rng(0)
    X, keys = random.normal(size=(500, 2)), random.normal(size=500)
    head = Head(20)
    for part in np.array_split(np.arange(500), 13):
        head.add(X[part], keys[part], part)
    head._trim()
    rows, _, places = head._parts[0]
    np.testing.assert_array_equal(places, np.argsort(keys)[:20])
    np.testing.assert_array_equal(rows, X[places])


def test_few_digits():
    values = np.array([0.123456, -1234567.0, 0.0, 1e-9 / 3, 99999.0, -0.00012345, 5.0])
    assert [repr(float(each)) for each in _rounded(values)] == [
        "0.1235", "-1235000.0", "0.0", "3.333e-10", "100000.0", "-0.0001234", "5.0"
    ]  # fmt: skip
