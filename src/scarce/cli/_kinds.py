"""Which estimator suits what is given."""

from __future__ import annotations

import argparse

from scarce.cli._errors import UsageError

KINDS = ("one-class", "transfer", "pu", "groups", "tensor", "classify", "regress", "open-set")
LABELLED = (
    "classify",
    "regress",
    "open-set",
)  # chosen by --kind alone: a label may also be that of some rows
# What says that a kind is meant.
SIGNS = {
    "transfer": ("source", "domain", "radius"),
    "pu": ("unlabelled", "label", "positive", "negative"),
    "groups": ("group", "share", "shares", "source_model"),
}
NEEDS = {
    "transfer": (("source", "domain", "radius"), "--source TABLE, --domain COLUMN or --radius"),
    "pu": (("unlabelled", "label"), "--unlabelled TABLE, or --label COLUMN"),
    "groups": (("group",), "--group COLUMN and --share COLUMN or --shares TABLE"),
    "classify": (("label",), "--label COLUMN"),
    "regress": (("label",), "--label COLUMN"),
    "open-set": (("label",), "--label COLUMN"),
}


def chosen_kind(arguments: argparse.Namespace) -> str:
    """Return the kind that was asked for, or that the options and the table say."""
    given = {
        kind: [name for name in names if getattr(arguments, name) not in (None, [])]
        for kind, names in SIGNS.items()
    }
    meant = [kind for kind, names in given.items() if names]
    if len(meant) > 1:
        options = " and ".join(_option(given[kind][0]) for kind in meant)
        kinds = " and ".join(f"--kind {kind}" for kind in meant)
        raise UsageError(f"{options} do not go together: they are for {kinds}")
    found: str = meant[0] if meant else "one-class"
    kind: str = arguments.kind or found
    if kind in LABELLED and given["pu"] == ["label"]:
        found = kind
    if meant and kind != found:
        useless = [name for name in given[found] if kind not in LABELLED or name != "label"]
        raise UsageError(f"--kind {kind} has no use for {_option(useless[0])}")
    if kind in NEEDS and not any(getattr(arguments, name) for name in NEEDS[kind][0]):
        raise UsageError(f"{kind} needs {NEEDS[kind][1]}")
    if kind in ("pu", "groups", "classify", "regress") and arguments.false_alarms is not None:
        raise UsageError(
            f"--false-alarms is for one-class, transfer, tensor and open-set, not for {kind}"
        )
    if kind not in ("one-class", "transfer") and arguments.contamination:
        raise UsageError(f"--contamination is for one-class and transfer, not for {kind}")
    if arguments.per is not None:
        useless = [name for name in ("tune", "report") if getattr(arguments, name)]
        if kind != "one-class" or useless:
            other = _option(useless[0]) if useless else f"--kind {kind}"
            raise UsageError(f"--per is for one-class models, and does not go with {other}")
    return kind


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
