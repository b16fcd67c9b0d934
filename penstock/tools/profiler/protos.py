"""A view as the message that ``tf.profiler`` returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from penstock.foundation.base import dtypes
from penstock.foundation.formats.tfprof_messages import GraphNodeProto, MultiGraphNodeProto
from penstock.tools.profiler.nodes import NodeStats
from penstock.tools.profiler.views import ViewNode

# Key of a number -> the field's name, which totals have with "total_" before it.
_FIELDS = {
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "params": "parameters",
    "float_ops": "float_ops",
}


def graph_node_proto(root: ViewNode) -> Any:
    """A ``scope`` or ``graph`` view as a GraphNodeProto."""
    return _tree(root, GraphNodeProto(), _fill_graph_node)


def multi_graph_node_proto(root: ViewNode) -> Any:
    """An ``op`` or ``code`` view as a MultiGraphNodeProto."""
    return _tree(root, MultiGraphNodeProto(), _fill_multi_node)


def _tree(root: ViewNode, message: Any, fill: Any) -> Any:
    stack = [(root, message)]
    while stack:
        node, target = stack.pop()
        fill(target, node)
        stack.extend((child, target.children.add()) for child in node.children)
    return message


def _fill_graph_node(message: Any, node: ViewNode) -> None:
    message.name = node.name
    _fill_numbers(message, node.own, "")
    _fill_numbers(message, node.total, "total_")
    message.run_count = node.own["runs"]
    message.total_run_count = node.total["runs"]
    message.total_definition_count = node.total["definitions"]
    if node.stats is not None:
        _describe(message, node.stats)


def _fill_multi_node(message: Any, node: ViewNode) -> None:
    message.name = node.name
    _fill_numbers(message, node.own, "")
    _fill_numbers(message, node.total, "total_")
    for member in node.members:
        one = message.graph_nodes.add(name=member.name, run_count=member.runs)
        _fill_numbers(one, member.numbers, "")
        _fill_numbers(one, member.numbers, "total_")
        one.total_run_count, one.total_definition_count = member.runs, 1
        _describe(one, member)


def _fill_numbers(message: Any, numbers: dict[str, int], prefix: str) -> None:
    for key, field in _FIELDS.items():
        setattr(message, prefix + field, numbers[key])


def _describe(message: Any, stats: NodeStats) -> None:
    message.devices.extend(stats.devices)
    if stats.shape is not None:
        message.shapes.append(_shape_proto(stats.shape))
    for index, dims in stats.input_shapes.items():
        message.input_shapes[index].CopyFrom(_shape_proto(dims))
    if stats.value is not None and stats.value.size <= 1:
        _fill_value(message.tensor_value, stats.value)


def _shape_proto(dims: tuple[int, ...]) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=d) for d in dims])


def _fill_value(message: Any, value: np.ndarray) -> None:
    """Scalars only: what is larger can be read from the graph."""
    message.dtype = dtypes.as_dtype(value.dtype).as_datatype_enum
    items = value.ravel().tolist()
    if value.dtype.kind in "biu":
        message.value_int64.extend(int(v) for v in items)
    elif value.dtype.kind == "f":
        message.value_double.extend(items)
