"""The front door: four tables, every command printed before it runs, a page of four stories."""

import pandas as pd

import scarce
from scarce.cli import main
from tests.cli.internals import STORIES


def test_four_stories(tmp_path, capsys):
    folder = tmp_path / "demo"
    assert main(["demo", "--out", str(folder)]) == 0
    out = capsys.readouterr().out
    page = (folder / "index.html").read_text()
    for story in STORIES:
        assert f"== {story.head} ==" in out
        assert story.head in page
        assert (folder / f"{story.name}.html").exists()
        scarce.load(folder / f"{story.name}.skops")
        for command in story.commands:
            assert out.index("$ scarce " + " ".join(command)) < out.rindex("Four stories")
    assert out.index("$ scarce fit pump.csv") < out.index("OneClassSVM, calibrated")
    assert page.count("<svg") == 4
    assert (folder / "index.html").as_uri() in out
    worn = STORIES[0].write(tmp_path)
    alarms = pd.read_csv(folder / "tonight-scores.csv")["decision"] == "rejected"
    assert alarms[worn].mean() > 0.9
    assert alarms[~worn].mean() < 0.2


def test_an_out_that_is_a_file_is_noticed_before_the_work(capsys, tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    assert main(["demo", "--out", str(path)]) == 2
    error = capsys.readouterr().err
    assert error == f"scarce: error: --out must name a folder, but {path} is a file\n"
    assert path.read_text() == "mine"
