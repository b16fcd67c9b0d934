"""GraphDefs cut down to what serves: from given inputs to given outputs, without training nodes.

Folding and fusing, which TensorFlow's tool does as well, is what every step does here, so that the
nodes stay as they were written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.storage.export.sub_graph import extract_sub_graph, remove_training_nodes


def strip_unused(
    input_graph_def: Any,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> Any:
    """What is between inputs and outputs; the inputs become placeholders.

    Args:
      input_graph_def: the ``GraphDef``.
      input_node_names, output_node_names: names of nodes.
      placeholder_type_enum: the number of the placeholders' dtype; or one for each.

    Returns:
      A new ``GraphDef``.

    Raises:
      ValueError: a name is of a tensor.
      KeyError: an input is not there.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    types = placeholder_type_enum
    if not isinstance(types, Sequence):
        types = [types] * len(input_node_names)
    by_name = dict(zip(input_node_names, types, strict=True))
    made = GraphDef()
    made.library.CopyFrom(input_graph_def.library)
    made.versions.CopyFrom(input_graph_def.versions)
    for node in input_graph_def.node:
        if node.name in by_name:
            placeholder = made.node.add(name=node.name, op="Placeholder")
            placeholder.attr["dtype"].type = by_name[node.name]
            if "_output_shapes" in node.attr:
                placeholder.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
            if "shape" in node.attr:
                placeholder.attr["shape"].CopyFrom(node.attr["shape"])
        else:
            made.node.add().CopyFrom(node)
    return extract_sub_graph(made, list(output_node_names))


def optimize_for_inference(
    input_graph_def: Any,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> Any:
    """``strip_unused``, and without nodes that only training needs.

    Args:
      input_graph_def, input_node_names, output_node_names, placeholder_type_enum: as there.
      toco_compatible: accepted for TensorFlow's sake.

    Returns:
      A new ``GraphDef``.
    """
    stripped = strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    return remove_training_nodes(stripped, output_node_names)
