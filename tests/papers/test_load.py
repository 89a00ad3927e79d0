"""Every data set loads as published; what is missing, damaged or different is named."""

import gzip
import hashlib
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from papers.data import (
    DATASETS,
    Dataset,
    DatasetMismatchError,
    DatasetNotFoundError,
    encode_table,
    load_dataset,
)

# Published figures, typed from the descriptions of the sets: missing cells, complete rows.
GAPS = {
    "letter": (0, 20000),
    "breast_cancer_wisconsin_original": (16, 683),
    "mushroom": (2480, 5644),
    "ionosphere": (0, 351),
    "sonar": (0, 208),
    "heart_cleveland": (6, 297),
    "australian_credit": (0, 690),
    "house_votes_84": (392, 232),
    "imports_85": (59, 159),
    "wpbc": (4, 194),
    "arrhythmia": (408, 68),
    "ldpa": (0, 164860),
}
EMBEDDED = ("digits", "iris", "wdbc")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No folder with data, an empty cache, no network."""

    def refuse(*args, **kwargs):
        raise OSError("no network in tests")

    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", refuse)
    return tmp_path


def write_sonar(folder, rows=208, features=60, n_mines=111):
    """Write a file that has the counts of the sonar set."""
    folder.mkdir(parents=True, exist_ok=True)
    header = [f"band{j}" for j in range(features)] + ["target"]
    lines = [[str(i + j) for j in range(features)] for i in range(rows)]
    for i, line in enumerate(lines):
        line.append("M" if i < n_mines else "R")
    path = folder / "sonar.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("\n".join(map(",".join, [header, *lines])) + "\n")
    return path


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_real_file_has_published_counts(name, scarce_data):
    entry = DATASETS[name]
    dataset = load_dataset(name, data_home=scarce_data, download_if_missing=False)
    assert len(dataset.data) == len(dataset.target) == entry.rows
    assert dataset.data.shape[1:] == entry.shape
    if entry.file:
        path = scarce_data / entry.file
        assert dataset.source == str(path)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256
    for values in dataset.extra.values():
        assert len(values) == entry.rows


@pytest.mark.parametrize("name", sorted(GAPS))
def test_missing_values_are_nan(name, scarce_data):
    dataset = load_dataset(name, data_home=scarce_data)
    missing = np.isnan(dataset.data)
    assert (int(missing.sum()), int((~missing.any(axis=1)).sum())) == GAPS[name]
    assert len(encode_table(dataset).data) == GAPS[name][1]


def test_table_against_pandas(scarce_data):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(scarce_data / "imports_85.csv.gz")
    dataset = load_dataset("imports_85", data_home=scarce_data)
    assert list(dataset.feature_names) == list(frame.columns[:-1])
    for j, name in enumerate(dataset.feature_names):
        if name in dataset.categories:
            expected = frame[name].fillna("").to_numpy(dtype=str)
            assert np.array_equal(dataset.labels_of(name), expected)
        else:
            np.testing.assert_array_equal(dataset.data[:, j], frame[name].to_numpy(dtype=float))


def test_text_extras(scarce_data):
    webkb = load_dataset("webkb", data_home=scarce_data)
    universities = Counter(webkb.extra["university"].tolist())
    assert universities == {
        "cornell": 867,
        "texas": 827,
        "washington": 1205,
        "wisconsin": 1263,
        "misc": 4120,
    }
    assert webkb.data[0].startswith("MIME-Version")


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_need_nothing(name, nowhere):
    dataset = load_dataset(name)
    assert dataset.source == "scikit-learn"
    assert len(dataset.data) == DATASETS[name].rows


def test_iris_of_the_file_and_of_scikit_learn_differ_in_three_cells(scarce_data, nowhere):
    theirs, ours = load_dataset("iris"), load_dataset("iris", data_home=scarce_data)
    assert np.array_equal(theirs.target, ours.target)
    assert int((theirs.data != ours.data).sum()) == 3


@pytest.mark.parametrize("name", sorted(set(DATASETS) - set(EMBEDDED)))
def test_error_names_file_places_and_origin(name, nowhere, monkeypatch):
    monkeypatch.setenv("SCARCE_DATA", str(nowhere / "data"))
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset(name)
    message = str(caught.value)
    entry = DATASETS[name]
    places = (str(nowhere / "data"), str(nowhere / "cache" / "scarce"))
    for part in (entry.file, *places, "SCARCE_DATA", entry.origin, entry.licence):
        assert part in message
    if entry.openml or name == "20newsgroups":
        assert "no network in tests" in message
        assert isinstance(caught.value.__cause__, OSError)


def test_new_attempts_at_a_download_are_quiet(nowhere, monkeypatch):
    def fetch(**arguments):
        warnings.warn("A network error occurred while downloading it. Retrying...", stacklevel=1)
        raise OSError("no network in tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DatasetNotFoundError, match="no network in tests"):
        load_dataset("sonar")


def test_looking_creates_no_folder(nowhere):
    with pytest.raises(DatasetNotFoundError):
        load_dataset("sonar")
    assert not list(nowhere.iterdir())


def test_no_download_when_not_allowed(nowhere, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: pytest.fail("downloaded"))
    with pytest.raises(DatasetNotFoundError, match="download_if_missing=False"):
        load_dataset("sonar", download_if_missing=False)


def test_unknown_name(nowhere):
    with pytest.raises(ValueError, match=r"one of 20newsgroups, .*; got 'sonra'"):
        load_dataset("sonra")


def test_order_of_places(nowhere, monkeypatch):
    cached = write_sonar(nowhere / "cache" / "scarce")
    assert load_dataset("sonar").source == str(cached)
    named = write_sonar(nowhere / "variable")
    monkeypatch.setenv("SCARCE_DATA", str(named.parent))
    assert load_dataset("sonar").source == str(named)
    given = write_sonar(nowhere / "argument")
    assert load_dataset("sonar", data_home=given.parent).source == str(given)
    # An argument replaces the variable, and the cache stays.
    assert load_dataset("sonar", data_home=nowhere / "empty").source == str(cached)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rows": 207}, "rows .* found 207, expected 208"),
        ({"features": 59}, r"features .* found \(59,\), expected \(60,\)"),
        ({"n_mines": 110}, r"classes .* found \{'M': 110, 'R': 98\}, expected \{'M': 111"),
    ],
)
def test_other_counts_are_an_error(change, what, nowhere):
    write_sonar(nowhere, **change)
    with pytest.raises(DatasetMismatchError, match=what):
        load_dataset("sonar", data_home=nowhere)


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [_cut, _flip, lambda _: b"", lambda _: b"<html>404</html>"])
@pytest.mark.parametrize("name", ["sonar", "yale"])
def test_damaged_file(name, damage, nowhere):
    path = write_sonar(nowhere)
    if name == "yale":
        path = nowhere / "yale_32x32.npz"
        images = np.random.default_rng(0).integers(255, size=(165, 32, 32), dtype=np.uint8)
        np.savez_compressed(path, X=images, y=np.repeat(np.arange(1, 16, dtype=np.uint8), 11))
        assert load_dataset(name, data_home=nowhere).data.shape == (165, 32, 32)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DatasetMismatchError) as caught:
        load_dataset(name, data_home=nowhere)
    message = str(caught.value)
    for part in (str(path), DATASETS[name].sha256, DATASETS[name].origin):
        assert part in message


def test_archive_with_pickled_objects_is_not_executed(nowhere):
    np.savez(nowhere / "yale_32x32.npz", X=np.array([print], dtype=object), y=np.zeros(1))
    with pytest.raises(DatasetMismatchError, match="pickle"):
        load_dataset("yale", data_home=nowhere)


def test_openml_download(nowhere, monkeypatch):
    """Categories come as codes in OpenML's order, labels under OpenML's names."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(435, 16)).astype(float)
    codes[3, 5] = np.nan
    seen = []

    def fetch(**arguments):
        seen.append(arguments)
        return Bunch(
            data=codes,
            target=np.array(["democrat"] * 267 + ["republican"] * 168, dtype=object),
            feature_names=[f"vote{j}" for j in range(16)],
            categories={f"vote{j}": ["y", "n"] for j in range(16)},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    votes = load_dataset("house_votes_84")
    assert seen == [{"data_id": 56, "as_frame": False, "parser": "liac-arff"}]
    assert votes.source == "OpenML 56"
    assert votes.categories["vote0"] == ("n", "y")
    expected = np.where(np.isnan(codes), np.nan, 1.0 - codes)  # sorted: n, y
    np.testing.assert_array_equal(votes.data, expected)


def test_openml_labels_and_numeric_categories(nowhere, monkeypatch):
    def fetch(**arguments):
        return Bunch(
            data=np.column_stack([np.full(208, 1.0), np.ones((208, 59))]),
            target=np.array(["Rock"] * 97 + ["Mine"] * 111, dtype=object),
            feature_names=[f"band{j}" for j in range(60)],
            categories={"band0": ["7", "9"]},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    sonar = load_dataset("sonar")
    assert not sonar.categories
    assert np.all(sonar.data[:, 0] == 9.0)  # a category that is a number is that number
    assert Counter(sonar.target.tolist()) == {"M": 111, "R": 97}


def test_wrong_download_is_noticed(nowhere, monkeypatch):
    def fetch(**arguments):
        return Bunch(
            data=np.ones((10, 60)),
            target=np.array(["Rock"] * 10),
            feature_names=[f"band{j}" for j in range(60)],
            categories={},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DatasetMismatchError, match="OpenML 40 has other rows"):
        load_dataset("sonar")


def test_newsgroups_download(nowhere, monkeypatch):
    names = list(DATASETS["20newsgroups"].classes)
    counts = list(DATASETS["20newsgroups"].classes.values())
    labels = np.repeat(np.arange(20), counts)

    def fetch(subset, shuffle):
        rows = labels[:11314] if subset == "train" else labels[11314:]
        return Bunch(data=[f"text {i}" for i in rows], target=rows, target_names=names)

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    news = load_dataset("20newsgroups")
    assert Counter(news.extra["split"].tolist()) == {"train": 11314, "test": 7532}
    assert news.data[-1] == "text 19"
    assert news.target[-1] == "talk.religion.misc"


def test_class_counts_of_the_table_add_up():
    for name, entry in DATASETS.items():
        if name != "reuters":
            assert sum(entry.classes.values()) == entry.rows, name
        assert bool(entry.file) == bool(entry.sha256)


class TestEncoding:
    """Categories and gaps."""

    table = Dataset(
        "toy",
        np.array([[1.0, 0.0, 2.0], [3.0, np.nan, 0.0], [np.nan, 1.0, np.nan], [5.0, 1.0, 2.0]]),
        np.array(list("abab")),
        ("size", "sex", "kind"),
        {"sex": ("f", "m"), "kind": ("3", "6", "7")},
        {"row": np.arange(4)},
    )

    def test_drop(self):
        encoded = encode_table(self.table)
        np.testing.assert_array_equal(encoded.data, [[1, 0, 0, 0, 1], [5, 1, 0, 0, 1]])
        assert encoded.feature_names == ("size", "sex", "kind=3", "kind=6", "kind=7")
        assert encoded.target.tolist() == ["a", "b"]
        assert encoded.extra["row"].tolist() == [0, 3]

    def test_impute(self):
        encoded = encode_table(self.table, missing="impute", one_hot=False)
        # Median of 1, 3, 5; most frequent m; most frequent 7, written as the number it is.
        np.testing.assert_array_equal(encoded.data, [[1, 0, 7], [3, 1, 3], [3, 1, 7], [5, 1, 7]])

    def test_neutral(self):
        encoded = encode_table(self.table, missing="neutral", without=["size"])
        np.testing.assert_array_equal(
            encoded.data, [[0, 0, 0, 1], [0.5, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 1]]
        )

    def test_neutral_is_not_for_numbers(self):
        with pytest.raises(ValueError, match="cannot fill 'size'"):
            encode_table(self.table, missing="neutral")
        with pytest.raises(ValueError, match="cannot fill 'kind'"):
            encode_table(self.table, missing="neutral", one_hot=False, without=["size"])

    def test_errors(self):
        with pytest.raises(ValueError, match=r"missing must be one of .* got 'mean'"):
            encode_table(self.table, missing="mean")
        with pytest.raises(ValueError, match=r"no feature of toy: \['colour'\]"):
            encode_table(self.table, without=["colour"])


def test_folder_argument_may_be_text(nowhere):
    write_sonar(nowhere)
    assert Path(load_dataset("sonar", data_home=str(nowhere)).source).parent == nowhere
