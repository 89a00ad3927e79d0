"""Generators, loaders and the splits of the papers.

- *Loaders*: `load_dataset` for any set of the table `DATASETS`, with `encode_table`, `plain_texts`
  and `tfidf` to make numbers of it.
- *Generators*: `make_rotated_moons`, `make_positive_unlabeled_clouds`, `label_some_positives`,
  `add_noise`.
- *Protocols*: for each paper a table of its tasks (`ONE_CLASS_TASKS`, `GROUP_TASKS`, `PU_TASKS`,
  `FEW_SAMPLES_TASKS`), a function that loads one and one that draws a split. Where a paper is
  silent these functions say what was chosen.
"""

from scarce.datasets._clouds import make_positive_unlabeled_clouds
from scarce.datasets._dataset import Dataset, DatasetMismatchError, DatasetNotFoundError
from scarce.datasets._encode import encode_table
from scarce.datasets._few_samples import (
    FEW_SAMPLES_TASKS,
    FewSamplesSplit,
    FewSamplesTask,
    few_samples_split,
    load_few_samples_task,
)
from scarce.datasets._group_tasks import (
    GROUP_TASKS,
    GroupTask,
    load_faces_pair,
    load_group_task,
)
from scarce.datasets._group_transfer import (
    GroupTransferData,
    equal_groups,
    group_transfer_split,
)
from scarce.datasets._load import load_dataset
from scarce.datasets._noise import NoisyRows, add_noise
from scarce.datasets._one_class_tasks import ONE_CLASS_TASKS, OneClassTask, load_one_class_task
from scarce.datasets._one_class_transfer import OneClassTransferSplit, one_class_transfer_split
from scarce.datasets._positive_unlabeled import (
    PU_TASKS,
    PositiveUnlabeledSplit,
    PositiveUnlabeledTask,
    load_pu_task,
    positive_unlabeled_split,
)
from scarce.datasets._registry import DATASETS, Entry
from scarce.datasets._rotated import make_rotated_moons, rotate_images, rotated_faces_split
from scarce.datasets._selection import label_some_positives
from scarce.datasets._texts import page_text, plain_texts, tfidf

__all__ = [
    "DATASETS",
    "FEW_SAMPLES_TASKS",
    "GROUP_TASKS",
    "ONE_CLASS_TASKS",
    "PU_TASKS",
    "Dataset",
    "DatasetMismatchError",
    "DatasetNotFoundError",
    "Entry",
    "FewSamplesSplit",
    "FewSamplesTask",
    "GroupTask",
    "GroupTransferData",
    "NoisyRows",
    "OneClassTask",
    "OneClassTransferSplit",
    "PositiveUnlabeledSplit",
    "PositiveUnlabeledTask",
    "add_noise",
    "encode_table",
    "equal_groups",
    "few_samples_split",
    "group_transfer_split",
    "label_some_positives",
    "load_dataset",
    "load_faces_pair",
    "load_few_samples_task",
    "load_group_task",
    "load_one_class_task",
    "load_pu_task",
    "make_positive_unlabeled_clouds",
    "make_rotated_moons",
    "one_class_transfer_split",
    "page_text",
    "plain_texts",
    "positive_unlabeled_split",
    "rotate_images",
    "rotated_faces_split",
    "tfidf",
]
