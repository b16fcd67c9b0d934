"""Python's nestings of values and specs as ``StructuredValue`` messages, and back."""

from __future__ import annotations

import collections
from typing import Any

from tensorboard.compat.proto.struct_pb2 import StructuredValue

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec


class NotEncodableError(Exception):
    """A value that the messages have no place for."""


def encode(value: Any, into: Any = None) -> Any:
    """The message of a nesting.

    Raises:
      NotEncodableError: it holds something else than numbers, texts, shapes, dtypes and specs.
    """
    message = StructuredValue() if into is None else into
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int64_value = value
    elif isinstance(value, float):
        message.float64_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, TensorSpec):
        _encode_spec(value, message.tensor_spec_value)
    elif isinstance(value, Tensor):
        _encode_spec(TensorSpec(value.shape, value.dtype), message.tensor_spec_value)
    elif isinstance(value, shapes.TensorShape):
        message.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, dtypes.DType):
        message.tensor_dtype_value = value.as_datatype_enum
    else:
        _encode_nesting(value, message)
    return message


def _encode_spec(spec: Any, message: Any) -> None:
    message.name = str(spec.name or "")
    message.shape.CopyFrom(spec.shape.as_proto())
    message.dtype = spec.dtype.as_datatype_enum


def _encode_nesting(value: Any, message: Any) -> None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        message.named_tuple_value.name = type(value).__name__
        for name, part in zip(value._fields, value, strict=True):
            pair = message.named_tuple_value.values.add(key=name)
            encode(part, pair.value)
    elif isinstance(value, list | tuple):
        kind = message.list_value if isinstance(value, list) else message.tuple_value
        kind.SetInParent()
        for part in value:
            encode(part, kind.values.add())
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        message.dict_value.SetInParent()
        for key in sorted(value):
            encode(value[key], message.dict_value.fields[key])
    else:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")


def decode(message: Any) -> Any:
    """What a message says.

    Raises:
      ValueError: it says what is not known here.
    """
    kind = message.WhichOneof("kind")
    value: Any = getattr(message, kind) if kind else None
    if kind in (None, "none_value"):
        return None
    if kind in ("float64_value", "int64_value", "string_value", "bool_value"):
        return value
    if kind == "tensor_shape_value":
        return shapes.as_shape(value)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(shapes.as_shape(value.shape), value.dtype, value.name or None)
    if kind == "list_value":
        return [decode(part) for part in value.values]
    if kind == "tuple_value":
        return tuple(decode(part) for part in value.values)
    if kind == "dict_value":
        return {key: decode(value.fields[key]) for key in value.fields}
    if kind == "named_tuple_value":
        fields = [pair.key for pair in value.values]
        make: Any = collections.namedtuple  # which refuses what is no name
        return make(value.name, fields)(*[decode(pair.value) for pair in value.values])
    raise ValueError(f"a SavedModel's signature has a {kind}, which is not known here")
