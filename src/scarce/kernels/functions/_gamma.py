"""Kernel widths from the rows: scikit-learn's "scale" with weights, and "neighbors"."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.rows._rows import distinct_rows, row_slices
from scarce.parallel import sum_of_squares

LARGEST_NEIGHBOUR = 5  # the k-th neighbour that a width is taken from, in samples of 100 rows on
FAR_VARIANCES = (
    100.0  # variances that the origin of a variance may be from the mean without a second look
)
NARROWER = 2.0  # times the inverse of that distance: the width that ranks best
COMPARED_ROWS = 2000  # rows whose neighbours are looked for, at most
EPS = float(np.finfo(np.float64).eps)


def scale_gamma(X: Any, weights: Array | None = None) -> float:
    """Return ``1 / (n_features * variance of all entries)``, rows counted by their weights.

    A row of weight 2 counts as the row given twice. Constant data give 1.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The rows.
    weights : ndarray of shape (n,), optional
        Weights, not negative.

    Returns
    -------
    float
        The value of ``gamma``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [2.0]])
    >>> scale_gamma(X) == scale_gamma(X[:2], np.array([1.0, 2.0]))
    True
    """
    n, d = X.shape
    total = (n if weights is None else float(weights.sum())) * d
    if sparse.issparse(X):
        # Two passes: around zero the moments of rows far from it would lose their digits.
        rows = sparse.csr_array(X)
        w = np.ones(n) if weights is None else weights
        per_value = np.repeat(w, np.diff(rows.indptr))
        values = rows.data.astype(np.float64)
        mean = float(per_value @ values) / total
        empty = float(w @ (d - np.diff(rows.indptr)))  # entries that are zero
        values -= mean
        first = float(per_value @ values) - empty * mean  # the mean's own rounding
        second = float(per_value @ values**2) + empty * mean**2
        variance = second / total - (first / total) ** 2
    else:
        # Around a value near the mean, one pass gives both moments without cancellation.
        some = X[:64] if weights is None else X[np.flatnonzero(weights)[:64]]
        origin = float(np.add.reduce(some, axis=None, dtype=np.float64)) / some.size
        mean, variance = _moments(X, weights, origin, total)
        if (mean - origin) ** 2 > FAR_VARIANCES * variance:  # it was none: heavy rows lie elsewhere
            mean, variance = _moments(X, weights, mean, total)
    return gamma_of_variance(mean, variance, d)


def gamma_of_variance(mean: float, variance: float, n_features: int) -> float:
    """Return ``1 / (n_features * variance)``, and 1 for constant data."""
    # Rounding alone can leave a variance of constant data: the mean's last digit, squared.
    noise = (4 * EPS * abs(mean)) ** 2
    gamma = 1.0 / (n_features * variance) if variance > noise else np.inf
    return gamma if gamma < np.inf else 1.0


def _moments(X: Array, weights: Array | None, origin: float, total: float) -> tuple[float, float]:
    """Return mean and variance of all entries, from their differences to an origin."""
    first = second = 0.0
    for rows in row_slices(X):
        tile = np.subtract(X[rows], origin, dtype=np.float64)
        if weights is None:
            first += float(tile.sum())
            second += sum_of_squares(tile)
            continue
        w = weights[rows]
        tile[w == 0] = 0.0  # however far away
        first += float(w @ tile.sum(axis=1))
        second += float(w @ np.einsum("ij,ij->i", tile, tile))
    return origin + first / total, second / total - (first / total) ** 2


def neighbour_distance(X: Any, weights: Array | None = None, metric: str = "sqeuclidean") -> float:
    """Return half the median distance of a row to its k-th neighbour, rows counted by weights.

    Its inverse is the `gamma` called "neighbors": a Gaussian kernel of squared distances has a
    standard deviation of half the distance to that neighbour.

    ``k`` is a twentieth of the number of rows, at least 1 and at most 5; between two whole numbers
    the distances are interpolated, so that a row more or less changes little. Equal rows are one
    row of their summed weight. Of more than 2,000 distinct rows 2,000, always the same, are
    compared with all.

    Returned: half the distance; 0 when there are no two distinct rows.

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_distance(np.array([[0.0], [1.0], [3.0], [3.0]]))
    1.25
    """
    from sklearn.neighbors import NearestNeighbors  # loads half of scikit-learn

    w = np.ones(X.shape[0]) if weights is None else weights
    first, members = distinct_rows(X)
    masses = np.bincount(members, w)
    first, masses = first[masses > 0], masses[masses > 0]
    if first.size < 2:
        return 0.0
    k = min(max(1.0, first.size / 20), LARGEST_NEIGHBOUR)
    near, far = int(np.floor(k)), int(np.ceil(k))
    rows, asked = X[first].astype(np.float64), np.arange(first.size)
    if not sparse.issparse(rows):
        rows -= rows.mean(axis=0)  # far from the origin, squared norms would lose the distances
    if first.size > COMPARED_ROWS:
        asked = np.sort(np.random.default_rng(0).permutation(first.size)[:COMPARED_ROWS])
    plain = "euclidean" if metric == "sqeuclidean" else metric
    search = NearestNeighbors(n_neighbors=far + 1, metric=plain).fit(rows)
    sorted_distances = search.kneighbors(rows[asked])[0]  # the first is the row itself
    if metric == "sqeuclidean":
        sorted_distances **= 2
    distances = (1.0 - k + near) * sorted_distances[:, near] + (k - near) * sorted_distances[:, far]
    return weighted_median(distances, masses[asked]) / NARROWER


def weighted_median(values: Array, weights: Array) -> float:
    """Return the median of values that count by their weights, NumPy's for equal ones."""
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weights[order])
    half, rounding = 0.5 * reached[-1], 1e-9 * reached[-1]
    low = values[np.searchsorted(reached, half - rounding)]
    high = values[np.searchsorted(reached, half + rounding, side="right")]
    return float(0.5 * (low + high))
