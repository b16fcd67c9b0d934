"""Bytes of messages taken apart and made: tensors, ``Example`` messages, states of readers.

What is malformed is a ValueError here; callers name the op that was given it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from penstock.foundation.base import dtypes
from penstock.foundation.formats.schema import Example, ReaderBaseState
from penstock.foundation.formats.tensor_proto import to_array


def parse(message: Any, data: bytes) -> Any:
    """A message of a class, from its bytes.

    Raises:
      ValueError: the bytes are no such message.
    """
    try:
        return message.FromString(data)
    except DecodeError as error:
        raise ValueError(str(error)) from None


def parse_tensor(data: bytes) -> tuple[dtypes.DType, np.ndarray]:
    """Type and values of a serialized ``TensorProto``.

    Raises:
      ValueError: the bytes are no such message.
    """
    message = parse(TensorProto, data)
    return dtypes.as_dtype(message.dtype), to_array(message)


def tensor_bytes(dtype: dtypes.DType, shape: tuple[int, ...], content: Any) -> bytes:
    """A tensor as a serialized ``TensorProto``.

    Args:
      dtype: its type.
      shape: its shape.
      content: a list of byte strings for a string tensor, else the bytes of the values.

    Returns:
      The bytes that TensorFlow writes.
    """
    message = TensorProto(dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    if isinstance(content, bytes):
        message.tensor_content = content
    else:
        message.string_val.extend(content)
    made: bytes = message.SerializeToString()
    return made


def example_from_json(text: bytes) -> bytes:
    """A serialized ``Example`` from its JSON form.

    Raises:
      ValueError: it is malformed.
    """
    if not text.lstrip().startswith(b"{"):  # an empty list would do for an empty message
        raise ValueError(f"an object is expected; found {text[:20]!r}")
    try:
        example = json_format.Parse(text, Example())
    except (json_format.ParseError, RecursionError) as error:
        raise ValueError(str(error)) from None
    made: bytes = example.SerializeToString(deterministic=True)
    return made


def reader_state(work_started: int, work_finished: int, records: int, work: bytes) -> bytes:
    """The state of a reader as TensorFlow writes it."""
    state = ReaderBaseState(
        work_started=work_started,
        work_finished=work_finished,
        num_records_produced=records,
        current_work=work,
    )
    made: bytes = state.SerializeToString(deterministic=True)
    return made
