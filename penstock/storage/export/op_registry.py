"""The op types that there are, as programs list them: name by name, with ``OpDef`` messages.

State: op types that a program listed beside those that Penstock has; nodes of them cannot be made.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.opdef.registry import all_ops
from penstock.storage.export.op_list import op_def_message

_listed: dict[str, Any] = {}


def get_registered_ops() -> dict[str, Any]:
    """From the names of op types to their ``OpDef`` messages."""
    known = {name: op_def_message(op) for name, op in all_ops().items() if not op.internal}
    return _listed | known


def register_op_list(op_list: Any) -> None:
    """Lists op types that others define.

    Args:
      op_list: an ``OpList``.

    Raises:
      TypeError: it is none.
      ValueError: two definitions of one name differ.
    """
    if type(op_list).__name__ != "OpList":
        raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
    known = get_registered_ops()
    for definition in op_list.op:
        if known.setdefault(definition.name, definition) != definition:
            raise ValueError(
                f"Registered op_def for {definition.name} ({known[definition.name]}) not equal to"
                f" op_def to register ({definition})"
            )
        _listed[definition.name] = definition
