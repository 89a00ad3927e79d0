"""The machines as their papers have them, for tests of what the papers say."""

from typing import Any

from scarce import UOCTSVM, OneClassSTM, TransferOneClassSVM


def transfer(**parameters: Any) -> TransferOneClassSVM:
    """Return a machine cut at the scores of its recorded training rows."""
    published = {"offset": "original", "gamma": "scale", "relation": "keep"}
    return TransferOneClassSVM(**{**published, **parameters})


def uoct(**parameters: Any) -> UOCTSVM:
    """Return the same in the paper's parameters."""
    return UOCTSVM(**{"offset": "original", **parameters})


def one_class_stm(**parameters: Any) -> OneClassSTM:
    """Return a machine of rank one for samples as they are, cut at its training scores."""
    published = {"rank": 1, "normalize": False, "offset": "training"}
    return OneClassSTM(**{**published, **parameters})
