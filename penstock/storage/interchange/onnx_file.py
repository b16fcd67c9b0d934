"""A model as an ONNX file: the rules of all op types, the graph, the check."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import helper

from penstock.foundation.base import dtypes
from penstock.foundation.base.dtypes import DType
from penstock.foundation.opdef.opdef import OpDef
from penstock.storage.interchange import (
    onnx_arrays,
    onnx_control,
    onnx_elementwise,
    onnx_layers,
    onnx_sparse,
)
from penstock.storage.interchange.model import Model, Unportable, is_resolved
from penstock.storage.interchange.onnx_writer import Rule, Writer, drop_unused

# The newest that onnxruntime of the day runs as a whole.
OPSET, IR = 23, 11
RULES: dict[str, Rule] = {
    **onnx_elementwise.RULES,
    **onnx_arrays.RULES,
    **onnx_layers.RULES,
    **onnx_sparse.RULES,
    **onnx_control.RULES,
}
# A message beyond this cannot be one protobuf: the constants go into a file beside it.
_LARGEST = 1 << 31


def why_not(definition: OpDef) -> str | None:
    """Why an op type has no form in ONNX; None: it has."""
    return None if is_resolved(definition) or definition.name in RULES else "it has no rule"


def onnx_model(model: Model) -> Any:
    """A model as an ONNX ``ModelProto``, checked.

    Raises:
      Unportable: a node has no form in ONNX.
    """
    w = Writer(RULES)
    inputs = []
    for name, tensor in zip(model.inputs, model.step.feeds, strict=True):
        w[tensor] = w.unique(name)
        inputs.append(w.info(w[tensor], _kind(name, tensor.dtype), _dims(name, tensor.sizes)))
    reserved = [w.unique(name) for name in model.outputs]
    onnx_control.note_written(w, model.step, {})
    onnx_control.write_all(w, model.step)
    outputs = []
    for name, made, tensor in zip(model.outputs, reserved, model.step.fetches, strict=True):
        w.outermost.append(helper.make_node("Identity", [w[tensor]], [made], name=made))
        outputs.append(w.info(made, _kind(name, tensor.dtype), _dims(name, tensor.sizes)))
    graph = helper.make_graph(w.outermost, "penstock", inputs, outputs, w.initializers)
    drop_unused(graph)
    made_model = helper.make_model(
        graph, producer_name="penstock", ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )  # fmt: skip
    return made_model


def _kind(name: str, dtype: DType) -> DType:
    base = dtype.base_dtype
    if base in (dtypes.resource, dtypes.variant, dtypes.string) or base.is_complex:
        raise Unportable(f"{name!r} is {base.name}, which is not exported to ONNX")
    return base


def _dims(name: str, sizes: Any) -> Any:
    """Dims with a name for each that is not known."""
    if sizes is None:
        raise Unportable(f"the rank of {name!r} is not known, and ONNX must have it")
    return [f"{name}_{axis}" if size is None else size for axis, size in enumerate(sizes)]


def write_onnx(model: Model, path: str) -> list[str]:
    """Writes a model as an ONNX file.

    Args:
      model: the model.
      path: the file; it ends in ``.onnx``.

    Returns:
      The files written: beyond 2 GB, constants are in a second one.

    Raises:
      Unportable: a node has no form in ONNX.
      ValueError: the path ends otherwise.
    """
    return save_onnx(onnx_model(model), path)


def save_onnx(message: Any, path: str) -> list[str]:
    """Checks and writes a ``ModelProto``; as ``write_onnx``."""
    if not path.endswith(".onnx"):
        raise ValueError(f"an ONNX export is an .onnx file; found {path!r}")
    if message.ByteSize() >= _LARGEST:
        beside = path.rpartition("/")[2] + ".data"
        onnx.save_model(message, path, save_as_external_data=True, location=beside)
        onnx.checker.check_model(path)
        return [path, path + ".data"]
    try:
        onnx.checker.check_model(message, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise Unportable(f"ONNX's checker refuses the graph: {error}") from error
    onnx.save_model(message, path)
    return [path]
