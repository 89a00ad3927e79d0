"""Splits: sizes as printed, disjoint or overlapping as documented, decided by the seed."""

import numpy as np
import pytest

from papers.data import (
    DATASETS,
    FEW_SAMPLES_TASKS,
    GROUP_TASKS,
    ONE_CLASS_TASKS,
    PU_TASKS,
    few_samples_split,
    group_transfer_split,
    load_faces_pair,
    load_few_samples_task,
    load_group_task,
    load_one_class_task,
    load_pu_task,
    one_class_transfer_split,
    positive_unlabeled_split,
    rotated_faces_split,
)

LETTERS = np.repeat(["S", "X", "A", "B"], [300, 300, 300, 250])


def same(first, second, names):
    return all(np.array_equal(getattr(first, n), getattr(second, n)) for n in names)


class TestOneClassTransfer:
    """The splits of the paper on uncertain data."""

    def split(self, seed=0, **options):
        return one_class_transfer_split(LETTERS, "S", ["X"], random_state=seed, **options)

    def test_isolet_sizes(self):
        split = self.split(n_negatives=300)
        assert (split.target.size, split.sources[0].size, split.test.size) == (30, 300, 570)
        assert np.array_equal(split.is_target, LETTERS[split.test] == "S")
        assert not np.isin(split.test, split.train).any()
        assert set(LETTERS[split.test]) == {"S", "A", "B"}
        assert np.unique(split.test).size == split.test.size
        assert np.array_equal(split.sample_domain, np.repeat([0, -1], [300, 30]))
        assert np.array_equal(LETTERS[split.train] == "S", split.sample_domain < 0)

    def test_negatives(self):
        assert int((~self.split().is_target).sum()) == 270
        assert int((~self.split(n_negatives="all").is_target).sum()) == 550
        few = self.split(negatives=["B"])
        assert np.bincount(few.is_target).tolist() == [250, 250]  # as many of either
        assert set(LETTERS[few.test[~few.is_target]]) == {"B"}

    def test_several_sources(self):
        split = one_class_transfer_split(LETTERS, "S", ["A", "B", "X"], random_state=0, n_sources=2)
        assert len(split.sources) == 2
        assert np.unique(split.sample_domain).tolist() == [-1, 0, 1]
        assert not split.test.size  # no letter is left for negatives, so as many positives

    def test_limited_source(self):
        split = self.split(max_source=50)
        assert split.sources[0].size == np.unique(split.sources[0]).size == 50

    def test_seeds(self):
        names = ("target", "test")
        assert same(self.split(3), self.split(3), names)
        assert not np.array_equal(self.split(3).target, self.split(4).target)
        assert not np.array_equal(self.split(3).test, self.split(4).test)

    def test_errors(self):
        with pytest.raises(ValueError, match="sources: no row is labelled 'Y'"):
            one_class_transfer_split(LETTERS, "S", ["Y"], random_state=0)
        with pytest.raises(ValueError, match=r"target_share=0\.001 of the 300 rows labelled 'S'"):
            self.split(target_share=0.001)
        with pytest.raises(ValueError, match="between 0 and 550, got 551"):
            self.split(n_negatives=551)
        with pytest.raises(ValueError, match="got 'some'"):
            self.split(n_negatives="some")

    def test_tables_of_the_paper(self):
        # 13 of Newsgroups, 6 of Reuters, 4 of Mushroom, 4 of Isolet, 5 of LDPA.
        assert len(ONE_CLASS_TASKS) == 32
        assert ONE_CLASS_TASKS["NG.os"].sources == (
            "comp.sys.ibm.pc.hardware",
            "comp.sys.mac.hardware",
            "comp.graphics",
        )
        assert set(ONE_CLASS_TASKS["NG.religion"].sources) == {
            "talk.politics.guns",
            "talk.politics.mideast",
        }
        groups = set(DATASETS["20newsgroups"].classes)
        for name, task in ONE_CLASS_TASKS.items():
            assert task.target not in task.sources
            if name.startswith("NG."):
                assert {task.target, *task.sources, *task.negatives} <= groups
                top = task.target.split(".")[0]
                assert {source.split(".")[0] for source in task.sources} == {top}
                assert top not in {group.split(".")[0] for group in task.negatives}

    @pytest.mark.parametrize(
        ("name", "target", "source", "positives", "negatives"),
        [
            ("Isolet(S)", 30, 300, 270, 300),
            ("Isolet(N)", 30, 299, 270, 300),
            ("MR.edible(1)", 162, 2592, 1454, 1454),  # 1616 edible and enlarging
            ("MR.poisonous(2)", 202, 1900, 1814, 1814),  # 2016 poisonous and tapering
        ],
    )
    def test_real_sizes(self, name, target, source, positives, negatives, scarce_data):
        X, label = load_one_class_task(name, data_home=scarce_data)
        split = ONE_CLASS_TASKS[name].split(label, random_state=0)
        sizes = (split.target.size, split.sources[0].size)
        assert sizes == (target, source)
        assert np.bincount(split.is_target).tolist() == [negatives, positives]
        assert len(X) == len(label)
        assert np.isfinite(X).all()

    def test_ldpa(self, scarce_data):
        X, label = load_one_class_task("LDPA(2)", data_home=scarce_data)
        assert X.shape == (16486, 7)  # the paper's number of records; x, y, z and four tags
        chosen = set()
        for seed in range(8):
            split = ONE_CLASS_TASKS["LDPA(2)"].split(label, random_state=seed)
            (source,) = split.sources
            chosen |= set(label[source])
            assert set(label[split.test]) == {"B", "B abnormal"}
            assert int((~split.is_target).sum()) == int((label == "B abnormal").sum())
        assert chosen <= set("ACDE")
        assert len(chosen) > 1

    @pytest.mark.parametrize("top", ["orgs", "people", "place"])
    def test_reuters(self, top, scarce_data):
        from papers.data import load_dataset
        from papers.data._one_class_tasks import TOPS, reuters_halves

        reuters = load_dataset("reuters", data_home=scarce_data)
        field = "places" if top == "place" else top
        label = reuters_halves(reuters, field)
        labels = reuters.extra[field]
        rarer = {"orgs": (), "people": ("orgs",), "places": ("orgs", "people")}[field]
        for name in rarer:
            assert not any(reuters.extra[name][np.isin(label, ["1", "2"])])
        assert int((label == "other").sum()) > 1500
        halves = [{name for names in labels[label == h] for name in names} for h in "12"]
        assert not halves[0] & halves[1]
        sizes = [int((label == half).sum()) for half in "12"]
        assert max(sizes) < 2 * min(sizes)
        if field == "orgs":
            assert not any(labels[label == "other"])
        # Left out are documents without a label of any top category, or with both halves.
        assert all(
            len(labels[i]) > 1 or not any(reuters.extra[name][i] for name in TOPS)
            for i in np.flatnonzero(label == "")
        )

    def test_newsgroups_features(self, scarce_data):
        # One loaded text task: rows of unit length, or zero for a message without words.
        X, label = load_one_class_task("NG.os", n_components=5, data_home=scarce_data)
        assert X.shape == (18846, 5)
        length = np.linalg.norm(X, axis=1)
        assert np.all(np.isclose(length, 1) | (length == 0))
        split = ONE_CLASS_TASKS["NG.os"].split(label, random_state=0)
        assert (split.target.size, len(split.sources)) == (98, 3)  # a tenth of 985


class TestGroupTransfer:
    """The splits of the paper on group probabilities."""

    X = np.arange(435.0)[:, None]
    y = np.arange(435) % 3 // 2

    def split(self, seed=0, **options):
        return group_transfer_split(self.X, self.y, random_state=seed, **options)

    def test_sizes(self):
        split = self.split()
        # 30 % of 435 is 130.5, rounded to even.
        assert len(split.X_source) == len(split.X_target) == 130
        assert int(split.is_common.sum()) == 26  # 20 % of the source
        assert np.bincount(split.groups[split.groups >= 0]).tolist() == 16 * [8]
        assert int((split.groups < 0).sum()) == 2

    def test_only_common_rows_are_in_both(self):
        split = self.split()
        shared = np.isin(split.X_target.ravel(), split.X_source.ravel())
        assert np.array_equal(shared, split.is_common)
        assert np.unique(split.X_target).size == 130
        for X, y in ((split.X_source, split.y_source), (split.X_target, split.y_target)):
            assert np.array_equal(y, self.y[X.ravel().astype(int)])

    def test_common_rows_are_in_groups_too(self):
        split = self.split()
        assert (split.groups[split.is_common] >= 0).any()

    def test_seeds(self):
        names = ("X_source", "X_target", "groups")
        assert same(self.split(1), self.split(1), names)
        for name in names:
            assert not np.array_equal(getattr(self.split(1), name), getattr(self.split(2), name))

    def test_errors(self):
        with pytest.raises(ValueError, match=r"source_share=0\.8.* cannot be had from 435 rows"):
            self.split(source_share=0.8, target_share=0.8)
        with pytest.raises(ValueError, match="common must be between 0 and 1, got -1"):
            self.split(common=-1)

    @pytest.mark.parametrize(
        ("task", "rows", "features"),
        [
            ("Australia", 690, 14),
            ("Breast-cancer", 683, 9),
            ("Vote", 435, 16),
            ("Ionosphere", 351, 34),
            ("Heart-c", 303, 22),
            ("Sonar", 208, 60),
        ],
    )
    def test_uci_tasks(self, task, rows, features, scarce_data):
        X, y = load_group_task(task, data_home=scarce_data)
        assert X.shape == (rows, features)
        assert set(y) == {0, 1}
        assert np.isfinite(X).all()
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        spread = X.std(axis=0)
        assert np.all(np.isclose(spread, 1) | (spread == 0))
        assert set(GROUP_TASKS) >= {task}

    def test_faces(self, scarce_data):
        images, y = load_faces_pair(data_home=scarce_data)
        assert images.shape == (340, 32, 32)
        assert np.bincount(y).tolist() == [170, 170]
        assert 0 <= images.min() < 0.2 < 0.8 < images.max() <= 1
        split = rotated_faces_split(images, y, angle=10, random_state=0)
        assert split.X_target.shape == (340, 1024)
        assert (int(split.is_common.sum()), split.shares.size) == (68, 42)


class TestPositiveUnlabeled:
    """The draws of the paper on mapping convergence."""

    truth = np.arange(1000) % 5 == 0  # 200 positives

    def split(self, seed=0, **options):
        sizes = {"n_positive": 90, "n_unlabeled": 400, "n_unlabeled_positive": 80}
        return positive_unlabeled_split(self.truth, random_state=seed, **{**sizes, **options})

    def test_disjoint(self):
        split = self.split()
        assert (split.positive.size, split.unlabeled.size) == (90, 400)
        assert self.truth[split.positive].all()
        assert int(self.truth[split.unlabeled].sum()) == 80
        every = np.concatenate([split.positive, split.unlabeled, split.test])
        assert np.array_equal(np.sort(every), np.arange(1000))
        assert np.array_equal(split.is_positive, self.truth[split.test])
        assert np.array_equal(split.train[split.y_train == 1], split.positive)
        assert np.array_equal(split.train[split.y_train == 0], split.unlabeled)

    def test_overlap_is_that_of_independent_draws(self):
        split = self.split(n_positive=150, n_unlabeled_positive=100, overlap=True)
        for rows in (split.positive, split.unlabeled):
            assert np.unique(rows).size == rows.size
        shared = np.intersect1d(split.positive, split.unlabeled).size
        assert abs(shared - 150 * 100 / 200) < 20  # hypergeometric, standard deviation 3.5
        assert not np.isin(split.test, split.train).any()
        assert split.test.size == 1000 - np.unique(split.train).size

    def test_unlabeled_as_test(self):
        split = self.split(test="unlabeled")
        assert np.array_equal(split.test, split.unlabeled)
        assert int(split.is_positive.sum()) == 80

    def test_hidden_positives_are_not_told_by_their_order(self):
        hidden = self.truth[self.split().unlabeled]
        assert 0 < hidden[:80].sum() < 80

    def test_seeds(self):
        names = ("positive", "unlabeled", "test")
        assert same(self.split(5), self.split(5), names)
        for name in names:
            assert not np.array_equal(getattr(self.split(5), name), getattr(self.split(6), name))

    def test_errors(self):
        with pytest.raises(ValueError, match="cannot be drawn from 200 positive and 800 other"):
            self.split(n_positive=121)
        assert self.split(n_positive=121, overlap=True).positive.size == 121
        with pytest.raises(ValueError, match="n_unlabeled=900"):
            self.split(n_unlabeled=900)
        with pytest.raises(ValueError, match=r"test must be one of .*, got 'all'"):
            self.split(test="all")

    @pytest.mark.parametrize(
        ("task", "sizes"),
        [
            ("letter A", (521, 10007, 384)),
            ("letter D", (525, 10050, 402)),
            ("b-cancer", (135, 259, 77)),
            ("course", (482, 4179, 448)),
        ],
    )
    def test_printed_sizes(self, task, sizes, scarce_data):
        X, truth = load_pu_task(task, data_home=scarce_data)
        split = PU_TASKS[task].split(truth, random_state=0)
        hidden = int(truth[split.unlabeled].sum())
        assert (split.positive.size, split.unlabeled.size, hidden) == sizes
        assert X.shape[0] == truth.size
        overlap = np.intersect1d(split.positive, split.unlabeled).size
        assert (overlap > 0) == task.startswith("letter")
        if task == "course":
            assert np.array_equal(split.test, split.unlabeled)
            assert sizes[0] + sizes[2] == int(truth.sum())
        elif task == "b-cancer":
            assert sizes[0] + sizes[2] == int(truth.sum()) == 212
            # The other reading keeps the scales of the columns; the draws are the same.
            raw, _ = load_pu_task("b-cancer, raw", data_home=scarce_data)
            assert raw.max() == 1.0
            np.testing.assert_allclose((raw - raw.mean(axis=0)) / raw.std(axis=0), X, atol=1e-9)
            assert PU_TASKS["b-cancer, raw"].n_positive == sizes[0]
            assert np.array_equal(np.sort(np.append(split.test, split.positive)), np.arange(569))
        else:
            assert not np.isin(split.test, split.train).any()


class TestFewSamples:
    """The splits of the paper on tensors."""

    truth = np.arange(60) % 2 == 0

    @pytest.mark.parametrize("n_train", [2, 4, 6, 8])
    def test_sizes(self, n_train):
        split = few_samples_split(self.truth, n_train, random_state=0)
        assert split.train.size == n_train
        assert self.truth[split.train].all()
        every = np.concatenate([split.train, split.test])
        assert np.array_equal(np.sort(every), np.arange(60))
        assert np.array_equal(split.is_target, self.truth[split.test])

    def test_seeds(self):
        first, again, other = (few_samples_split(self.truth, 8, random_state=s) for s in (0, 0, 1))
        assert np.array_equal(first.train, again.train)
        assert not np.array_equal(first.train, other.train)

    def test_errors(self):
        for wrong in (0, 31):
            with pytest.raises(ValueError, match=f"between 1 and the 30 rows .* got {wrong}"):
                few_samples_split(self.truth, wrong, random_state=0)

    @pytest.mark.parametrize(
        ("task", "rows", "features", "targets"),
        [
            ("Iris", 150, 4, 50),
            ("Breast-Cancer", 683, 9, 444),
            ("Heart", 297, 13, 160),
            ("Imports", 159, 25, 88),
            ("Cancer-Wpbc", 198, 33, 151),
            ("Ionospheres", 351, 34, 225),
            ("Sonar", 208, 60, 97),
            ("Arrhythmia", 420, 278, 237),
        ],
    )
    def test_tasks(self, task, rows, features, targets, scarce_data):
        X, truth = load_few_samples_task(task, data_home=scarce_data)
        assert X.shape == (rows, features)
        assert int(truth.sum()) == targets
        shape = FEW_SAMPLES_TASKS[task].tensor_shape
        assert np.prod(shape) >= features > np.prod(np.subtract(shape, 1))
        low, high = X.min(axis=0), X.max(axis=0)
        varies = low < high
        assert np.all(low[varies] == -1)
        assert np.all(high[varies] == 1)
        assert not X[:, ~varies].any()


@pytest.mark.parametrize(
    "loader", [load_group_task, load_pu_task, load_one_class_task, load_few_samples_task]
)
def test_unknown_task(loader):
    with pytest.raises(ValueError, match=r"task must be one of .*; got 'nothing'"):
        loader("nothing")
