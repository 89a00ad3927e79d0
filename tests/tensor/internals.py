"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.tensor import _machine as machine
from scarce.tensor import _starts
from scarce.tensor._contractions import Tensors, full_tensor
from scarce.tensor._mode_sweeps import ModeSweeps

__all__ = [
    "ModeSweeps",
    "Tensors",
    "_starts",
    "full_tensor",
    "machine",
]
