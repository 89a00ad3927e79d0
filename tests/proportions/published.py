"""The machines as published, which the papers' values and the generic solver are compared with."""

from typing import Any

import scarce


def GroupProbabilitySVM(**parameters: Any) -> scarce.GroupProbabilitySVM:
    return scarce.GroupProbabilitySVM(**{"cost_per": "group", "calibrate": None, **parameters})


def TransferGroupProbabilitySVM(**parameters: Any) -> scarce.TransferGroupProbabilitySVM:
    published = {"cost_per": "group", "calibrate": None, "C_group": 1.0, "transfer": 1.0}
    return scarce.TransferGroupProbabilitySVM(**{**published, **parameters})
