"""Models and tables on their way in and out."""

from scarce.io._onnx import to_onnx

__all__ = ["to_onnx"]
