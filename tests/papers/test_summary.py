"""Means, tests and choices against figures worked out by hand or by SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from papers import both_protocols, paper_as_text
from papers._statistics import holm, paired_p_values, signed_rank
from tests.papers.sample_run import SETTINGS, sample_run
from tests.papers.toy import run_toy, toy


def test_holm_by_hand():
    # Sorted .01 .02 .03 .04 times 4 3 2 1 gives .04 .06 .06 .04; made monotone: .04 .06 .06 .06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_are_formed_by_repetition():
    random = np.random.default_rng(0)
    a, b = random.normal(size=12), random.normal(0.5, size=12)
    reference = dict(enumerate(a))
    shuffled = {r: b[r] for r in random.permutation(12)} | {99: 1e6}  # no partner: left out
    found = paired_p_values(reference, {"b": shuffled})
    assert found["b"] == pytest.approx(wilcoxon(b - a).pvalue)


@pytest.mark.parametrize("n", [5, 8, 9])
def test_ties_by_counting_all_signs(n):
    differences = np.random.default_rng(n).integers(-3, 5, size=n).astype(float)
    differences[:3] = [2.0, 2.0, -2.0]
    kept = differences[differences != 0]
    ranks = rankdata(np.abs(kept))
    sums = np.array([signs @ ranks for signs in product((0, 1), repeat=len(kept))])
    found, middle = ranks[kept > 0].sum(), ranks.sum() / 2
    as_far = np.abs(sums - middle) >= abs(found - middle) - 1e-9
    assert signed_rank(differences) == pytest.approx(as_far.mean())


def test_without_ties_scipys_exact_test():
    differences = np.random.default_rng(0).normal(0.3, size=50)
    expected = wilcoxon(differences, method="exact").pvalue
    assert signed_rank(differences) == pytest.approx(expected)


def test_no_difference_is_no_evidence():
    same = {0: 1.0, 1: 2.0}
    assert paired_p_values(same, {"same": same}) == {"same": 1.0}


def test_protocols_choose_as_they_say():
    criterion = {1: 0.3, 2: 0.9, 3: 0.9}
    accuracy = {1: 80.0, 2: 60.0, 3: 70.0}

    def attempt(c):
        return None if c == 4 else (criterion[c], {"accuracy": accuracy[c], "recall": 1.0})

    selected, best = both_protocols("svm", [{"c": c} for c in (1, 2, 3, 4)], attempt)
    assert (selected.protocol, selected.parameters) == ("selected", {"c": 2})  # the first of a tie
    assert (best.protocol, best.parameters) == ("best of grid", {"c": 1})
    assert best.values["accuracy"] == 80.0
    assert both_protocols("svm", [{"c": 4}], attempt) == []


def test_table(tmp_path):
    result = run_toy(tmp_path)
    scores = {(s.setting, s.method, s.protocol): s for s in result.tables[0].scores}
    assert len(scores) == 3 * 3
    gap = scores["size 5", "better", "best of grid"].mean - scores["size 5", "plain", "fixed"].mean
    assert gap == pytest.approx(3.0)
    plain = scores["size 3", "plain", "fixed"]
    assert (plain.printed, plain.n) == (2.5, 6)
    assert 0 < plain.std < 0.5


def test_text(tmp_path):
    text = paper_as_text(run_toy(tmp_path))
    assert "Nobody (2000)" in text
    assert "All choices are ours." in text
    assert "(2.5)" in text  # with the decimals it was given with
    for protocol in ("selected", "best of grid", "fixed"):
        assert f"**Accuracy, %, {protocol}**" in text
    rows = [line for line in text.splitlines() if line.startswith("| size 3")]
    assert len(rows) == 3


def test_wide_tables_go_down_where_there_is_no_room():
    paper = sample_run().papers[0]
    wide, narrow = paper_as_text(paper), paper_as_text(paper, width=90)

    def grids(text):
        return [line for line in text.splitlines() if line.startswith("|")]

    def figures(text):
        cells = (cell.strip() for line in grids(text) for cell in line.split("|"))
        return sorted(cell for cell in cells if "±" in cell)

    assert max(map(len, grids(wide))) > 90 >= max(map(len, grids(narrow)))
    assert figures(narrow) == figures(wide) != []
    down = next(line for line in grids(narrow) if line.startswith(f"| {SETTINGS[0]}"))
    assert down.split("|")[2].strip() in paper.tables[0].methods


def test_text_marks_what_the_test_can_tell(tmp_path):
    """Six repetitions of one comparison reach p = 2 / 2^6 = 0.031, two cannot come below 0.05.

    The reference has fixed parameters only, and is compared with under all protocols.
    """
    paper = toy(reference="plain")
    full = paper_as_text(run_toy(tmp_path / "full", paper))
    quick = paper_as_text(run_toy(tmp_path / "quick", paper, full=False))
    for text, sign in ((full, "▲"), (quick, "·")):
        selected, best, fixed = (s for s in text.splitlines() if s.startswith("| size 3"))
        assert sign in selected
        assert sign in best
        assert not any(mark in fixed for mark in "▲▼=·")
        assert text.count("reference plain with fixed parameters") == 2
