"""Links of the site: to other projects, and from names in the text to their pages.

``inventories/`` has a file for each other project, so that the site is built without a network: its
address and where a name is by default (``$`` is the name), then the names that our pages speak of.
"""

import importlib
import re
import zlib
from pathlib import Path

from scarce._names import HOMES, PACKAGES

INVENTORIES = Path(__file__).parent / "inventories"
# Pages that set our estimators beside others of the same name write their links themselves.
UNTOUCHED = re.compile(
    r"(index|coming_from|migration|changelog|results/.*|guide/index|reference/.*)$"
)
NAME = re.compile(
    r"(?P<theirs>scikit-learn(?:'s)? )?(?<![}\w`\[])`(?P<name>[A-Za-z_][\w.]*)`(?![`\]])"
)
FENCE = re.compile(
    r"(^```.*?^```|^:::.*?$|^#.*?$|^\{[\w-]+\}.*?$|\[[^\]]*\]\([^)]*\)|\$\$.*?\$\$)", re.S | re.M
)


def inventory(text: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the address of a project, and of each of its names the kind and the page."""
    (address, default), *rows = (line.split() for line in text.splitlines())
    return address, [(row[0], row[1], row[2] if len(row) > 2 else default) for row in rows]


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write the inventories as Sphinx reads them; return the setting of intersphinx."""
    folder.mkdir(parents=True, exist_ok=True)
    setting = {}
    for source in sorted(INVENTORIES.glob("*.txt")):
        address, rows = inventory(source.read_text())
        head = f"# Sphinx inventory version 2\n# Project: {source.stem}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        body = "".join(f"{name} py:{kind} 1 {page} -\n" for name, kind, page in rows)
        target = folder / f"{source.stem}.inv"
        target.write_bytes(head.encode() + zlib.compress(body.encode()))
        setting[source.stem] = (address, str(target))
    return setting


def names_of_others() -> dict[str, str]:
    """Return the full names of other projects by themselves, and by their last part."""
    full = [
        name
        for source in INVENTORIES.glob("*.txt")
        for name, _, _ in inventory(source.read_text())[1]
    ]
    return {short: name for name in full for short in (name, name.rpartition(".")[2])}


def names_of_ours() -> dict[str, str]:
    """Return the path under which each public name is documented, by every name it is called."""
    paths = {name: f"scarce.{name}" for name in HOMES}
    for package in PACKAGES:
        for name in importlib.import_module(f"scarce.{package}").__all__:
            paths.setdefault(name, f"scarce.{package}.{name}")
    return paths | {path: path for path in paths.values()}


def link_names(page: str, text: str, ours: dict[str, str], others: dict[str, str]) -> str:
    """Return the text of a page with links where it names a class or a function in backticks."""
    if UNTOUCHED.match(page):
        return text

    def linked(match: re.Match[str]) -> str:
        name, theirs = match["name"], match["theirs"] or ""
        path = others.get(name) if theirs or name not in ours else ours[name]
        return f"{theirs}{{py:obj}}`{name} <{path}>`" if path else match[0]

    parts = FENCE.split(text)
    return "".join(part if n % 2 else NAME.sub(linked, part) for n, part in enumerate(parts))


def own_anchors(body: str) -> str:
    """Return a page of source code with back links to the anchors that pages of names have.

    viewcode takes all names of a module for names of one package; ours may be documented under two.
    """

    def with_own(match: re.Match[str]) -> str:
        head, page, anchor = match.groups()
        if not anchor.startswith(page):
            anchor = page + anchor.partition("." + page.rpartition(".")[2])[2]
        return f'{head}{anchor}"'

    return re.sub(r'(href="[^"]*/generated/([\w.]+)\.html#)([\w.]+)"', with_own, body)


def breakable(body: str) -> str:
    """Return a page in which names and calls may break between their words."""

    def marked(match: re.Match[str]) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\w[_(=./])(?=\w)", "<wbr>", match[0])

    return re.sub(r'(?<=<span class="pre">)[^<]+|(?<=<h1>)\w+', marked, body)
