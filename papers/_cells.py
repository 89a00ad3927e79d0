"""The files a run consists of: one for each finished cell, written at once and atomically."""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from papers._experiment import QUICK, Experiment, Outcome
from scarce._model_files import write_whole

FORMAT = 2


@dataclass(frozen=True)
class Finding:
    """What running a cell gave: the outcomes, and the warnings raised on the way."""

    outcomes: tuple[Outcome, ...]
    remarks: tuple[str, ...] = ()
    version: str = ""
    """Version of scarce that has run the cell, the last if there were several."""
    methods: tuple[str, ...] = ()
    """Methods that were run; one whose grid had nothing feasible has no outcome."""

    def joined(self, later: Finding) -> Finding:
        """Return this with the methods of another run of the same cell."""
        return Finding(
            (*(o for o in self.outcomes if o.method not in later.methods), *later.outcomes),
            tuple(sorted({*self.remarks, *later.remarks})),
            later.version,
            tuple(dict.fromkeys([*self.methods, *later.methods])),
        )


@dataclass(frozen=True)
class Cell:
    """One setting and one repetition of an experiment, and the file its outcomes are kept in."""

    experiment: Experiment
    setting: str
    repetition: int
    seed: int
    path: Path
    grid: str = QUICK

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the experiment's function, but for the methods."""
        return {**self.experiment.settings[self.setting], "seed": self.seed, "grid": self.grid}

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for a file to be this cell's."""
        plain: dict[str, Any] = json.loads(_dumped(self.arguments))
        return {
            "format": FORMAT,
            "experiment": self.experiment.key,
            "setting": self.setting,
            "repetition": self.repetition,
            "arguments": plain,
        }

    @property
    def title(self) -> str:
        """Name of the cell in messages."""
        return f"{self.experiment.key}, {self.setting}, repetition {self.repetition}"

    def read(self) -> Finding | None:
        """Return what is on file; None when there is nothing, or something of another run."""
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if any(content[name] != value for name, value in self.identity.items()):
                return None
            outcomes = tuple(Outcome(**outcome) for outcome in content["outcomes"])
            remarks, methods = tuple(content["remarks"]), tuple(content["methods"])
            return Finding(outcomes, remarks, content.get("version", ""), methods)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None  # a file that is not ours, or not whole: run the cell again

    def write(self, finding: Finding) -> None:
        """Put the finding on file: whole or not at all, whenever the process is killed."""
        write_whole(self.path, _dumped(self.identity | asdict(finding)))


def cell_of(
    experiment: Experiment,
    setting: str,
    repetition: int,
    seed: int,
    folder: Path,
    grid: str = QUICK,
) -> Cell:
    """Return a cell of an experiment whose files are in ``folder``."""
    entropy = [seed, zlib.crc32(experiment.key.encode()), repetition]
    own_seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    name = f"{repetition:03d}" + ("" if grid == QUICK else f"-{grid}")
    return Cell(
        experiment, setting, repetition, own_seed, folder / slug(setting) / f"{name}.json", grid
    )


def slug(text: str) -> str:
    """Return a name for a folder: letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9.]+", plain)
    return "-".join(words) or "all"


def _dumped(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """Turn NumPy's scalars and arrays into JSON's own kinds."""
    convert: Callable[[], Any] | None = getattr(value, "tolist", None)
    if convert is None:
        raise TypeError(f"a cell file holds no {type(value).__name__}: {value!r}")
    return convert()
