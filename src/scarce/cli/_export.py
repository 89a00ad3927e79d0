"""A model file as something that other programs read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scarce.cli._table_options import check_free


def add(commands: Any) -> None:
    """Add the command to a parser."""
    export = commands.add_parser(
        "export",
        help="write a model for programs that know no Python",
        description="Write the model of a model file, with the steps before it, as a graph of "
        "plain ONNX operators, and say what its inputs and outputs are.",
    )
    export.add_argument(
        "model", type=Path, metavar="MODEL", help="a file that scarce fit or scarce.save wrote"
    )
    export.add_argument("--onnx", type=Path, required=True, metavar="FILE", help="the graph")
    export.add_argument(
        "--dtype",
        choices=("float32", "float64"),
        default="float32",
        help="numbers of inputs and outputs (default: %(default)s)",
    )
    export.add_argument("--force", action="store_true", help="overwrite files that are there")
    export.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write the graph."""
    # Here, so that `scarce --help` does not wait for the estimators.
    from scarce._model_files import ModelFileError, load, write_whole
    from scarce.io import to_onnx

    check_free(arguments.onnx, force=arguments.force)
    model = load(arguments.model)
    try:
        graph = to_onnx(model, dtype=arguments.dtype)
    except ValueError as error:
        raise ModelFileError(f"{arguments.model}: {error}") from error
    write_whole(arguments.onnx, graph.SerializeToString())
    inputs = [each.name for each in graph.graph.input]
    outputs = [each.name for each in graph.graph.output]
    print(f"wrote {arguments.onnx}: inputs {', '.join(inputs)}; outputs {', '.join(outputs)}")
