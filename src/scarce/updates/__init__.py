"""Rows that keep coming: `partial_fit` of the kernel estimators."""

from scarce.updates._margin import UpdatedMargin as UpdatedMargin
from scarce.updates._updated_fit import UpdatedFit as UpdatedFit
from scarce.updates._updated_fit import UpdatedOneClass as UpdatedOneClass
from scarce.updates._updated_fit import keeps_rows as keeps_rows

__all__: list[str] = []  # for the other packages of the library, nothing of it is public
