"""`scarce fit`: from a table on disk to a model file."""

from __future__ import annotations

import argparse
import os
import sys
import time
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scarce.cli._outputs import NoAnswerError, UsageError, counted_fits, told, warnings_told
from scarce.cli._table_options import (
    add_table_options,
    at_least,
    check_free,
    column_list,
    contamination,
    row_limit,
    share,
)
from scarce.cli.report._check import check_can_draw

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
        raise UsageError(f"{options} cannot be used together: they are for {kinds}")
    found: str = meant[0] if meant else "one-class"
    kind: str = arguments.kind or found
    if kind in LABELLED and given["pu"] == ["label"]:
        found = kind
    if meant and kind != found:
        useless = [name for name in given[found] if kind not in LABELLED or name != "label"]
        raise UsageError(f"--kind {kind} does not take {_option(useless[0])}")
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
            raise UsageError(f"--per is for one-class models and cannot be used with {other}")
    return kind


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


MOST_ROWS = 20_000  # a fit of more takes long, and hardly changes
DESCRIPTION = """\
Learn a model from a table. The options you give, beside --out FILE, select the model:
  scarce fit good.csv                                 all rows belong to one class
  scarce fit good.csv --per COLUMN                    one class, a model for each value
  scarce fit good.csv --unlabelled unknown.csv        rows of a class, and some that may be of it
  scarce fit all.csv --label COLUMN --positive VALUE  the same in one table
  scarce fit rows.csv --label COLUMN --kind classify  a class for each row
  scarce fit rows.csv --label COLUMN --kind open-set  a class for each row, or none of them
  scarce fit rows.csv --label COLUMN --kind regress   a number for each row
  scarce fit target.csv --source related.csv          few rows, more of related tasks
  scarce fit rows.csv --group COLUMN --share COLUMN   proportions of groups only
  scarce fit images.npz                               samples that are matrices, of one class
"""


def add(commands: Any) -> None:
    """Add the command to a parser."""
    fit = commands.add_parser(
        "fit",
        help="learn a model from a table",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.add_argument(
        "table", type=Path, metavar="TABLE", help="CSV, Parquet, Feather, Arrow, .npy or .npz"
    )
    fit.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model file")
    fit.add_argument("--report", type=Path, metavar="FILE.html", help="a page to look at")
    fit.add_argument("--kind", choices=KINDS, help="insist on what is learnt")

    pu = fit.add_argument_group("positive and unlabelled rows")
    pu.add_argument(
        "--unlabelled", type=Path, metavar="TABLE", help="rows that may belong to the class"
    )
    pu.add_argument("--label", metavar="COLUMN", help="the column with labels")
    pu.add_argument("--positive", metavar="VALUE", help="the label of positive rows")
    pu.add_argument(
        "--negative",
        metavar="VALUE|none",
        help="the label of rows that were checked and do not belong to the class",
    )

    transfer = fit.add_argument_group("few rows, more of related tasks")
    transfer.add_argument(
        "--source", type=Path, action="append", default=[], metavar="TABLE", help="may be repeated"
    )
    transfer.add_argument(
        "--domain",
        metavar="COLUMN",
        help="task of each row: a negative number or the word target, and others for sources",
    )
    transfer.add_argument(
        "--radius",
        metavar="NUMBER|COLUMN|knn",
        help="how far values may be off, in standard deviations of the scaled columns",
    )

    groups = fit.add_argument_group("proportions of groups")
    groups.add_argument("--group", metavar="COLUMN", help="the group of each row")
    groups.add_argument(
        "--share", metavar="COLUMN", help="proportion of positives in the row's group"
    )
    groups.add_argument(
        "--shares",
        type=Path,
        metavar="TABLE",
        help="one line per group: its name and its proportion",
    )
    groups.add_argument(
        "--source-model", type=Path, metavar="FILE", help="a model of a related domain"
    )

    columns = fit.add_argument_group("columns")
    columns.add_argument("--id", metavar="COLUMN", help="names of rows, not learnt from")
    columns.add_argument(
        "--per", metavar="COLUMN", help="a model for each of its values: devices, wards, customers"
    )
    columns.add_argument("--weight", metavar="COLUMN", help="how much each row counts")
    columns.add_argument("--features", type=column_list, metavar="A,B,...", help="these alone")
    columns.add_argument("--drop", type=column_list, metavar="A,B,...", help="all but these")
    columns.add_argument(
        "--dates", action="store_true", help="learn from dates: days, hours and weekdays"
    )

    fit.add_argument(
        "--false-alarms",
        type=share,
        metavar="SHARE",
        help="of new rows of the class that may be rejected (default: 0.1)",
    )
    fit.add_argument(
        "--contamination",
        type=contamination,
        default=0.0,
        metavar="0|auto|PROPORTION",
        help="rows that may not belong to the class; odd ones are not learnt from (default: 0)",
    )
    fit.add_argument("--params", type=Path, metavar="FILE.toml", help="parameters, name = value")
    fit.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one parameter"
    )
    fit.add_argument("--tune", action="store_true", help="choose parameters by held-out rows")
    fit.add_argument(
        "--rows",
        type=row_limit,
        default=MOST_ROWS,
        metavar="N|all",
        help=f"how many to learn from at most, chosen at random (default: {MOST_ROWS:,})",
    )
    fit.add_argument(
        "--seed",
        type=at_least(0),
        default=0,
        metavar="N",
        help="of all that is random (default: 0)",
    )
    add_table_options(fit)
    fit.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, fit, write."""
    check_free(arguments.out, force=arguments.force)
    if arguments.report is not None:
        check_free(arguments.report, force=arguments.force)
        check_can_draw()
    from scarce.cli.tasks import make_task

    kind = chosen_kind(arguments)
    if kind == "open-set" and arguments.report is not None:
        raise UsageError("--report is not for open-set: scarce score lists its rows")
    parameters = read_parameters(arguments.params, arguments.set)
    task = make_task(kind, arguments)
    set_parameters(task.estimator, parameters)
    print(f"{name_of(task)}, because {task.why}")
    for line in task.notes:
        print(f"note: {line}")
    if task.plan.columns:
        print()
        print("\n".join(task.plan.lines()))
        print()
    sys.stdout.flush()
    start = time.perf_counter()
    number = n_fits(task, arguments)
    with warnings_told(), counted_fits(type(task.estimator), number):
        if arguments.tune:
            from scarce.cli._tune import tune

            print(f"tuned: {tune(task)}")
        model = fitted(task, arguments.false_alarms, arguments.contamination)
        if kind in LABELLED:
            from scarce.cli.tasks._labelled import held_out

            task.facts["held out"] = held_out(task)
    seconds = time.perf_counter() - start
    from scarce.cli._words import counted, left_out, promise, quality

    wide = f" and {counted(len(task.plan.types), 'column')}" if task.plan.types else ""
    print(f"learnt from {counted(task.n_rows, 'row')}{wide} in {seconds:.1f} s")
    for line in (*promise(task, model), *left_out(task, model), quality(model)):
        print(line)
    write(task, model, arguments)


def write(task: Any, model: Any, arguments: argparse.Namespace) -> None:
    """Write the model and, if one is wanted, the report: both or none."""
    from scarce._model_files import save_described, whole_file

    written = {"fit": description(task, model, arguments)}
    with ExitStack() as outputs:
        if arguments.report is not None:
            from scarce.cli.report import report_page

            content = report_page(task, model).encode()
            draft = outputs.enter_context(whole_file(arguments.report))
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # all but the name: that is given after the model's
        save_described(model, arguments.out, written)
    print(f"model: {arguments.out}")
    if arguments.report is not None:
        print(f"report: {arguments.report}")


def n_fits(task: Any, arguments: argparse.Namespace) -> int | None:
    """Return how many fits there will be, None if that is not known."""
    if arguments.tune or arguments.contamination or arguments.per or task.kind == "transfer":
        return None
    if task.calibrated:
        from scarce.held_out import left_out_parts

        return 1 + len(left_out_parts(task.n_rows))
    from scarce.cli.tasks._labelled import FOLDS

    return 1 + FOLDS if task.kind in LABELLED else 1


def name_of(task: Any) -> str:
    """Return the estimator's name, with what is around it."""
    name = type(task.estimator).__name__
    many = f", {len(set(task.groups))} models" if task.groups is not None else ""
    return f"{name}, calibrated by held-out rows{many}" if task.calibrated else name


def fitted(task: Any, false_alarms: float | None, contamination: float | str = 0.0) -> Any:
    """Return the fitted model of a task.

    ``false_alarms``: proportion of new rows that may be rejected; None for the default.
    ``contamination``: proportion of the rows that may not belong to the class.
    """
    from scarce import CalibratedOneClass, PerGroup
    from scarce._frame import InvalidParameterError

    model = task.pipeline
    rate: dict[str, Any] = {} if false_alarms is None else {"false_alarms": false_alarms}
    if task.calibrated:
        model = CalibratedOneClass(model, contamination=contamination, **rate)
        if task.groups is not None:
            model = PerGroup(model)
    elif rate:
        task.estimator.set_params(**rate)
    try:
        return model.fit(task.X, task.y, **task.fit_parameters)
    except InvalidParameterError as error:
        raise UsageError(told(str(error))) from None
    except ValueError as error:
        raise NoAnswerError(told(str(error))) from None


def description(task: Any, model: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the model file says of the fit."""
    from scarce.cli._info import of_model
    from scarce.cli._words import dropped_rows

    files = [arguments.table, arguments.unlabelled, *arguments.source, arguments.shares]
    return {
        "kind": task.kind,
        "why": task.why,
        "files": [path.name for path in files if path is not None],
        "rows": task.n_rows,
        "rows of the tables": sum(rows.total or len(rows) for rows in task.tables) or task.n_rows,
        "rows left out": [str(each) for each in task.ids[dropped_rows(model)]],
        "columns": task.plan.as_dicts(),
        "shape": [int(size) for size in task.facts.get("shape", ())],
        "id": task.id_name,
        "missing": arguments.missing,
        "label": arguments.label,
        "per": arguments.per,
        "seed": arguments.seed,
        "model": of_model(model),
    }


def read_parameters(path: Path | None, settings: list[str]) -> dict[str, Any]:
    """Return the parameters of a TOML file, and of settings, which count for more.

    ``path``: a file of lines ``name = value``. ``settings``: texts ``name=value``, the values as in
    TOML; what is none is text.
    """
    found: dict[str, Any] = {}
    if path is not None:
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            from scarce.io import TableError

            raise TableError(f"{path} is not TOML: {error}") from None
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--set takes name=value, got {setting!r}")
        found[name.strip()] = _value(value.strip())
    return found


def set_parameters(estimator: Any, parameters: dict[str, Any]) -> Any:
    """Set parameters of an estimator, or say which it has."""
    known = estimator.get_params(deep=False)
    for name in parameters:
        if name not in known:
            raise UsageError(
                f"{type(estimator).__name__} has no parameter {name!r}; it has {', '.join(known)}"
            )
    return estimator.set_params(**parameters)


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
