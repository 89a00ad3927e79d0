"""The sub-datasets of Xiao, Liu, Yu and Hao (2014): features, and which rows play which part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.data._dataset import Array, Dataset
from papers.data._encode import encode_table
from papers.data._load import load_dataset
from papers.data._one_class_transfer import OneClassTransferSplit, one_class_transfer_split
from papers.data._registry import DATASETS
from papers.data._texts import plain_texts, tfidf

# Activities that are not normal. (LDPA)
ABNORMAL = (
    "falling",
    "on all fours",
    "sitting on the ground",
    "standing up from sitting on the ground",
)
PEOPLE = "ABCDE"
TOPS = ("orgs", "people", "places")  # of Reuters, rarest first


@dataclass(frozen=True)
class OneClassTask:
    """One line of the paper's Tables 1 and 4, in terms of `one_class_transfer_split`."""

    dataset: str
    target: str
    sources: tuple[str, ...]
    negatives: tuple[str, ...] | None = None
    n_negatives: int | str = "balanced"
    n_sources: int | None = None

    def split(
        self, label: Any, *, random_state: Any, max_source: int | None = None
    ) -> OneClassTransferSplit:
        """Draw the paper's split; see `one_class_transfer_split`.

        Parameters
        ----------
        label : array-like of shape (n,)
            Labels of the rows, from `load_one_class_task`.
        random_state : int or Generator
            The seed.
        max_source : int, default=None
            Most rows of a source.

        Returns
        -------
        OneClassTransferSplit
        """
        return one_class_transfer_split(
            label,
            self.target,
            self.sources,
            random_state=random_state,
            negatives=self.negatives,
            n_negatives=self.n_negatives,
            n_sources=self.n_sources,
            max_source=max_source,
        )


COMP = {
    "os": "comp.os.ms-windows.misc",
    "ibm": "comp.sys.ibm.pc.hardware",
    "mac": "comp.sys.mac.hardware",
    "graphics": "comp.graphics",
}
REC = {"autos": "rec.autos", "baseball": "rec.sport.baseball", "hockey": "rec.sport.hockey"}
SCI = {"crypt": "sci.crypt", "med": "sci.med", "space": "sci.space"}
TALK = {
    "religion": "talk.religion.misc",
    "guns": "talk.politics.guns",
    "mideast": "talk.politics.mideast",
}


def _newsgroups() -> dict[str, OneClassTask]:
    """Each group against the others of its category; negatives are all other categories."""
    tasks = {}
    for category in (COMP, REC, SCI, TALK):
        for name, group in category.items():
            tasks[f"NG.{name}"] = OneClassTask(
                "20newsgroups",
                group,
                tuple(other for other in category.values() if other != group),
                tuple(
                    str(other)
                    for other in DATASETS["20newsgroups"].classes
                    if str(other).split(".")[0] != group.split(".")[0]
                ),
            )
    return tasks


def _halves() -> dict[str, OneClassTask]:
    tasks = {}
    for top, name in zip(TOPS, ("orgs", "people", "place"), strict=True):
        for half, other in (("1", "2"), ("2", "1")):
            tasks[f"RT.{name}({half})"] = OneClassTask(f"reuters.{top}", half, (other,), ("other",))
    # The label is the class and the shape of the stalk: e(nlarging) or t(apering).
    for name, kind, opposite in (("edible", "e", "p"), ("poisonous", "p", "e")):
        for number, shape, other in ((1, "e", "t"), (2, "t", "e")):
            tasks[f"MR.{name}({number})"] = OneClassTask(
                "mushroom", kind + shape, (kind + other,), (opposite + shape,)
            )
    return tasks


def _uncertain() -> dict[str, OneClassTask]:
    tasks = {
        f"Isolet({letter})": OneClassTask("isolet", letter, (partner,), n_negatives=300)
        for letter, partner in (("S", "X"), ("X", "S"), ("M", "N"), ("N", "M"))
    }
    for number, person in enumerate(PEOPLE, start=1):
        tasks[f"LDPA({number})"] = OneClassTask(
            "ldpa",
            person,
            tuple(other for other in PEOPLE if other != person),
            (f"{person} abnormal",),
            n_negatives="all",
            n_sources=1,
        )
    return tasks


ONE_CLASS_TASKS = {**_newsgroups(), **_halves(), **_uncertain()}


def load_one_class_task(task: str, *, n_components: int = 100, **where: Any) -> tuple[Array, Array]:
    """Load the rows of a sub-dataset, ready for ``ONE_CLASS_TASKS[task].split``.

    The paper gives no features but those of the files. Ours:

    - *Newsgroups, Reuters*: tf-idf rows of the whole corpus, reduced to `n_components` by
      `TruncatedSVD` and scaled to unit length, because the paper's noise would fill sparse rows.
      Documents of Reuters with labels of several top categories belong to the rarest: orgs, then
      people, then places. The sub-categories are shared out, largest first, each to the half that
      has fewer documents so far; documents in both halves are left out. Negatives are those of the
      other top categories.
    - *Mushroom*: one-hot, without the feature `stalk-shape` that tells the tasks apart. Negatives
      have the target's stalk shape and the other class.
    - *Isolet*: as in the file.
    - *LDPA*: coordinates and the tag, one-hot, of every tenth row, which gives the number of the
      paper. The file is a coarse copy: not results on LDPA.

    Parameters
    ----------
    task : str
        A key of `ONE_CLASS_TASKS`.
    n_components : int, default=100
        Features of texts.
    **where : optional
        `data_home` and `download_if_missing` of `load_dataset`.

    Returns
    -------
    X : ndarray of shape (n, d)
    label : ndarray of str
    """
    if task not in ONE_CLASS_TASKS:
        raise ValueError(f"task must be one of {', '.join(ONE_CLASS_TASKS)}; got {task!r}")
    name, _, top = ONE_CLASS_TASKS[task].dataset.partition(".")
    dataset = load_dataset(name, **where)
    if name == "20newsgroups":
        return reduced_texts(dataset, n_components), dataset.target
    if name == "reuters":
        return reduced_texts(dataset, n_components), reuters_halves(dataset, top)
    if name == "mushroom":
        table = encode_table(dataset, missing="neutral", without=["stalk-shape"])
        return table.data, np.char.add(dataset.target, dataset.labels_of("stalk-shape"))
    if name == "isolet":
        return dataset.data.astype(np.float64), dataset.target
    person = np.array([sequence[0] for sequence in dataset.labels_of("sequence")])
    label = np.where(np.isin(dataset.target, ABNORMAL), np.char.add(person, " abnormal"), person)
    return encode_table(dataset, without=["sequence"]).data[::10], label[::10]


def reduced_texts(dataset: Dataset, n_components: int) -> Array:
    """Return texts as dense rows of unit length; an empty text is the zero row."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    rows = tfidf(plain_texts(dataset))
    # The seed is part of the features: repetitions differ in their rows only.
    return np.asarray(normalize(TruncatedSVD(n_components, random_state=0).fit_transform(rows)))


def reuters_halves(dataset: Dataset, top: str) -> Array:
    """Return "1" or "2" for documents of a half of a top category, "other" or "" for the rest."""
    own = np.full(len(dataset.data), "")
    for name in reversed(TOPS):  # the rarest is written last
        own = np.where(dataset.extra[name].astype(bool), name, own)
    rows = np.flatnonzero(own == top)
    documents = dataset.extra[top][rows]
    names, counts = np.unique([name for labels in documents for name in labels], return_counts=True)
    half: dict[str, str] = {}
    sizes = {"1": 0, "2": 0}
    for i in np.argsort(-counts, kind="stable"):
        smaller = min(sizes, key=lambda key: sizes[key])
        half[names[i]] = smaller
        sizes[smaller] += counts[i]
    label = np.where(own == "", "", "other")
    for i, labels in zip(rows, documents, strict=True):
        found = {half[name] for name in labels}
        label[i] = found.pop() if len(found) == 1 else ""
    return label
