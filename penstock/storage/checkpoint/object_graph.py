"""The record of objects that an object-based checkpoint holds, a ``TrackableObjectGraph``.

Nodes are objects; their children have local names; a variable's attribute names the key of its
value.  Keys are paths of local names, ``model/w/.ATTRIBUTES/VARIABLE_VALUE``; a slot of an
optimizer is ``model/w/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import (
    TrackableObjectGraph as TrackableObjectGraph,
)

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"


def read(reader: Any) -> Any:
    """The record in a checkpoint that has one."""
    message = TrackableObjectGraph()
    message.ParseFromString(reader.read(KEY).item())
    return message


def keys_of_names(reader: Any) -> dict[str, str]:
    """Keys of an object-based checkpoint by the names that the variables had."""
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in read(reader).nodes
        for attribute in node.attributes
    }


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def path(names: Iterable[str]) -> str:
    """Local names as the beginning of a key."""
    return "/".join(_escaped(name) for name in names)


def value_key(prefix: str, attribute: str = VALUE) -> str:
    """The key of a variable's value, or of another attribute of an object."""
    return f"{prefix}/.ATTRIBUTES/{attribute}"


def slot_prefix(original: str, optimizer: str, slot_name: str) -> str:
    """The path of an optimizer's slot of a variable."""
    return f"{original}/.OPTIMIZER_SLOT/{optimizer}/{_escaped(slot_name)}"
