"""What ONNX's operators are in Penstock: one rule an operator, a family a module."""

from __future__ import annotations

from penstock.storage.interchange import (
    onnx_operators_arrays,
    onnx_operators_control,
    onnx_operators_elements,
    onnx_operators_images,
)
from penstock.storage.interchange.onnx_reader import Rule

RULES: dict[str, Rule] = {
    **onnx_operators_elements.RULES,
    **onnx_operators_images.RULES,
    **onnx_operators_arrays.RULES,
    **onnx_operators_control.RULES,
}
