"""Part of a paper: one table, one setting, some methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from papers._cells import slug
from papers._experiment import Paper


def narrowed(paper: Paper, only: str | None) -> Paper:
    """Return a paper with one of its tables, or one setting of a table.

    Parameters
    ----------
    paper : Paper
        The whole.
    only : str or None
        ``TABLE`` or ``TABLE/SETTING``. Case, spaces and other signs do not matter, so that
        "table1/letter_A" is the setting "letter A" of "table-1". A setting that is not found so
        may be the beginning of several. None: everything.
    """
    if only is None:
        return paper
    table, _, setting = only.partition("/")
    keys = _matching(table, [experiment.key for experiment in paper.experiments])
    if not keys:
        known = ", ".join(experiment.key for experiment in paper.experiments)
        raise ValueError(f"--only must name a table of {paper.key}: {known}; got {table!r}")
    chosen = []
    for experiment in paper.experiments:
        if experiment.key not in keys:
            continue
        names = _matching(setting, experiment.settings) if setting else list(experiment.settings)
        if not names:
            known = "; ".join(experiment.settings)
            raise ValueError(
                f"--only must name a setting of {experiment.key}: {known}; got {setting!r}"
            )
        settings = {name: experiment.settings[name] for name in names}
        # Who asks for a setting wants it in a quick run, too.
        quick = () if setting else experiment.quick_settings
        printed = {key: value for key, value in experiment.printed.items() if key[0] in settings}
        quick_methods = () if setting else experiment.quick_methods
        chosen.append(
            replace(
                experiment,
                settings=settings,
                quick_settings=quick,
                quick_methods=quick_methods,
                printed=printed,
            )
        )
    return replace(paper, experiments=tuple(chosen))


def with_methods(paper: Paper, methods: Sequence[str] | None) -> Paper:
    """Return a paper with some methods only; tables that have none of them are left out.

    Parameters
    ----------
    paper : Paper
        The whole.
    methods : sequence of str or None
        Names of methods, as `narrowed` reads names, but whole. None: all.
    """
    if methods is None:
        return paper
    every = dict.fromkeys(name for e in paper.experiments for name in e.methods)
    wanted = []
    for name in methods:
        found = [method for method in every if _plain(method) == _plain(name)]
        if not found:
            raise ValueError(
                f"--methods must be among those of {paper.key}: {'; '.join(every)}; got {name!r}"
            )
        wanted += found
    chosen = []
    for experiment in paper.experiments:
        names = tuple(name for name in experiment.methods if name in wanted)
        if names:
            printed = {key: v for key, v in experiment.printed.items() if key[1] in names}
            chosen.append(replace(experiment, methods=names, quick_methods=(), printed=printed))
    return replace(paper, experiments=tuple(chosen))


def with_quick_methods(paper: Paper) -> tuple[Paper, list[str]]:
    """Return a paper with the methods of a quick run, and a line on each table that has fewer."""
    lines = []
    chosen = []
    for experiment in paper.experiments:
        kept = experiment.quick_methods or experiment.methods
        late = [name for name in experiment.methods if name not in kept]
        if late:
            lines.append(f"{experiment.title}, columns: {'; '.join(late)} (quick run)")
        printed = {key: v for key, v in experiment.printed.items() if key[1] in kept}
        chosen.append(replace(experiment, methods=kept, printed=printed))
    return replace(paper, experiments=tuple(chosen)), lines


def _plain(name: str) -> str:
    return slug(name).replace("-", "").replace(".", "")


def _matching(wanted: str, names: Iterable[str]) -> list[str]:
    names = list(names)
    exact = [name for name in names if _plain(name) == _plain(wanted)]
    return exact or [name for name in names if _plain(name).startswith(_plain(wanted))]
