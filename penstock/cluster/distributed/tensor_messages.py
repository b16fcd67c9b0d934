"""Run-time values as TensorFlow's TensorProto messages and back.

Numbers are sent as raw little-endian ``tensor_content``, which is one copy; all forms are taken.
What a message says is checked before memory is taken: a few bytes may declare a huge shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensorboard.compat.proto.resource_handle_pb2 import ResourceHandleProto

from penstock.cluster.distributed import tensor_codec
from penstock.engine.runtime import values
from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import tensor_proto

_RESOURCE = dtypes.resource.as_datatype_enum


def fill(message: Any, value: Any, dtype: dtypes.DType) -> None:
    """Writes a run-time value into a TensorProto.

    Args:
      message: an empty TensorProto.
      value: a torch tensor, an array, a number or a string.
      dtype: of the tensor in its graph: a quantized type's values are integers.

    Raises:
      tf.errors.InvalidArgumentError: it is no dense tensor.
    """
    if dtype is dtypes.resource and isinstance(value, bytes | str):  # of a value kept in a session
        name = value.decode() if isinstance(value, bytes) else value
        message.dtype = _RESOURCE
        message.resource_handle_val.append(ResourceHandleProto(name=name))
        message.tensor_shape.SetInParent()
        return
    value = tensor_codec.as_tensor(value)
    message.dtype = dtype.as_datatype_enum
    shape = message.tensor_shape
    shape.SetInParent()
    for size in value.shape:
        shape.dim.add(size=size)
    if isinstance(value, torch.Tensor):
        message.tensor_content = tensor_codec.content_of(value)
    else:
        message.string_val.extend(value.ravel().tolist())


def read(message: Any, limit: int) -> Any:
    """The run-time value of a TensorProto.

    Args:
      message: the TensorProto, from a stranger.
      limit: bytes that the tensor may have.

    Raises:
      tf.errors.InvalidArgumentError: its type, shape and contents do not agree.
      tf.errors.ResourceExhaustedError: it is larger than the limit.
    """
    dims = tuple([dim.size for dim in message.tensor_shape.dim])
    number = message.dtype
    if number == tensor_codec.STRING:
        count = tensor_codec.count_of(dims)
        if count == len(message.string_val) and not message.tensor_content:
            return tensor_codec.strings(message.string_val, dims)
        _check_limit(8 * count, limit)
        return _array(message)
    try:
        stored = dtypes.stored_as(dtypes.as_dtype(number))
    except TypeError:
        raise errors.invalid(f"type {number} is no type of a dense tensor") from None
    number = stored.as_datatype_enum
    if message.tensor_content:
        tensor_codec.check_size(number, dims, len(message.tensor_content))
        # The bytes are nobody else's, so that they need not be copied once more.
        data = np.frombuffer(message.tensor_content, dtype=np.uint8)
        buffer = torch.from_numpy(values.said_writable(data))
        return tensor_codec.tensor_of(buffer, number, dims)
    size = tensor_codec.size_of(number, dims)
    _check_limit(size, limit)
    if not size:
        return tensor_codec.tensor_of(bytearray(), number, dims)
    array = _array(message)
    if array.dtype.fields:  # a quantized type
        array = array.view(array.dtype[0])
    return tensor_codec.as_tensor(array)


def _array(message: Any) -> np.ndarray:
    try:
        return tensor_proto.to_array(message)
    except (TypeError, ValueError, OverflowError) as error:
        raise errors.invalid(f"a TensorProto is malformed: {error}") from None


def _check_limit(size: int, limit: int) -> None:
    if size > limit:
        raise errors.ResourceExhaustedError(
            None, None, f"a tensor of {size} bytes; allowed are {limit}"
            " (PENSTOCK_MAX_MESSAGE_BYTES)",
        )  # fmt: skip
