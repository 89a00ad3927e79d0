"""What holds for every paper: names that fit together, nothing else."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scarce
from papers import PAPERS
from papers._cells import slug
from papers._text import paragraphs
from papers.data import DATASETS

EXPERIMENTS = [
    pytest.param(experiment, id=f"{paper.key}-{experiment.key}")
    for paper in PAPERS.values()
    for experiment in paper.experiments
]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_names_fit_together(experiment):
    assert experiment.reference in experiment.methods
    assert len(set(experiment.methods)) == len(experiment.methods)
    assert set(experiment.quick_settings) <= set(experiment.settings)
    assert experiment.quick_repetitions <= experiment.repetitions
    for setting, method, metric in experiment.printed:
        assert setting in experiment.settings
        assert method in experiment.methods
        assert metric in experiment.metrics


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_captions_have_short_paragraphs(experiment):
    parts = paragraphs(experiment.caption)
    assert " ".join(parts) == experiment.caption
    assert max(len(part.split()) for part in parts) <= 120
    assert all(part[0].isupper() or part[0] == "*" for part in parts[1:])
    assert not any(re.search(r"\b(e\.g|i\.e|[A-Z])\.$", part) for part in parts)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_data_sets_exist(experiment):
    named = {line["data"] for line in experiment.settings.values() if "data" in line}
    assert {*named, *experiment.needs} <= set(DATASETS)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_setting_has_its_own_folder(experiment):
    assert len({slug(setting) for setting in experiment.settings}) == len(experiment.settings)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_cells_can_be_sent_to_other_processes(experiment):
    assert pickle.loads(pickle.dumps(experiment.run)) is experiment.run


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.key)
def test_tables_of_a_paper_have_different_keys(paper):
    assert len({experiment.key for experiment in paper.experiments}) == len(paper.experiments)


def test_nothing_is_loaded_or_fitted_at_import():
    code = (
        "import gzip, numpy, sklearn.datasets, scarce.solvers\n"
        "def fail(*args, **options): raise SystemExit('work at import')\n"
        "gzip.open = numpy.load = scarce.solvers.solve = fail\n"
        "sklearn.datasets.load_breast_cancer = sklearn.datasets.load_iris = fail\n"
        "import papers\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_library_does_not_know_the_papers():
    sources = Path(scarce.__file__).parent.rglob("*.py")
    imports = re.compile(r"^\s*(?:from|import) (?:papers|benchmarks)\b", re.MULTILINE)
    assert not [path for path in sources if imports.search(path.read_text(encoding="utf-8"))]
