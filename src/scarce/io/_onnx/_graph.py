"""A graph of ONNX operators while it is being written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from scarce._arrays import Array

OPSET = 19  # the first that compares texts
IR_VERSION = 9  # that came with it
TREES, TREES_OPSET = "ai.onnx.ml", 3


def onnx_module(name: str = "onnx") -> Any:
    """Return a module of the ONNX library, which is an extra."""
    try:
        return import_module(name)
    except ImportError as error:
        message = "to_onnx needs onnx: python -m pip install 'scarce[onnx]'"
        raise ImportError(message) from error


class Graph:
    """Nodes, constants, inputs and outputs, in the order in which they were added.

    ``outside``, ``inside``: floating-point type of inputs and outputs, and that of the computation.
    """

    def __init__(self, outside: Any, inside: Any) -> None:
        self.onnx = onnx_module()
        self.helper = onnx_module("onnx.helper")
        self.outside, self.inside = np.dtype(outside), np.dtype(inside)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def _kind(self, dtype: Any) -> int:
        return int(self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def add_input(self, name: str, shape: tuple[Any, ...], dtype: Any = None) -> str:
        """Add an input, numbers by default; return the name of its values."""
        kind = self._kind(self.outside if dtype is None else dtype)
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["n", *shape]))
        return self.cast(name, self.inside) if dtype is None else name

    def add_output(self, name: str, values: str, shape: tuple[Any, ...], dtype: Any = None) -> None:
        """Add an output, numbers by default."""
        if dtype is None:
            values = self.cast(values, self.outside, always=True)
        self.nodes.append(self.helper.make_node("Identity", [values], [name]))
        kind = self._kind(self.outside if dtype is None else dtype)
        self.outputs.append(self.helper.make_tensor_value_info(name, kind, ["n", *shape]))

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Return the name of a constant, of numbers by default."""
        array: Array = np.asarray(values, dtype=self.inside if dtype is None else dtype)
        name = f"c{len(self.constants)}"
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.ravel()]
            kind = self.onnx.TensorProto.STRING
            self.constants.append(self.helper.make_tensor(name, kind, array.shape, texts))
        else:
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output; return its name."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, values: str, dtype: Any, *, always: bool = False) -> str:
        """Return values in a type; inputs have the outer one."""
        if not always and np.dtype(dtype) == self.outside:
            return values
        return self.node("Cast", values, to=self._kind(dtype))

    # What is needed often.

    def plus(self, values: str, constant: Any) -> str:
        """Add a constant."""
        return self.node("Add", values, self.constant(constant))

    def minus(self, values: str, constant: Any) -> str:
        """Subtract a constant."""
        return self.node("Sub", values, self.constant(constant))

    def times(self, values: str, constant: Any) -> str:
        """Multiply by a constant."""
        return self.node("Mul", values, self.constant(constant))

    def product(self, values: str, matrix: Any) -> str:
        """Multiply by a matrix from the right."""
        return self.node("MatMul", values, self.constant(np.ascontiguousarray(matrix)))

    def total(self, values: str, axis: int, *, keepdims: bool = True) -> str:
        """Return sums along an axis."""
        return self.node("ReduceSum", values, self._axis(axis), keepdims=int(keepdims))

    def largest(self, values: str, axis: int) -> str:
        """Return the largest along an axis, which stays."""
        return self.node("ReduceMax", values, self._axis(axis), keepdims=1)

    def _axis(self, axis: int) -> str:
        return self.constant([axis], np.int64)

    def columns(self, values: str, which: Any) -> str:
        """Return some columns."""
        return self.node("Gather", values, self.constant(which, np.int64), axis=1)

    def squeezed(self, values: str) -> str:
        """Return one column as a vector."""
        return self.node("Squeeze", values, self._axis(1))

    def model(self, properties: dict[str, str]) -> Any:
        """Return the checked model."""
        graph = self.helper.make_graph(
            self.nodes, "scarce", self.inputs, self.outputs, self.constants
        )
        versions = [self.helper.make_opsetid("", OPSET)]
        if any(node.domain == TREES for node in self.nodes):
            versions.append(self.helper.make_opsetid(TREES, TREES_OPSET))
        model = self.helper.make_model(
            graph,
            opset_imports=versions,
            producer_name="scarce",
            ir_version=IR_VERSION,
        )
        self.helper.set_model_props(model, properties)
        self.onnx.checker.check_model(model)
        return model
