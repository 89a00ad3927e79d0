"""Pages from templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scarce._model_files import write_whole


def report_page(task: Any, model: Any) -> str:
    """Return the page of a fit."""
    from scarce.cli.report._content import report_content

    return page("report.html", report_content(task, model))


def write_stories(path: Path, stories: list[dict[str, Any]]) -> None:
    """Write a page of stories, one picture and one sentence each.

    ``stories``: head, sentence, picture, commands and link of each.
    """
    write_whole(path, page("stories.html", {"stories": stories}))


def page(name: str, content: dict[str, Any]) -> str:
    """Return a template with its values; all texts are escaped but the pictures."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("scarce.cli.report", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return environment.get_template(name).render(content)
