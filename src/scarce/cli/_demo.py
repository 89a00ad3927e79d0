"""`scarce demo`: four small tables, the commands run on them, and a page of four stories."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from scarce.cli._outputs import UsageError


def add(commands: Any) -> None:
    """Add the command to a parser."""
    demo = commands.add_parser(
        "demo",
        help="see it work on four small tables",
        description="Write four small tables to a folder, run scarce fit and scarce score on them, "
        "print each command before it runs, and write a page of four stories. Takes a minute or "
        "two and no network.",
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("scarce-demo"),
        metavar="DIR",
        help="(default: scarce-demo)",
    )
    demo.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the commands of every story, then write the page."""
    out: Path = arguments.out
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must name a folder, but {out} is a file")
    from scarce.cli._stories import STORIES
    from scarce.cli.report import write_stories
    from scarce.cli.report._check import check_can_draw

    check_can_draw()
    out.mkdir(parents=True, exist_ok=True)
    told = []
    for story in STORIES:
        print(f"\n== {story.head} ==")
        truth = story.write(out)
        for command in story.commands:
            print(f"\n$ {shlex.join(['scarce', *command])}")
            _run_in(out, command)
        sentence, svg = story.tell(out, truth)
        print(f"\n{sentence}")
        told.append(
            {
                "head": story.head,
                "sentence": sentence,
                "svg": svg,
                "commands": [shlex.join(["scarce", *command]) for command in story.commands],
                "link": f"{story.name}.html",
            }
        )
    page = out / "index.html"
    write_stories(page, told)
    print(f"\nFour stories, one picture each: {page.resolve().as_uri()}")
    print(f"Tables, models, scores and reports: {out.resolve()}")


def _run_in(folder: Path, command: tuple[str, ...]) -> None:
    """Run a command whose files are in a folder."""
    from scarce.cli._main import parser

    files = (".csv", ".npz", ".skops", ".html")
    words = [str(folder / word) if word.endswith(files) else word for word in command]
    arguments = parser().parse_args([*words, "--force"])
    arguments.run(arguments)
