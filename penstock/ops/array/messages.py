"""Values as TensorProto messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.formats import tensor_proto
from penstock.ops.array.constant import check_size, dtype_of, other_shape, to_array


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A ``TensorProto`` of ``values``.

    Args:
      values: what ``tf.constant`` takes.
      dtype: element type; by default read off the values.
      shape: shape of the result; the message says a value only as often as ``values`` has it.
      verify_shape: whether ``values`` must have ``shape`` exactly.
      allow_broadcast: whether one value may stand for all; other sizes must then be that of
        ``shape``.

    Returns:
      The message, as TensorFlow writes it.

    Raises:
      TypeError: values that are not of ``dtype`` or ``shape``.
      ValueError: too many values for ``shape``.
    """
    array = to_array(values, dtype, wraps=True)
    wanted = dtype_of(array, dtype)
    if shape is None:
        return tensor_proto.written_by_type(array, wanted, array.shape)
    dims = tuple(int(d) for d in shapes.as_shape(shape).as_list())
    size = math.prod(dims)
    if size == 0:
        array = np.empty(dims, array.dtype)
    other = array.size != size and array.shape not in ((), (1,))
    if verify_shape and array.shape != dims or allow_broadcast and other:
        raise other_shape(array, dims)
    check_size(array, size)
    return tensor_proto.written_by_type(array, wanted, dims)
