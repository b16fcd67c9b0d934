"""All op types as one message of bytes, where TensorFlow gives a buffer of its C API."""

from __future__ import annotations

from tensorboard.compat.proto import op_def_pb2

from penstock.storage.export.op_registry import get_registered_ops


def serialized_op_list() -> bytes:
    """All op types as the bytes of an ``OpList``."""
    listed = op_def_pb2.OpList(op=get_registered_ops().values())
    return bytes(listed.SerializeToString())


def bytes_of_buffer(buffer: bytes) -> bytes:
    """What is in a buffer: these are bytes already."""
    return buffer
