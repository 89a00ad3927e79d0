"""The splits of the paper on group probabilities: one set in two, and rotated faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.data._dataset import Array
from scarce.datasets import GroupTransferData, equal_groups
from scarce.datasets._group_transfer import number_common, partly_moved


def group_transfer_split(
    X: Any,
    y: Any,
    *,
    random_state: Any,
    source_share: float = 0.3,
    target_share: float = 0.3,
    common: float = 0.2,
    group_size: int = 8,
) -> GroupTransferData:
    """Split one data set into a source and a target that share some rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    y : array-like of shape (n,)
        Labels 0 and 1.
    random_state : int or Generator
        The seed.
    source_share, target_share : float, default=0.3
        Size of the domains, as proportions of the rows.
    common : float, default=0.2
        Number of common rows, as a proportion of the source's. They count in both domains;
        the other
        rows of the domains are different ones. (The paper gives the shares only.)
    group_size : int, default=8
        Size of the random groups; rows left over are in none.

    Returns
    -------
    GroupTransferData
        The target begins with its common rows.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import group_transfer_split
    >>> split = group_transfer_split(np.eye(100), np.arange(100) % 2, random_state=0)
    >>> split.X_source.shape, split.X_target.shape, int(split.is_common.sum())
    ((30, 100), (30, 100), 6)
    """
    X, y = np.asarray(X), np.asarray(y)
    rng = np.random.default_rng(random_state)
    n_source, n_target = round(source_share * len(X)), round(target_share * len(X))
    n_common = number_common(common, n_source)
    if n_source < 1 or n_target < n_common or n_source + n_target - n_common > len(X):
        raise ValueError(
            f"source_share={source_share}, target_share={target_share} and common={common} cannot "
            f"be had from {len(X)} rows: {n_source} and {n_target} rows with {n_common} in common"
        )
    order = rng.permutation(len(X))
    source = order[:n_source]
    target = np.concatenate([order[:n_common], order[n_source:][: n_target - n_common]])
    return GroupTransferData(
        X[source],
        y[source],
        X[target],
        y[target],
        is_common=np.arange(n_target) < n_common,
        groups=equal_groups(n_target, group_size, random_state=rng),
    )


def rotated_faces_split(
    images: Any,
    y: Any,
    *,
    random_state: Any,
    angle: float = 10.0,
    common: float = 0.2,
    group_size: int = 8,
) -> GroupTransferData:
    """Split face images of two people: upright ones the source, the same rotated the target.

    Parameters
    ----------
    images : array-like of shape (n, height, width)
        Images of two people.
    y : array-like of shape (n,)
        Labels 0 and 1.
    random_state : int or Generator
        The seed.
    angle : float, default=10.0
        Degrees, counter-clockwise.
    common : float, default=0.2
        Share of the images that are not rotated and so belong to both domains.
    group_size : int, default=8
        Size of the random groups; rows left over are in none.

    Returns
    -------
    GroupTransferData
        Rows are images as vectors. Row i of the target is row i of the source, rotated unless it
        is common.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import rotated_faces_split
    >>> images = np.random.default_rng(0).random((20, 4, 4))
    >>> split = rotated_faces_split(images, np.arange(20) % 2, random_state=0)
    >>> split.X_target.shape, int(split.is_common.sum()), split.shares.size
    ((20, 16), 4, 2)
    """
    images = np.asarray(images)
    return partly_moved(
        images.reshape(len(images), -1),
        np.asarray(y),
        rotate_images(images, angle).reshape(len(images), -1),
        common=common,
        group_size=group_size,
        rng=np.random.default_rng(random_state),
    )


def rotate_images(images: Any, angle: float) -> Array:
    """Rotate images counter-clockwise about their centre, keeping their size.

    Parameters
    ----------
    images : array-like of shape (n, height, width)
        Images, the first row on top.
    angle : float
        Degrees.

    Returns
    -------
    ndarray of the same shape
        By linear interpolation; what comes from outside the image is 0. The paper gives neither.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import rotate_images
    >>> rotate_images(np.array([[[1.0, 0.0], [0.0, 0.0]]]), 90).round(6)
    array([[[0., 0.],
            [1., 0.]]])
    """
    from scipy.ndimage import rotate

    images = np.asarray(images)
    return np.asarray(rotate(images, angle, axes=(2, 1), reshape=False, order=1))
