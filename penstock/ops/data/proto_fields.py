"""Protocol buffer messages as tensors of their fields, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.errors import invalid
from penstock.foundation.formats import message_fields
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.strings.string_elements import REASON, as_bytes, strings


def _dtype_name(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return "string"
    return str(array.dtype).removeprefix("torch.")


def _descriptor(source: Any, message_type: Any) -> Any:
    return message_fields.find_message(as_bytes(source), as_bytes(message_type).decode())


def _names(field_names: Any, count: int, what: str) -> list[str]:
    if len(field_names) != count:
        raise invalid(f"found {len(field_names)} field_names and {count} {what}")
    return [as_bytes(name).decode() for name in field_names]


# ---- decoding ------------------------------------------------------------------------------------


def _decode(
    bytes: Any, message_type: Any, field_names: Any, output_types: Any, descriptor_source: Any,
    message_format: Any, sanitize: bool,
) -> Any:  # fmt: skip
    form = as_bytes(message_format)
    if form not in (b"binary", b"text"):
        raise invalid(f"format must be one of binary or text; found {form!r}")
    names = _names(field_names, len(output_types), "output_types")
    wanted = ["string" if t is object else str(t).removeprefix("torch.") for t in output_types]
    descriptor = _descriptor(descriptor_source, message_type)
    messages = np.asarray(bytes, object)
    if not messages.size:
        raise invalid("Bufs argument must contain at least one value")
    sizes, values = message_fields.read_fields(
        messages.ravel().tolist(), descriptor, names, wanted, text=form == b"text",
        sanitize=sanitize,
    )  # fmt: skip
    lead = messages.shape
    arrays = [array.reshape(*lead, array.shape[1]) for array in values]
    made = [a if a.dtype == object else torch.from_numpy(a) for a in arrays]
    return torch.from_numpy(sizes.reshape(*lead, len(names))), made


def _decode_shape(ctx: ShapeContext) -> list[Dims]:
    lead, names = ctx["bytes"], ctx.attr("field_names")
    if lead is None:
        return [None] * (1 + len(names))
    return [(*lead, len(names)), *[(*lead, None)] * len(names)]


define_op(
    "DecodeProtoV2",
    "bytes: string -> sizes: int32, values: list(output_types)",
    attrs=[
        "message_type: string",
        "field_names: list(string)",
        "output_types: list(type) >= 0",
        'descriptor_source: string = "local://"',
        'message_format: string = "binary"',
        "sanitize: bool = False",
    ],
    shape=_decode_shape,
    kernel=_decode,
    no_gradient=REASON,
)


# ---- encoding ------------------------------------------------------------------------------------


def _encode(
    sizes: Any, values: Any, field_names: Any, message_type: Any, descriptor_source: Any,
    Tinput_types: Any,
) -> np.ndarray:  # fmt: skip
    names = _names(field_names, len(values), "values")
    descriptor = _descriptor(descriptor_source, message_type)
    lead = tuple(values[0].shape[:-1])
    for value in values:
        if not value.ndim or tuple(value.shape[:-1]) != lead:
            raise invalid(f"values must be {list(lead)} and one more dim; found {value.shape}")
    if tuple(sizes.shape) != (*lead, len(names)):
        raise invalid(
            "sizes should be batch_size + [len(field_names)].  Saw:"
            f" {list(sizes.shape)} but expected: {[*lead, len(names)]}"
        )
    count = math.prod(lead)
    arrays = [np.asarray(v).reshape(count, v.shape[-1]) for v in values]
    types = [_dtype_name(v) for v in values]
    flat = sizes.reshape(count, len(names)).numpy()
    return strings(message_fields.write_fields(descriptor, names, types, flat, arrays), lead)


def _encode_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("sizes", 2)
    return None if dims is None else dims[:-1]


define_op(
    "EncodeProto",
    "sizes: int32, values: list(Tinput_types) -> bytes: string",
    attrs=[
        "field_names: list(string)",
        "message_type: string",
        'descriptor_source: string = "local://"',
        "Tinput_types: list(type) >= 1",
    ],
    shape=_encode_shape,
    kernel=_encode,
    no_gradient=REASON,
)


# ---- public functions ----------------------------------------------------------------------------


def decode_proto(
    bytes: Any, message_type: str, field_names: Any, output_types: Any,
    descriptor_source: Any = "local://", message_format: str = "binary", sanitize: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Fields of serialized protocol buffer messages.

    Args:
      bytes: string tensor [...] of messages.
      message_type: full name of the message, such as "package.Message".
      field_names: the fields that are wanted.
      output_types: a type for each: string for strings, bytes and messages (which stay serialized);
        for numbers the field's own type, or the one of 64 bits for one of 32.
      descriptor_source: where the message is described: a path of a file that holds a
        FileDescriptorSet (``protoc --include_imports --descriptor_set_out``), "bytes://" followed
        by one, or "local://" for messages that this Python program has loaded.
      message_format: "binary" or "text".
      sanitize: whether messages are parsed and written anew before fields are read.

    Returns:
      A namedtuple: ``sizes``, int32 [..., fields], how many values of a field a message has, and
      ``values``, for each field [..., n], filled up with defaults.

    Raises:
      InvalidArgumentError: when it is run, an unknown message or field, or a type that cannot hold
        it.
      DataLossError: when it is run, bytes that are no message.
    """
    return make(
        "DecodeProtoV2", bytes, message_type=message_type, field_names=list(field_names),
        output_types=[dtypes.as_dtype(t) for t in output_types],
        descriptor_source=descriptor_source, message_format=message_format, sanitize=sanitize,
        name=name,
    )  # fmt: skip


def encode_proto(
    sizes: Any, values: Any, field_names: Any, message_type: str,
    descriptor_source: Any = "local://", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Serialized protocol buffer messages of fields.

    Args:
      sizes: int32 [..., fields]: how many of a field's values a message takes.
      values: a tensor [..., n] for each field, of a type as for ``decode_proto``.
      field_names: the fields.
      message_type: full name of the message.
      descriptor_source: as for ``decode_proto``.

    Returns:
      string [...]: the messages, fields in the order of their numbers.

    Raises:
      InvalidArgumentError: when it is run, an unknown message or field, a type that the field does
        not take, or shapes that do not fit.
    """
    return make(
        "EncodeProto", sizes, list(values), field_names=list(field_names),
        message_type=message_type, descriptor_source=descriptor_source, name=name,
    )  # fmt: skip
