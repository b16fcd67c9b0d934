"""All op types as ``OpDef`` messages, as packages that look into graphs ask for them."""

from __future__ import annotations

from functools import cache
from typing import Any

from tensorboard.compat.proto import op_def_pb2

from penstock.foundation.base import errors
from penstock.foundation.opdef.registry import all_ops
from penstock.storage.export.op_list import op_def_message


@cache
def get_registered_ops() -> dict[str, Any]:
    """The ``OpDef`` of every op type by its name."""
    return {name: op_def_message(op) for name, op in all_ops().items() if not op.internal}


def register_op_list(op_list: Any) -> None:
    """Checks that op types are here; others have no kernel, and a message does not bring one.

    Raises:
      tf.errors.NotFoundError: one is not.
    """
    for op in op_list.op:
        if op.name not in get_registered_ops():
            raise errors.NotFoundError(
                None, None, f"op type {op.name!r} is not here; docs/writing-an-op.md says how to"
                " define one"
            )  # fmt: skip


def serialized_op_list() -> bytes:
    """All op types as the bytes of an ``OpList``, where TensorFlow gives a buffer of its C API."""
    listed = op_def_pb2.OpList(op=get_registered_ops().values())
    return bytes(listed.SerializeToString())


def bytes_of_buffer(buffer: bytes) -> bytes:
    """What is in a buffer: these are bytes already."""
    return buffer
