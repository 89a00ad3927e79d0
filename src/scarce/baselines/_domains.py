"""Which rows are of a source, and which of the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._data import split_domains
from scarce._frame import num_samples


def source_rows(sample_domain: Any, X: Any) -> Array | None:
    """Return whether each row is of a source; None when all rows are of one domain.

    Values of at least 0 are sources, one negative value is the target.
    """
    if sample_domain is None:
        return None
    domains, positions = split_domains(sample_domain, num_samples(X))
    if domains.size == 1:
        raise ValueError(
            "sample_domain must mark labelled rows of a source by values of at least 0, got only "
            "negative values; leave it out when all rows are of one domain"
        )
    return np.asarray(positions > 0)


def require_weight(weights: Array, source: Array) -> None:
    """Refuse a domain of which no row takes part."""
    for name, members in (("source", source), ("target", ~source)):
        if not weights[members].any():
            raise ValueError(f"every row of the {name} has sample_weight 0; give some of them more")
