"""Whatever is wrong with what is given: one line that says so, and an exit code. No traceback."""

import io
import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest

import scarce
from scarce.cli import main
from tests.cli.processes import errors_of
from tests.cli.tables import customers

GOOD = customers(30).drop(columns="customer")


def csv(frame=GOOD, **options):
    return frame.to_csv(index=False, **options).encode()


def lines(*changes):
    """Return a good table with some lines, counted from 1, changed."""
    rows = csv().decode().splitlines()
    for number, text in changes:
        rows[number - 1] = text
    return "\n".join(rows).encode()


def parquet(frame=GOOD):
    content = io.BytesIO()
    frame.to_parquet(content)
    return content.getvalue()


def npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


GROUPED = GOOD.assign(g=["u", "v", "w"] * 10, s=[0.2, 0.4, 0.6] * 10)
FIT = ["--out", "new.skops"]
PU = ["--label", "y", *FIT]
SHARES = ["--group", "g", "--share", "s", *FIT]
TASKS = ["--domain", "d", *FIT]
OTHER = {"other.csv": csv(customers(20, seed=1).drop(columns=["customer", "age"]))}

# name, table, options, exit code, part of the message, other files
FITS = [
    ("no such file", None, FIT, 3, "nowhere.csv", {}),
    ("empty", b"", FIT, 3, "t.csv is empty", {}),
    ("header only", b"a,b\n", FIT, 3, "a header but no rows", {}),
    ("header without an end", b"a,b", FIT, 3, "a header but no rows", {}),
    ("no header", b"1,2\n3,4\n5,6\n", FIT, 3,
     "row 1: 1, 2: numbers instead of column names; put a row of names above them", {}),
    ("empty lines", b"\n \n\n", FIT, 3, "t.csv is empty", {}),
    ("one row", b"a,b\n1,2\n", FIT, 5, "t.csv has one row; a fit needs at least 2", {}),
    ("one row, chosen", b"a,b\n1,\n", FIT, 5, "t.csv has one row; a fit needs at least 2", {}),
    ("all missing", b"a,b\n,\nNA,\n", FIT, 5,
     "no column is left to learn from ('a': every value is missing; 'b': every value is", {}),
    ("all constant", b"a,b\n1,x\n1,x\n1,x\n", FIT, 5,
     "no column is left to learn from ('a': the same in every row; 'b': the same in every", {}),
    ("names alone", csv(GOOD.assign(n=[f"n{i}" for i in range(30)])[["n"]]), FIT, 5,
     "nearly all values differ); --features learns from identifiers too", {}),
    ("a line break", lines((3, '40,30,"Ulm\nWest"')), FIT, 3,
     "row 3, column 'town': a line break, perhaps an open quote, in 'Ulm\\nWest'; correct it", {}),
    ("doubled name", b"a,a\n1,2\n3,4\n", FIT, 3,
     "several columns named 'a'; rename all but one", {}),
    ("no name", b"a,\n1,2\n3,4\n", FIT, 3, "column 2 has no name; give it one", {}),
    ("too many values", lines((7, "1,2,3,4,5")), FIT, 3, "row 7: 5 values, but the head", {}),
    ("too few values", lines((9, "1")), FIT, 3, "row 9: 1 value, but the header has 3", {}),
    ("open quote", lines((5, '40,"30,Ulm')), FIT, 3, "row 5", {}),
    ("line break", lines((5, '40,30,"Ulm\nUlm"')), FIT, 3,
     "row 5, column 'town': a line break, perhaps an open quote, in 'Ulm\\nUlm'; correct it, or "
     "--drop the column", {}),
    ("text in numbers", lines((12, "old,30,Ulm")), FIT, 3, "row 12, column 'age': 'old'", {}),
    ("infinite", lines((4, "inf,30,Ulm")), FIT, 3, "row 4, column 'age': inf is not a fin", {}),
    ("beyond all numbers", lines((4, "1e400,30,Ulm")), FIT, 3,
     "row 4, column 'age': inf is not a finite number; correct it, or name it by --missing", {}),
    ("either date", csv(GOOD.assign(day=["5/3/2026", "6/3/2026"] * 15)), [*FIT, "--dates"], 3,
     "column 'day': in dates such as 5/3/2026 the day or the month may come first", {}),
    ("only dates", csv(GOOD.assign(day=pd.date_range("2024-01-01", periods=30).astype(str))),
     [*FIT, "--features", "day"], 3, "column 'day' of --features holds dates; --dates", {}),
    ("too large", lines((4, "1e300,30,Ulm")), FIT, 3,
     "row 4, column 'age': 1e+300 is too large, beyond 1e+150; correct it", {}),
    ("either number", csv(GOOD.assign(sum=["1,169", "5,951"] * 15)[["sum", "town"]]), FIT, 3,
     "row 2, column 'sum': '1,169' may be 1169 or 1.169, and no value of the column shows which",
     {}),
    ("mixed units", lines((4, "30 mg,30,Ulm")), FIT, 3, "row 4, column 'age': '30 mg' among num",
     {}),
    ("a long word", lines((12, "x" * 140_000 + ",30,Ulm")), FIT, 3,
     f"row 12, column 'age': '{'x' * 40}'... (140,000 characters) among numbers; correct it", {}),
    ("a value without an end", lines((5, '40,30,"' + "x" * 2_000_000)), FIT, 3,
     "row 5, column 'town': a value of more than 500,000 characters, which begins with '\"xxxx",
     {}),
    ("labels all the same", csv(GOOD.assign(y="a")), [*PU, "--kind", "classify"], 5,
     "every row is 'a'; two classes are needed", {}),
    ("numbers as classes", csv(GOOD.assign(y=np.arange(30) / 7)), [*PU, "--kind", "classify"], 2,
     "30 values in 30 rows are too many for classes", {}),
    ("classes as numbers", csv(GOOD.assign(y=["a", "b"] * 15)), [*PU, "--kind", "regress"], 3,
     "column 'y': text instead of numbers; --kind classify", {}),
    ("no labels", csv(), [*FIT, "--kind", "regress"], 2, "regress needs --label COLUMN", {}),
    ("not one but two kinds", csv(GROUPED), [*SHARES, "--kind", "classify"], 2,
     "--kind classify does not take --group", {}),
    ("NUL byte", lines((6, "4\x000,30,Ulm")), FIT, 3, "row 6: a NUL byte", {}),
    ("NUL byte far down", lines((3, "40,30,U\x00lm")), FIT, 3, "row 3", {}),
    ("an image", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 9, FIT, 3, "NUL byte", {}),
    ("wrong encoding", csv(), [*FIT, "--encoding", "utf-16"], 3, "is not utf-16 text", {}),
    ("unknown encoding", csv(), [*FIT, "--encoding", "utf-99"], 2, "no encoding is called", {}),
    ("two signs", csv(), [*FIT, "--delimiter", ";;"], 2, "one character", {}),
    ("--drop nothing", csv(), [*FIT, "--drop", "agee"], 3, "no column 'agee'; it has", {}),
    ("--features nothing", csv(), [*FIT, "--features", "x"], 3, "has no column 'x'", {}),
    ("--id nothing", csv(), [*FIT, "--id", "x"], 3, "has no column 'x'", {}),
    ("negative weight", csv(GOOD.assign(w=[-1] + [1] * 29)), [*FIT, "--weight", "w"], 3,
     "row 2, column 'w': -1; a weight is 0 or more", {}),
    ("no weight", csv(GOOD.assign(w=0)), [*FIT, "--weight", "w"], 5,
     "t.csv, column 'w': every weight is 0", {}),
    ("percents", csv(GROUPED.assign(s=[20, 40, 60] * 10)), SHARES, 3,
     "row 2, column 's': 20; a proportion lies between 0 and 1, 20 % is 0.2", {}),
    ("no parameter", csv(), [*FIT, "--set", "nuu=1"], 2, "OneClassSVM has no parameter 'nuu'", {}),
    ("no value", csv(), [*FIT, "--set", "nu"], 2, "name=value", {}),
    ("value out of range", csv(), [*FIT, "--set", "nu=7"], 2, "'nu' parameter", {}),
    ("no TOML", csv(), [*FIT, "--params", "p.toml"], 3, "p.toml is not TOML", {"p.toml": b"nu: 1"}),
    ("rate beyond 1", csv(), [*FIT, "--false-alarms", "5"], 2, "between 0 and 1", {}),
    ("two kinds", csv(), [*FIT, "--group", "g", "--label", "y"], 2, "cannot be used together", {}),
    ("insisting in vain", csv(), [*FIT, "--kind", "pu"], 2, "pu needs --unlabelled", {}),
    ("no such label", csv(), [*PU], 3, "has no column 'y'", {}),
    ("constant label", csv(GOOD.assign(y="yes")), PU, 5, "all rows are 'yes'", {}),
    ("absent label", csv(GOOD.assign(y=["a", "b"] * 15)), [*PU, "--positive", "c"], 3,
     "no row is 'c', as --positive says; values are 'a', 'b'", {}),
    ("which label", csv(GOOD.assign(y=["a", "b"] * 15)), PU, 2, "needs --positive", {}),
    ("other columns", csv(), ["--unlabelled", "other.csv", *FIT], 3, "no column 'age'", OTHER),
    ("other kinds", csv(), ["--unlabelled", "o.csv", *FIT], 3, "of different kinds",
     {"o.csv": csv(GOOD.assign(age=["x", "y"] * 15))}),
    ("negative radius", csv(), ["--radius", "-1", *FIT], 2, "--radius must not be negative", {}),
    ("negative radii", csv(GOOD.assign(r=[1] * 29 + [-2])), ["--radius", "r", *FIT], 3,
     "row 31, column 'r': -2; a radius is 0 or more", {}),
    ("two targets", csv(GOOD.assign(d=[-1, -2, 0] * 10)), TASKS, 3, "2 targets (-2, -1)", {}),
    ("no target", csv(GOOD.assign(d=[1, 2, 0] * 10)), TASKS, 3, "no target", {}),
    ("half a domain", csv(GOOD.assign(d=[-1, 0.5, 0] * 10)), TASKS, 3, "row 3, column 'd'", {}),
    ("share beyond 1", csv(GROUPED.assign(s=[0.2, 0.4, 1.6] * 10)), SHARES, 3,
     "row 4, column 's': 1.6; a proportion lies between 0 and 1", {}),
    ("missing share", csv(GROUPED.assign(s=[0.2, None, 0.6] * 10)), SHARES, 3, "row 3, column 's'",
     {}),
    ("varying share", csv(GROUPED.assign(s=[0.2, 0.4, 0.6] * 9 + [0.3, 0.4, 0.6])), SHARES, 3,
     "row 29, column 's': 0.3, but group 'u' has 0.2 in row 2", {}),
    ("no group", csv(GROUPED.assign(g=["u", None, "w"] * 10)), SHARES, 3, "row 3, column 'g'", {}),
    ("one group", csv(GROUPED.assign(g="u", s=0.5)), SHARES, 5, "one group", {}),
    ("no share of a group", csv(GROUPED), ["--group", "g", "--shares", "s.csv", *FIT], 3,
     "row 3, column 'g': group 'v' has no proportion in", {"s.csv": b"g,share\nu,0.1\nw,0.9\n"}),
    ("group twice", csv(GROUPED), ["--group", "g", "--shares", "s.csv", *FIT], 3,
     "row 3, column 'g': group 'u' a second time", {"s.csv": b"g,share\nu,0.1\nu,0.9\n"}),
    ("no shares", csv(GROUPED), ["--group", "g", *FIT], 2, "--share COLUMN or --shares TABLE", {}),
]  # fmt: skip

FILES = [
    ("truncated Parquet", "t.parquet", parquet()[:-200], 3, "t.parquet is damaged"),
    ("no Parquet", "t.parquet", csv(), 3, "t.parquet is damaged"),
    ("lists in Parquet", "t.parquet", parquet(GOOD.assign(l=[[1, 2]] * 30)), 3, "column 'l': list"),
    ("no Feather", "t.feather", csv(), 3, "t.feather"),
    ("no NumPy file", "t.npy", csv(), 3, "t.npy is damaged, or no NumPy file"),
    ("truncated npz", "t.npz", npz(X=np.ones((9, 3, 3)))[:-90], 3, "t.npz is damaged"),
    ("two arrays", "t.npz", npz(A=np.ones((9, 3)), B=np.ones((9, 3))), 3, "or one named X"),
    ("objects", "t.npz", npz(X=np.array([[{}]])), 3, "t.npz"),
    ("text arrays", "t.npz", npz(X=np.array([["a", "b"]] * 9)), 3, "instead of numbers"),
    ("a gap in a tensor", "t.npz", npz(X=np.full((5, 3, 3), np.nan)), 3, "sample 1"),
    ("zero tensors", "t.npz", npz(X=np.zeros((0, 3, 3))), 3, "holds no rows"),
    ("a spreadsheet", "t.xlsx", b"PK", 3, "has the ending '.xlsx'; tables end in"),
]


def check(capsys, arguments, code, message):
    try:
        found = main(arguments)
    except SystemExit as exit_:  # argparse prints the usage before its line
        found = exit_.code
        error = capsys.readouterr().err.splitlines()[-1] + "\n"
        assert "error: " in error
    else:
        error = errors_of(capsys.readouterr().err)
        errors = [line for line in error.splitlines() if not line.startswith("scarce: warning")]
        assert len(errors) == 1
        assert errors[0].startswith("scarce: error: ")
    assert found == code, error
    assert message in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("table", "options", "code", "message", "others"),
    [case[1:] for case in FITS],
    ids=[case[0] for case in FITS],
)
def test_fits(tmp_path, monkeypatch, capsys, table, options, code, message, others):
    monkeypatch.chdir(tmp_path)
    for name, content in {"t.csv": table, **others}.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    check(capsys, ["fit", "nowhere.csv" if table is None else "t.csv", *options], code, message)
    assert not (tmp_path / "new.skops").exists()


@pytest.mark.parametrize(
    ("name", "content", "code", "message"), [case[1:] for case in FILES], ids=[c[0] for c in FILES]
)
def test_files(tmp_path, monkeypatch, capsys, name, content, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    check(capsys, ["fit", name, "--out", "new.skops"], code, message)


def test_folders(tmp_path, capsys):
    (tmp_path / "t.csv").mkdir()
    check(capsys, ["fit", str(tmp_path / "t.csv"), "--out", "m.skops"], 3, "is a folder; name a")
    check(capsys, ["fit", str(tmp_path), "--out", "m.skops"], 3, "is a folder; name a table in it")
    (tmp_path / "u.csv").write_bytes(csv())
    check(capsys, ["fit", str(tmp_path / "u.csv"), "--out", str(tmp_path)], 2, "is a folder")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_no_permission(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_bytes(csv())
    path.chmod(0)
    check(capsys, ["fit", str(path), "--out", "m.skops"], 3, "Permission denied")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.skops"
    rows = np.random.default_rng(0).normal(size=(30, 2))
    scarce.save(scarce.OneClassSVM(nu=0.2, offset="left_out").fit(rows), path)
    return path.read_bytes()


def altered(content, name, change):
    """Return a model file one part of which is changed."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.namelist():
            part = old.read(entry)
            new.writestr(entry, change(part) if entry == name else part)
    return changed.getvalue()


def bomb(content):
    swollen = io.BytesIO(content)
    with zipfile.ZipFile(swollen, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("filler.npy", bytes(200_000_000))
    return swollen.getvalue()


def hostile(part):
    return part.replace(b'"OneClassSVM"', b'"system"').replace(b'"scarce"', b'"os"')


MODELS = [
    ("truncated", lambda content: content[:-400], "not a model file of scarce, or it is damaged"),
    ("foreign", lambda content: b"\x80\x04pickle", "not a model file of scarce"),
    ("empty", lambda content: b"", "not a model file of scarce"),
    ("a zip of others", lambda content: npz(X=np.ones(3)), "it holds no scarce.json"),
    ("newer", lambda content: altered(content, "scarce.json", lambda part: json.dumps(
        {**json.loads(part), "format": 99}).encode()), "format 99, written by a newer scarce"),
    ("no card", lambda content: altered(content, "scarce.json", lambda part: b"{"), "damaged"),
    *(
        (name, lambda content, fit=fit: altered(content, "scarce.json", lambda part: json.dumps(
            {**json.loads(part), "fit": fit}).encode()), "m.skops is damaged")
        for name, fit in {"no columns": {"columns": [1.0]}, "no size": {"shape": [np.inf]},
                          "no fit": 3}.items()
    ),
    ("hostile", lambda content: altered(content, "schema.json", hostile), "os.system"),
    ("no schema", lambda content: altered(content, "schema.json", lambda part: b"{}"), "damaged"),
    ("bomb", bomb, "unpacks from"),
]  # fmt: skip


@pytest.mark.parametrize("command", ["score", "info"])
@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in MODELS], ids=[case[0] for case in MODELS]
)
def test_model_files(tmp_path, capsys, model, command, change, message):
    path, table = tmp_path / "m.skops", tmp_path / "t.csv"
    path.write_bytes(change(model))
    table.write_text("x0,x1\n1,2\n")
    more = [str(table), "--out", str(tmp_path / "s.csv")] if command == "score" else []
    check(capsys, [command, str(path), *more], 4, message)
    assert not (tmp_path / "s.csv").exists()


SCORES = [
    ("missing column", b"x1,x2\n1,2\n", [], 3, "no column 'x0'"),
    ("text", b"x0,x1\n1,2\n3,four\n", [], 3, "row 3, column 'x1': 'four' is not a number"),
    ("ragged", b"x0,x1\n1,2\n3\n", [], 3, "row 3: 1 value,"),
    ("header only", b"x0,x1\n", [], 3, "a header but no rows"),
    ("infinite", b"x0,x1\n1,2\n1,-inf\n", [], 3, "row 3, column 'x1': -inf"),
    ("no such id", b"x0,x1\n1,2\n", ["--id", "name"], 3, "no column 'name'"),
    ("top none", b"x0,x1\n1,2\n", ["--top", "0"], 2, "at least 1"),
    ("unknown ending", b"x0,x1\n1,2\n", ["--out", "s.doc"], 2, "must end in .csv"),
    ("missing value without an imputer", b"x0,x1\n1,2\n,4\n", [], 3, "row 3, column 'x0'"),
]


@pytest.mark.parametrize(
    ("table", "options", "code", "message"), [c[1:] for c in SCORES], ids=[c[0] for c in SCORES]
)
def test_scores(tmp_path, monkeypatch, capsys, model, table, options, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.skops").write_bytes(model)
    (tmp_path / "t.csv").write_bytes(table)
    check(capsys, ["score", "m.skops", "t.csv", "--out", "s.csv", *options], code, message)
    assert {path.name for path in tmp_path.iterdir()} == {"m.skops", "t.csv"}


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, capsys, model):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.skops").write_bytes(model)
    (tmp_path / "t.csv").write_text("x0,x1\n1,2\n")
    (tmp_path / "s.csv").write_text("old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    command = ["score", "m.skops", "t.csv", "--out", "s.csv", "--force"]
    check(capsys, command, 3, "s.csv: No space left on device")
    assert (tmp_path / "s.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"m.skops", "t.csv", "s.csv"}
