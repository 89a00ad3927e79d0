"""Tasks of a sample: which rows belong to the target and which to the sources."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array

TARGET = -1  # how the target is called in `domains_`, whatever negative value it was given as


def split_domains(sample_domain: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the domains, the target first, and each row's position among them.

    Values of at least 0 are sources, each value one task; negative ones are the target, of which
    only one value may occur. No domains at all mean that every row is of the target.
    """
    if sample_domain is None:
        return np.array([TARGET]), np.zeros(n_rows, np.int64)
    values = checked_domains(sample_domain, n_rows)
    targets = np.unique(values[values < 0])
    if targets.size != 1:
        raise ValueError(
            "sample_domain must mark the rows of one target by one negative value, got "
            + (f"the negative values {targets.tolist()}" if targets.size else "no negative value")
        )
    sources = np.unique(values[values >= 0])
    domains = np.concatenate([[TARGET], sources])
    return domains, np.where(values < 0, 0, 1 + np.searchsorted(sources, values))


def check_no_domains(y: Any, sample_domain: Any) -> None:
    """Refuse domains that were given as `y`, where they would be ignored.

    Labels of outliers and inliers, -1 and 1, are no domains.
    """
    if y is None or sample_domain is not None:
        return
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or not np.all(values == np.trunc(values)):
        return
    seen = np.unique(values)
    if seen.size > 1 and (seen[0], seen[1] >= 0) == (TARGET, True) and seen.tolist() != [-1, 1]:
        raise ValueError(
            f"y holds {seen[:5].tolist()}, which looks like domains, and y is ignored; give them "
            "by name: fit(X, sample_domain=...)"
        )


def known_tasks(sample_domain: Any, domains: Array, n_rows: int) -> Array:
    """Return the position among fitted domains of each row to be scored; the target by default."""
    if sample_domain is None:
        return np.zeros(n_rows, np.int64)
    values = checked_domains(sample_domain, n_rows)
    values = np.where(values < 0, TARGET, values)
    unknown = np.setdiff1d(values, domains)
    if unknown.size:
        raise ValueError(
            f"sample_domain holds {unknown.tolist()}, which no row had in fit; known are negative "
            f"values (the target) and {domains[1:].tolist()}"
        )
    return np.searchsorted(domains, values)


def checked_domains(sample_domain: Any, n_rows: int) -> Array:
    """Return one whole number per row."""
    values = np.asarray(sample_domain)
    if values.shape != (n_rows,):
        raise ValueError(
            f"sample_domain must have one value per row, {n_rows}, got shape {values.shape}"
        )
    numbers = np.issubdtype(values.dtype, np.number) and np.isfinite(values).all()
    if not numbers or not (values == np.round(values)).all():
        raise ValueError(
            "sample_domain must hold whole numbers: at least 0 for a source, negative for the "
            f"target; got {values.dtype} such as {values[:3].tolist()}"
        )
    return values.astype(np.int64)
