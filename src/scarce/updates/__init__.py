"""Rows that keep coming: what `partial_fit` of the kernel estimators shares."""

from scarce.updates._strip import Strip as Strip
from scarce.updates._updated_fit import NO_ROWS as NO_ROWS
from scarce.updates._updated_fit import UpdatedFit as UpdatedFit
from scarce.updates._updated_fit import keeps_rows as keeps_rows

__all__: list[str] = []  # for the other packages of the library, nothing of it is public
