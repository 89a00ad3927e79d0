"""The four stories of the demonstration: a table each, its commands, a picture and a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scarce._arrays import Array
from scarce.cli.report import _pictures as pictures

Told = tuple[str, str]
ORDER = ("--order", "file")  # so that the truth stands beside each row


@dataclass(frozen=True)
class Story:
    """One story."""

    name: str  # of its files
    head: str  # its title
    commands: tuple[tuple[str, ...], ...]  # arguments of `scarce`, run one after the other
    # takes a folder, writes the tables and returns what is hidden from the commands
    write: Callable[[Path], Any]
    # takes the folder and what was hidden; returns a sentence and a picture
    tell: Callable[[Path, Any], Told]


def _write_pumps(folder: Path) -> Array:
    random = np.random.default_rng(0)

    def readings(n: int, worn: Array) -> pd.DataFrame:
        load = random.uniform(20, 90, n)
        return pd.DataFrame(
            {
                "reading": [f"r{number:03d}" for number in range(n)],
                "load": load.round(1),
                "pressure": (3 + 0.05 * load - 1.2 * worn + random.normal(0, 0.15, n)).round(2),
                "temperature": (35 + 0.3 * load + 9 * worn + random.normal(0, 1.5, n)).round(1),
                "oil": random.choice(["A", "B"], n),
            }
        )

    readings(80, np.zeros(80)).to_csv(folder / "pump.csv", index=False)
    worn = (np.arange(200) % 8 == 3).astype(float)
    readings(200, worn).to_csv(folder / "tonight.csv", index=False)
    return np.asarray(worn > 0)


def _tell_pumps(folder: Path, worn: Array) -> Told:
    table, found = (pd.read_csv(folder / name) for name in ("tonight.csv", "tonight-scores.csv"))
    alarm = np.asarray(found["decision"] == "rejected")
    sentence = (
        f"From 80 readings of a sound pump alone, {(alarm & worn).sum()} of tonight's "
        f"{worn.sum()} readings of a worn one raise an alarm, and {(alarm & ~worn).sum()} of "
        f"{(~worn).sum()} sound ones do, where one in ten was allowed."
    )

    def draw(axes: Any) -> None:
        _two_kinds(axes, table["load"], table["pressure"], ~alarm, ("accepted", "alarm"))
        axes.set_xlabel("load")
        axes.set_ylabel("pressure")

    return sentence, pictures.picture(draw, sentence)


def _write_customers(folder: Path) -> Array:
    random = np.random.default_rng(1)
    good = random.random(500) < 0.3
    n = good.size
    table = pd.DataFrame(
        {
            "customer": [f"c{number:03d}" for number in range(n)],
            "visits": random.poisson(np.where(good, 12, 4)),
            "basket": random.normal(np.where(good, 55, 38), 12).round(2),
            "channel": np.where(random.random(n) < np.where(good, 0.7, 0.3), "shop", "web"),
        }
    )
    table["known"] = ""
    table.loc[np.flatnonzero(good)[:50], "known"] = "loyal"
    table.to_csv(folder / "customers.csv", index=False)
    return good


def _tell_customers(folder: Path, good: Array) -> Told:
    table, found = (pd.read_csv(folder / name) for name in ("customers.csv", "loyal.csv"))
    unknown = table["known"].isna()
    accepted = np.asarray(found["decision"] == "loyal")
    best = found.assign(good=good)[unknown].nlargest(50, "score")
    sentence = (
        f"50 customers are known to be loyal and of 450 nothing is known: of the 50 whom the model "
        f"puts first among them {int(best['good'].sum())} are."
    )

    def draw(axes: Any) -> None:
        jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(table))
        words = ("like the loyal", "not like them")
        _two_kinds(axes, table["visits"] + jitter, table["basket"], accepted, words)
        axes.set_xlabel("visits")
        axes.set_ylabel("basket")

    return sentence, pictures.picture(draw, sentence)


def _write_districts(folder: Path) -> Array:
    random = np.random.default_rng(2)
    district = np.repeat(np.arange(25), 30)
    age = random.normal(35 + district % 7 * 4, 9).clip(18, 90)
    income = random.normal(34 - district % 4 * 3, 7)
    votes = random.random(district.size) < 1 / (1 + np.exp(-(age - 46) / 3 - (income - 30) / 6))
    table = pd.DataFrame({"district": [f"D{n:02d}" for n in district], "age": age.round()})
    table["income"] = income.round(1)
    table["yes"] = pd.Series(votes.astype(float)).groupby(district).transform("mean").round(3)
    table.to_csv(folder / "districts.csv", index=False)
    return np.asarray(votes)


def _tell_districts(folder: Path, votes: Array) -> Told:
    table, found = (pd.read_csv(folder / name) for name in ("districts.csv", "votes.csv"))
    right = np.mean((found["decision"] == "positive") == votes)
    sentence = (
        f"Only the proportion of yes in 25 districts is given, no vote: the model tells who said "
        f"yes, and is right for {right:.0%} of 750 people."
    )

    def draw(axes: Any) -> None:
        means = found.assign(yes=table["yes"]).groupby(table["district"]).mean(numeric_only=True)
        pictures.shares(
            means["yes"].to_numpy(), means["probability"].to_numpy(), np.ones(len(means))
        )(axes)

    return sentence, pictures.picture(draw, sentence, (4.2, 3.6))


def _write_scans(folder: Path) -> Array:
    random = np.random.default_rng(3)
    across, down = np.mgrid[0:12, 0:12]
    pattern = np.exp(-(((across - 5.5) / 3) ** 2)) * (1 + 0.5 * np.sin(down))

    def scans(n: int) -> Array:
        return np.asarray(pattern + 0.25 * random.normal(size=(n, 12, 12)))

    np.savez(folder / "scans.npz", X=scans(15))
    odd = np.arange(60) % 4 == 1
    fresh = scans(60)
    fresh[odd] = fresh[odd].transpose(0, 2, 1)
    np.savez(folder / "fresh.npz", X=fresh)
    return np.asarray(odd)


def _tell_scans(folder: Path, odd: Array) -> Told:
    found = pd.read_csv(folder / "fresh-scores.csv")
    alarm = np.asarray(found["decision"] == "rejected")
    sentence = (
        f"From 15 scans of 12 x 12 points the model learns what a scan looks like: of "
        f"{odd.sum()} turned ones it rejects {(alarm & odd).sum()}, of {(~odd).sum()} others "
        f"{(alarm & ~odd).sum()}."
    )
    kinds = {"as they should be": found["score"][~odd], "turned": found["score"][odd]}
    values = {name: np.asarray(each) for name, each in kinds.items()}
    drawing = pictures.score_histogram(values, 0.0, "accepted", "rejected")
    return sentence, pictures.picture(drawing, sentence)


def _two_kinds(axes: Any, x: Any, y: Any, inside: Array, words: tuple[str, str]) -> None:
    pictures.two_dimensions(np.c_[x, y], inside, words)(axes)


def _fit(table: str, name: str, *options: str) -> tuple[str, ...]:
    return ("fit", table, *options, "--out", f"{name}.skops", "--report", f"{name}.html")


STORIES = (
    Story(
        "pump",
        "Only good readings",
        (
            _fit("pump.csv", "pump", "--id", "reading"),
            ("score", "pump.skops", "tonight.csv", "--out", "tonight-scores.csv", *ORDER),
        ),
        _write_pumps,
        _tell_pumps,
    ),
    Story(
        "customers",
        "A few known, many unknown",
        (
            _fit("customers.csv", "customers", "--id", "customer", "--label", "known"),
            ("score", "customers.skops", "customers.csv", "--out", "loyal.csv", *ORDER),
        ),
        _write_customers,
        _tell_customers,
    ),
    Story(
        "districts",
        "Only proportions of groups",
        (
            _fit("districts.csv", "districts", "--group", "district", "--share", "yes"),
            ("score", "districts.skops", "districts.csv", "--out", "votes.csv", *ORDER),
        ),
        _write_districts,
        _tell_districts,
    ),
    Story(
        "scans",
        "A handful of images",
        (
            _fit("scans.npz", "scans"),
            ("score", "scans.skops", "fresh.npz", "--out", "fresh-scores.csv", *ORDER),
        ),
        _write_scans,
        _tell_scans,
    ),
)
