"""Frozen graphs without masks: masked weights become constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.ops.array.messages import make_tensor_proto
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.storage.checkpoint.saver import import_meta_graph
from penstock.storage.export.frozen import convert_variables_to_constants
from penstock.storage.export.sub_graph import extract_sub_graph


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The last checkpoint of a directory as a graph of constants.

    Args:
      checkpoint_dir: the directory, with the MetaGraph beside the checkpoint.
      output_node_names: the nodes that are wanted.

    Returns:
      A GraphDef.

    Raises:
      ValueError: there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if not path:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}")
    with Graph().as_default() as graph:
        saver: Any = import_meta_graph(f"{path}.meta", clear_devices=True)
        with Session() as sess:
            saver.restore(sess, path)
            return convert_variables_to_constants(
                sess, graph.as_graph_def(), list(output_node_names)
            )


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """A frozen graph whose masked weights are constants; masks and thresholds are gone.

    Args:
      input_graph_def: a GraphDef of constants.
      output_node_names: the nodes that are wanted.

    Returns:
      A GraphDef.
    """
    found = _masked_weights(input_graph_def)
    stripped = type(input_graph_def)()
    for node in input_graph_def.node:
        made = stripped.node.add()
        if node.name not in found:
            made.CopyFrom(node)
            continue
        made.name = node.name
        made.op = "Const"
        made.attr["dtype"].CopyFrom(node.attr["T"])
        made.attr["value"].tensor.CopyFrom(make_tensor_proto(found[node.name]))
    stripped.library.CopyFrom(input_graph_def.library)
    stripped.versions.CopyFrom(input_graph_def.versions)
    return extract_sub_graph(stripped, list(output_node_names))


def _masked_weights(graph_def: Any) -> dict[str, Any]:
    names = [node.name for node in graph_def.node if node.name.endswith("masked_weight")]
    with Graph().as_default(), Session() as sess:
        import_graph_def(graph_def, name="")
        return dict(zip(names, sess.run([f"{name}:0" for name in names]), strict=True))
