"""Looking at objects and checkpoints: which there are, and how they hang together."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.storage.checkpoint import object_graph
from penstock.storage.checkpoint.trackable import Listing


def list_objects(root_trackable: Any) -> list[Any]:
    """The objects that a checkpoint of an object is made of, itself first.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     root = tf.train.Checkpoint(v=tf.Variable(1.0, name="v"))
      ...     tf.contrib.checkpoint.list_objects(root)[1].name
      'v:0'
    """
    return list(Listing(root_trackable).objects)


def object_metadata(save_path: str) -> Any:
    """The record of the objects in a checkpoint, a ``TrackableObjectGraph``.

    Args:
      save_path: the checkpoint.

    Raises:
      ValueError: a ``tf.train.Saver`` wrote it.
      tf.errors.NotFoundError: there is none.
    """
    reader = open_checkpoint(save_path)
    if object_graph.KEY not in reader.names():
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is'
            f' missing the key "{object_graph.KEY}"). Likely it was created with a name-based'
            " saver and does not contain an object dependency graph."
        )
    return object_graph.read(reader)


def dot_graph_from_checkpoint(save_path: str) -> str:
    """The objects of a checkpoint as a graph in the language of Graphviz.

    Args:
      save_path: the checkpoint.

    Returns:
      The text: points are objects, blue ones variables, red ones optimizers, orange ones slots.

    Raises:
      ValueError: a ``tf.train.Saver`` wrote it.
      tf.errors.NotFoundError: there is none.
    """
    record = object_metadata(save_path)
    reader = open_checkpoint(save_path)
    slots = {slot.slot_variable_node_id for node in record.nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(record.nodes):
        look = _look(node, reader, number in slots)
        lines.append(f'N_{number} [shape=point label=""{look}]')
        lines += [
            f'N_{number} -> N_{child.node_id} [label="{child.local_name}"]'
            for child in node.children
        ]
        for slot in node.slot_variables:
            at = slot.slot_variable_node_id
            lines.append(f'N_{number} -> N_{at} [label="{slot.slot_name}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{at} [style=dotted]")
    return "\n".join([*lines, "}", ""])


def _look(node: Any, reader: Any, is_slot: bool) -> str:
    if node.slot_variables:
        return ' width=.25 color=red,tooltip="Optimizer"'
    for attribute in node.attributes:
        if attribute.name == object_graph.VALUE:
            shape = list(reader.shape(attribute.checkpoint_key))
            kind = dtypes.as_dtype(reader.dtype(attribute.checkpoint_key)).name
            what, color = ("Slot variable ", "orange") if is_slot else ("Variable ", "blue")
            tip = f"{what}{attribute.full_name} shape={shape} {kind}"
            return f' color={color} width=.25 tooltip="{tip}"'
    return " width=.25"
