"""`scarce fit` of rows of a class, rows checked and found not to be, and rows nobody looked at."""

import numpy as np
import pandas as pd
import pytest

import scarce
from scarce.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checked")
    random = np.random.default_rng(0)
    good = np.arange(160) % 3 == 0
    table = pd.DataFrame(random.normal(np.where(good, 2.5, 0.0)[:, None], 1.0, size=(160, 2)))
    table.columns = ["a", "b"]
    table["seen"] = ""
    table.loc[np.flatnonzero(good)[:25], "seen"] = "yes"
    table.loc[np.flatnonzero(~good)[:15], "seen"] = "no"
    table.to_csv(folder / "empty.csv", index=False)
    table.replace({"seen": {"": "maybe"}}).to_csv(folder / "maybe.csv", index=False)
    named = table.replace({"seen": {"": "Unknown"}})
    named.to_csv(folder / "three.csv", index=False)
    named[named["seen"] != "no"].to_csv(folder / "unknown.csv", index=False)
    table[table["seen"] != ""].to_csv(folder / "all.csv", index=False)
    return folder


def fit(folder, *options):
    command = ["fit", str(folder / options[0]), "--out", str(folder / "m.skops"), *options[1:]]
    return main([*command, "--force", "--label", "seen", "--set", "n_bags=4"])


@pytest.mark.parametrize("table", ["empty.csv", "maybe.csv"])
def test_three_values_are_asked_for(folder, table, capsys):
    assert fit(folder, table, "--positive", "yes") == 2
    asked = capsys.readouterr().err
    assert "beside 'yes' rows have " in asked
    assert "--negative none if none was" in asked
    assert fit(folder, table) == 2
    assert "needs --positive, one of" in capsys.readouterr().err


def test_the_value_that_means_unlabelled_is_not_proposed_as_checked(folder, capsys):
    assert fit(folder, "three.csv", "--positive", "yes") == 2
    asked = capsys.readouterr().err
    assert "beside 'yes' rows have 'Unknown' and 'no'; --negative no if these were" in asked


def test_a_word_for_unlabelled_rows_is_known(folder, capsys):
    assert fit(folder, "unknown.csv") == 0
    assert "because column 'seen' is 'yes' in some rows" in capsys.readouterr().out


@pytest.mark.parametrize("table", ["empty.csv", "maybe.csv"])
def test_checked_rows_are_negatives(folder, table, capsys):
    assert fit(folder, table, "--positive", "yes", "--negative", "no") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("PositiveUnlabeledClassifier, because column 'seen' is 'yes' in some")
    assert "'no' in some that do not belong to the class" in printed
    assert "somewhere from" in printed  # class_prior_interval_
    model = scarce.load(folder / "m.skops")[-1]
    assert model.neg_label == "no"
    assert model.classes_.tolist() == ["no", "yes"]
    assert len(model.out_of_bag_scores_[1]) == 120  # neither yes nor no
    out = folder / "s.csv"
    assert main(["score", str(folder / "m.skops"), str(folder / table), "--out", str(out)]) == 0
    assert set(pd.read_csv(out)["decision"]) == {"yes", "not yes"}
    out.unlink()


def test_no_row_was_checked(folder, capsys):
    assert fit(folder, "maybe.csv", "--positive", "yes", "--negative", "none") == 0
    assert "rows of all of them are taken for unlabelled" in capsys.readouterr().out
    assert scarce.load(folder / "m.skops")[-1].neg_label is None


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["empty.csv", "--positive", "yes", "--negative", "ja"], 3, "no row is 'ja', as --negat"),
        (["empty.csv", "--positive", "yes", "--negative", "yes"], 2, "are both 'yes'"),
        (["all.csv", "--positive", "yes", "--negative", "no"], 5, "none is unlabelled; --kind cl"),
    ],
)
def test_what_cannot_be_is_refused(folder, options, code, message, capsys):
    assert fit(folder, *options) == code
    assert message in capsys.readouterr().err
