"""The data sets of the papers, their tasks and splits.

- *Loaders*: `load_dataset` for any set of the table `DATASETS`, with `encode_table`, `plain_texts`
  and `tfidf` to make numbers of it.
- *Protocols*: for each paper a table of its tasks (`ONE_CLASS_TASKS`, `GROUP_TASKS`, `PU_TASKS`,
  `FEW_SAMPLES_TASKS`), a function that loads one and one that draws a split. Where a paper is
  silent these functions say what was chosen.
"""

from papers.data._dataset import Dataset, DatasetMismatchError, DatasetNotFoundError
from papers.data._encode import encode_table
from papers.data._few_samples import (
    FEW_SAMPLES_TASKS,
    FewSamplesSplit,
    FewSamplesTask,
    few_samples_split,
    load_few_samples_task,
)
from papers.data._group_splits import group_transfer_split, rotate_images, rotated_faces_split
from papers.data._group_tasks import GROUP_TASKS, GroupTask, load_faces_pair, load_group_task
from papers.data._load import load_dataset
from papers.data._one_class_tasks import ONE_CLASS_TASKS, OneClassTask, load_one_class_task
from papers.data._one_class_transfer import OneClassTransferSplit, one_class_transfer_split
from papers.data._positive_unlabeled import (
    PU_TASKS,
    PositiveUnlabeledSplit,
    PositiveUnlabeledTask,
    load_pu_task,
    positive_unlabeled_split,
)
from papers.data._registry import DATASETS, Entry
from papers.data._texts import binary_words, page_text, plain_texts, tfidf

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
    "OneClassTask",
    "OneClassTransferSplit",
    "PositiveUnlabeledSplit",
    "PositiveUnlabeledTask",
    "binary_words",
    "encode_table",
    "few_samples_split",
    "group_transfer_split",
    "load_dataset",
    "load_faces_pair",
    "load_few_samples_task",
    "load_group_task",
    "load_one_class_task",
    "load_pu_task",
    "one_class_transfer_split",
    "page_text",
    "plain_texts",
    "positive_unlabeled_split",
    "rotate_images",
    "rotated_faces_split",
    "tfidf",
]
