"""Generators of problems with scarce labels.

`make_rotated_moons`, `make_positive_unlabeled_clouds`, `label_some_positives`, `add_noise`,
`equal_groups`. Real sets to try things on come with scikit-learn (`sklearn.datasets.load_digits`,
`load_breast_cancer`, `load_wine`); the data sets and splits of the papers are in the package
`papers` of a clone.
"""

from scarce.datasets._clouds import make_positive_unlabeled_clouds
from scarce.datasets._group_transfer import GroupTransferData, equal_groups
from scarce.datasets._noise import NoisyRows, add_noise
from scarce.datasets._rotated import make_rotated_moons
from scarce.datasets._selection import label_some_positives

__all__ = [
    "GroupTransferData",
    "NoisyRows",
    "add_noise",
    "equal_groups",
    "label_some_positives",
    "make_positive_unlabeled_clouds",
    "make_rotated_moons",
]
