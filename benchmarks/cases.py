"""The cases: which problem, on which data, against which target.

A target is the least ratio (scikit-learn's time / ours) that the project asks of itself; it counts
as met only if our KKT violation is within ``tol`` and our objective is not worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data import is_available

TOL = 1e-3
NUS = (0.01, 0.1, 0.5)
DTYPES = ("float32", "float64")
MODES = ("quick", "standard", "full")


@dataclass(frozen=True)
class Case:
    """One row (or one row a peer) of the table.

    Attributes
    ----------
    kind : {"fit", "score", "approximate"}
    data, n, d
        Arguments of `benchmarks.data.load`.
    problem : {"one_class", "svc", "nu_svc"}
    params : dict
        Parameters of the estimator, besides ``tol``.
    modes : tuple of str
        The modes of the command that run the case.
    target : float or None
        Least ratio of times to reach.
    max_peak_mb : float or None
        Most memory the process may take.
    growth : str or None
        Cases of the same `growth` differ in `n` only; an exponent is fitted over them.
    max_growth : float or None
        Exponent to stay below.
    peers, memory : bool
        Whether other libraries run too; whether memory is measured.
    """

    name: str
    dtype: str
    data: str
    n: int
    d: int
    problem: str = "one_class"
    params: dict[str, Any] = field(default_factory=dict)
    kind: str = "fit"
    modes: tuple[str, ...] = ("full",)
    target: float | None = None
    max_peak_mb: float | None = None
    growth: str | None = None
    max_growth: float | None = None
    peers: bool = True
    memory: bool = False

    @property
    def label(self) -> str:
        """Name with precision, what ``--cases`` matches."""
        return f"{self.name} {self.dtype}"


def all_cases() -> list[Case]:
    """Return every case whose data can be had."""
    generators = (one_class, wide, text, classification, scoring, large, approximate)
    cases = (case for generate in generators for case in generate())
    return [case for case in cases if is_available(case.data)]


def one_class() -> Iterator[Case]:
    """Few features, from a hundred rows to 50,000."""
    targets = {
        (20_000, "float32"): {0.01: 5, 0.1: 20, 0.5: 40},
        (20_000, "float64"): {0.01: 4, 0.1: 10, 0.5: 15},
        (50_000, "float32"): {0.1: 50, 0.5: 50},
        (50_000, "float64"): {0.1: 25, 0.5: 25},
    }
    for n in (100, 500, 2_000, 10_000, 20_000, 50_000):
        modes = MODES if n <= 2_000 else MODES[1:] if n <= 20_000 else MODES[2:]
        for nu in NUS:
            for dtype in DTYPES:
                known = targets.get((n, dtype), {}).get(nu)
                yield Case(
                    name=f"one-class {n}x16 nu={nu:g}",
                    dtype=dtype,
                    data="mixture",
                    n=n,
                    d=16,
                    params={"nu": nu},
                    modes=modes,
                    target=1 if n <= 2_000 else known,
                    growth=f"one-class, nu={nu:g}" if n >= 2_000 else None,
                    memory=n in (2_000, 20_000) and nu == 0.1,
                )
    for nu in NUS:
        for dtype in DTYPES:
            yield Case(
                name=f"one-class letter nu={nu:g}",
                dtype=dtype,
                data="letter",
                n=20_000,
                d=16,
                params={"nu": nu},
                modes=MODES[1:],
                target=targets[20_000, dtype][nu],
            )


def wide() -> Iterator[Case]:
    """Hundreds of features."""
    for dtype in DTYPES:
        for nu in NUS:
            known = {"float32": 20, "float64": 15}[dtype] if nu == 0.1 else None
            yield Case(
                name=f"one-class 7.8kx617 nu={nu:g}",
                dtype=dtype,
                data="isolet",
                n=7_797,
                d=617,
                params={"nu": nu},
                modes=MODES[1:],
                target=known,
                memory=nu == 0.1,
            )
        for nu in NUS:
            yield Case(
                name=f"one-class 5kx1024 nu={nu:g}",
                dtype=dtype,
                data="mixture",
                n=5_000,
                d=1_024,
                params={"nu": nu},
                modes=MODES[1:],
            )
    yield Case(
        name="one-class 1kx256 nu=0.1",
        dtype="float32",
        data="mixture",
        n=1_000,
        d=256,
        params={"nu": 0.1},
        modes=("quick",),
    )


def text() -> Iterator[Case]:
    """Sparse rows, linear kernel."""
    sizes = [("text", 1_000, 5_000, ("quick",))]
    sizes += [(data, 10_000, 20_000, MODES[1:]) for data in ("text", "newsgroups")]
    for data, n, d, modes in sizes:
        for nu in NUS if n == 10_000 else (0.1,):
            for dtype in DTYPES:
                yield Case(
                    name=f"one-class {data} {n}x{d} linear nu={nu:g}",
                    dtype=dtype,
                    data=data,
                    n=n,
                    d=d,
                    params={"nu": nu, "kernel": "linear"},
                    modes=modes,
                    target=50 if n == 10_000 else None,
                    memory=data == "text" and n == 10_000 and nu == 0.1,
                )


def classification() -> Iterator[Case]:
    """C-SVC and nu-SVC, with little and with much overlap of the classes."""
    for n in (2_000, 20_000):
        modes = ("quick",) if n == 2_000 else MODES[1:]
        for dtype in DTYPES:
            c_targets = {"float32": {1.0: 5, 100.0: 3}, "float64": {1.0: 3, 100.0: 2}}[dtype]
            nu_targets = {0.2: 15, 0.05: 6} if dtype == "float32" else {}
            for data in ("easy", "hard", "letter"):
                if data == "letter" and n != 20_000:
                    continue
                size = f"{n}x16 {data}"
                for C, target in c_targets.items():
                    yield Case(
                        name=f"C-SVC {size} C={C:g}",
                        dtype=dtype,
                        data=data,
                        n=n,
                        d=16,
                        problem="svc",
                        params={"C": C},
                        # The slowest peer run of all: minutes, for the noise is fitted.
                        modes=MODES[2:] if data == "hard" and C > 1 and n > 2_000 else modes,
                        target=target if n == 20_000 else None,
                        memory=n == 20_000 and data == "easy" and C == 1,
                    )
                if data == "hard":  # below the share of overlap nu-SVC has only w = 0
                    continue
                for nu in (0.2, 0.05):
                    yield Case(
                        name=f"nu-SVC {size} nu={nu:g}",
                        dtype=dtype,
                        data=data,
                        n=n,
                        d=16,
                        problem="nu_svc",
                        params={"nu": nu},
                        modes=modes,
                        target=nu_targets.get(nu) if n == 20_000 else None,
                    )


def scoring() -> Iterator[Case]:
    """As many new rows as there were training rows."""
    for n in (2_000, 20_000):
        for nu in (0.1, 0.5):
            for dtype in DTYPES:
                yield Case(
                    name=f"scoring {n} new rows nu={nu:g}",
                    dtype=dtype,
                    data="mixture",
                    n=n,
                    d=16,
                    params={"nu": nu},
                    kind="score",
                    modes=("quick",) if n == 2_000 else MODES[1:],
                    target={"float32": 20, "float64": 15}[dtype] if n == 20_000 else None,
                )


def large() -> Iterator[Case]:
    """Ours alone, up to 200,000 rows: does time grow slower than n^1.4, in less than 2 GB?"""
    for n in (12_500, 25_000, 50_000, 100_000, 200_000):
        yield Case(
            name=f"one-class large {n}x16 nu=0.1",
            dtype="float32",
            data="mixture",
            n=n,
            d=16,
            params={"nu": 0.1},
            growth="one-class large, nu=0.1",
            max_growth=1.4,
            max_peak_mb=2_048 if n == 200_000 else None,
            peers=False,
            memory=n == 200_000,
        )


def approximate() -> Iterator[Case]:
    """The low-rank path against scikit-learn's Nystroem and SGDOneClassSVM."""
    for n, d, m, modes in ((20_000, 20, 100, ("quick",)), (1_000_000, 50, 500, ("full",))):
        yield Case(
            name=f"approximate {n}x{d} m={m} nu=0.1",
            dtype="float32",
            data="mixture",
            n=n,
            d=d,
            params={"nu": 0.1, "n_components": m},
            kind="approximate",
            modes=modes,
            target=1,
        )
