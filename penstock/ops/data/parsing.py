"""Strings made into numbers and tensors: raw bytes, CSV, JSON, decimal text, serialized tensors.

``parse_example`` has the ops that take ``tf.train.Example`` messages apart.

Source: RFC 4180 for CSV, with TensorFlow's checks; decimal text as TensorFlow's number parsers read
it: space around a number is allowed, underscores are not, and integers must fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import serialized as messages
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, same_as, show

_STRINGS = "its input is a string"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


# ---- raw bytes -----------------------------------------------------------------------------------


def _raw_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["bytes"]
    return None if dims is None else (*dims, None)


def _decode_raw(bytes: Any, out_type: torch.dtype, little_endian: bool) -> torch.Tensor:
    rows = np.asarray(bytes, object)
    flat = rows.ravel()
    width = torch.empty((), dtype=out_type).element_size()
    size = len(flat[0]) if flat.size else 0
    for i, row in enumerate(flat):
        if len(row) != size:
            raise errors.invalid(
                "DecodeRaw requires input strings to all be the same size, but element"
                f" {i} has size {len(row)} != {size}"
            )
    if size % width:
        raise errors.invalid(
            f"Input to DecodeRaw has length {size} that is not a multiple of {width}, the size of"
            f" {str(out_type).removeprefix('torch.')}"
        )
    if not flat.size or not size:
        return torch.empty((*rows.shape, 0), dtype=out_type)
    data = bytearray(b"".join(flat))
    if not little_endian:
        # The two halves of a complex number are swapped each for itself.
        one = width // 2 if out_type.is_complex else width
        data = bytearray(np.frombuffer(data, np.uint8).reshape(-1, one)[:, ::-1].tobytes())
    return torch.frombuffer(data, dtype=out_type).reshape(*rows.shape, size // width)


define_op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    attrs=[
        "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64,"
        " complex128, bool}",
        "little_endian: bool = True",
    ],
    shape=_raw_shape,
    kernel=_decode_raw,
    no_gradient=_STRINGS,
)


# ---- decimal text --------------------------------------------------------------------------------

INTEGER_LIMITS = {torch.int32: 1 << 31, torch.int64: 1 << 63}


def _whole_number(text: bytes, limit: int) -> int:
    bare = text.strip()
    if b"_" in bare or bare.startswith(b"+") or not bare.isascii():
        raise ValueError
    number = int(bare)
    if not -limit <= number < limit:
        raise ValueError
    return number


_HEXADECIMAL = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]+\s*")


def _real_number(text: bytes, _: int) -> float:
    if _HEXADECIMAL.fullmatch(text):
        value = float(int(text, 16))
        return -0.0 if not value and b"-" in text else value
    if b"_" in text or b"infinity" in text.lower():
        raise ValueError
    # Blanks alone are 0, nothing at all is no number.
    return float(text) if not text or text.strip() else 0.0


def number_parser(dtype: torch.dtype) -> Callable[[bytes, int], Any]:
    """What reads a number of a type; it takes the limit of integers as well."""
    return _whole_number if dtype in INTEGER_LIMITS else _real_number


def _tensor(values: Sequence[Any], dtype: Any) -> Any:
    if dtype is object:
        made = np.empty(len(values), object)
        made[:] = values
        return made
    return torch.tensor(values, dtype=dtype)


def _string_to_number(string_tensor: Any, out_type: torch.dtype) -> torch.Tensor:
    texts = np.asarray(string_tensor, object)
    parse, limit = number_parser(out_type), INTEGER_LIMITS.get(out_type, 0)
    values = []
    for text in texts.ravel():
        try:
            values.append(parse(text, limit))
        except ValueError:
            raise errors.invalid(
                f"StringToNumberOp could not correctly convert string: {_text(text)}"
            ) from None
    return torch.tensor(values, dtype=out_type).reshape(texts.shape)


define_op(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    attrs=["out_type: {float, double, int32, int64} = float"],
    shape=same_as("string_tensor"),
    kernel=_string_to_number,
    no_gradient=_STRINGS,
)


# ---- CSV -----------------------------------------------------------------------------------------


def _csv_shape(ctx: ShapeContext) -> list[Dims]:
    for dims in ctx["record_defaults"]:
        if dims is not None and (len(dims) > 1 or len(dims) == 1 and (dims[0] or 0) > 1):
            raise ValueError(
                f"Shape of a default must be a length-0 or length-1 vector, or a scalar. Found"
                f" {list(dims)}"
            )
    return [ctx["records"]] * len(ctx["record_defaults"])


def csv_fields(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """The fields of a record."""
    if not (quotes and b'"' in record) and b"\n" not in record and b"\r" not in record:
        return record.split(delimiter) if record else []
    fields: list[bytes] = []
    place, end = 0, len(record)
    while place < end:
        if quotes and record[place : place + 1] == b'"':
            field, place = _quoted(record, place + 1, delimiter)
        else:
            stop = record.find(delimiter, place)
            stop = end if stop < 0 else stop
            field = record[place:stop]
            if b"\n" in field or b"\r" in field or quotes and b'"' in field:
                raise errors.invalid("Unquoted fields cannot have quotes/CRLFs inside")
            place = stop
        fields.append(field)
        if place < end:
            place += 1
            if place == end:
                fields.append(b"")
    return fields


def _quoted(record: bytes, place: int, delimiter: bytes) -> tuple[bytes, int]:
    field = b""
    while True:
        stop = record.find(b'"', place)
        if stop < 0:
            raise errors.invalid("Quoted field has to end with quote followed by delim or end")
        field += record[place:stop]
        following = record[stop + 1 : stop + 2]
        if following in (b"", delimiter):
            return field, stop + 1
        if following != b'"':
            raise errors.invalid("Quote inside a string has to be escaped by another quote")
        field += b'"'
        place = stop + 2


def _decode_csv(
    records: Any,
    record_defaults: list[Any],
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: list[int],
    OUT_TYPE: list[Any],
) -> list[Any]:
    lines = np.asarray(records, object)
    delimiter = _bytes(field_delim)
    if len(delimiter) != 1:
        raise errors.invalid(f"field_delim should be only 1 char; found {field_delim!r}")
    missing = (b"", _bytes(na_value))
    count = len(OUT_TYPE)
    columns: list[list[Any]] = [[] for _ in OUT_TYPE]
    readers = [_field_reader(t, d) for t, d in zip(OUT_TYPE, record_defaults)]
    for number, line in enumerate(lines.ravel()):
        fields = csv_fields(line, delimiter, use_quote_delim)
        if select_cols:
            if len(fields) <= select_cols[-1]:
                raise _wrong_count(count, sum(c < len(fields) for c in select_cols), number)
            fields = [fields[c] for c in select_cols]
        if len(fields) != count:
            raise _wrong_count(count, len(fields), number)
        for i, (field, read) in enumerate(zip(fields, readers)):
            columns[i].append(read(field, field in missing, i, number))
    return [_tensor(c, t).reshape(lines.shape) for c, t in zip(columns, OUT_TYPE)]


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _wrong_count(wanted: int, found: int, record: int) -> errors.InvalidArgumentError:
    return errors.invalid(f"Expect {wanted} fields but have {found} in record {record}")


def _field_reader(dtype: Any, default: Any) -> Callable[[bytes, bool, int, int], Any]:
    size = default.size if isinstance(default, np.ndarray) else default.numel()
    value = default.reshape(-1)[0] if size else None
    value = value.item() if isinstance(value, torch.Tensor) else value
    parse = None if dtype is object else number_parser(dtype)
    limit = 0 if dtype is object else INTEGER_LIMITS.get(dtype, 0)

    def read(field: bytes, is_missing: bool, place: int, record: int) -> Any:
        if is_missing:
            if not size:
                raise errors.invalid(f"Field {place} is required but missing in record {record}!")
            return value
        if parse is None:
            return field
        try:
            return parse(field, limit)
        except ValueError:
            kind = {"float32": "float", "float64": "double"}
            name = str(dtype).removeprefix("torch.")
            raise errors.invalid(
                f"Field {place} in record {record} is not a valid {kind.get(name, name)}:"
                f" {_text(field)}"
            ) from None

    return read


define_op(
    "DecodeCSV",
    "records: string, record_defaults: list(OUT_TYPE) -> output: list(OUT_TYPE)",
    attrs=[
        "OUT_TYPE: list({float, double, int32, int64, string}) >= 1",
        'field_delim: string = ","',
        "use_quote_delim: bool = True",
        'na_value: string = ""',
        "select_cols: list(int) = []",
    ],
    shape=_csv_shape,
    kernel=_decode_csv,
    no_gradient=_STRINGS,
)


# ---- messages ------------------------------------------------------------------------------------


def _decode_json(json_examples: Any) -> np.ndarray:
    texts = np.asarray(json_examples, object)
    made = np.empty(texts.shape, object)
    for index in np.ndindex(texts.shape):
        try:
            made[index] = messages.example_from_json(texts[index])
        except ValueError as error:
            raise errors.invalid(f"Error while parsing JSON: {error}") from None
    return made


def _parse_tensor(serialized: Any, out_type: Any) -> Any:
    try:
        found, array = messages.parse_tensor(serialized.item())
    except ValueError:
        raise errors.invalid(
            f"Could not parse `serialized` as TensorProto: '{_text(serialized.item())}'"
        ) from None
    held = object if found is dtypes.string else getattr(torch, dtypes.stored_as(found).name)
    if held is not out_type:
        wanted = "string" if out_type is object else str(out_type).removeprefix("torch.")
        raise errors.invalid(
            f"Type mismatch between parsed tensor ({found.name}) and dtype ({wanted})"
        )
    if out_type is object:
        return np.asarray(array, object)
    if out_type is torch.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    if array.dtype.fields:  # a quantized type
        array = array.view(array.dtype[0])
    return torch.from_numpy(np.array(array))


def _serialized_shape(ctx: ShapeContext) -> Dims:
    if ctx.attr("T").is_quantized:
        raise ValueError("a quantized tensor has no serialized form; bitcast it to its integers")
    return ()


def _serialize_tensor(tensor: Any) -> np.ndarray:
    kind, content = dtypes.string, tensor.ravel().tolist()
    if isinstance(tensor, torch.Tensor):
        kind = dtypes.as_dtype(str(tensor.dtype).removeprefix("torch."))
        flat = tensor.contiguous().reshape(-1)
        content = flat.view(torch.uint8).numpy().tobytes() if len(flat) else b""
    made = np.empty((), object)
    made[()] = messages.tensor_bytes(kind, tuple(tensor.shape), content)
    return made


def _parsed_shape(ctx: ShapeContext) -> Dims:
    if ctx["serialized"]:
        raise FailsAtRun(
            f"Expected `serialized` to be a scalar, got shape: {show(ctx['serialized'])}"
        )
    return None


def _unknown_of_scalar(ctx: ShapeContext) -> Dims:
    ctx.rank("serialized", 0)
    return None


define_op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    shape=same_as("json_examples"),
    kernel=_decode_json,
    no_gradient=_STRINGS,
)
define_op(
    "ParseTensor",
    "serialized: string -> output: out_type",
    attrs=["out_type: type"],
    shape=_parsed_shape,
    kernel=_parse_tensor,
    no_gradient=_STRINGS,
)
define_op(
    "SerializeTensor",
    "tensor: T -> serialized: string",
    attrs=["T: type"],
    shape=_serialized_shape,
    kernel=_serialize_tensor,
    no_gradient="its output is a string",
)


# ---- public functions ----------------------------------------------------------------------------


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Tensor:
    """The bytes of strings as numbers.

    Args:
      input_bytes: string tensor, all of one length; ``bytes`` is its old name.
      out_type: a numeric type or bool.
      little_endian: the order of bytes.

    Returns:
      A tensor of ``out_type`` with one more dim: the numbers of each string.

    Raises:
      InvalidArgumentError: when it is run, on strings of different or wrong lengths.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.decode_raw(["ab", "cd"], tf.uint8)).tolist()
      [[97, 98], [99, 100]]
    """
    if input_bytes is None and bytes is None:
        raise ValueError("decode_raw needs input_bytes")
    if input_bytes is not None and bytes is not None:
        raise ValueError("decode_raw takes input_bytes or, its old name, bytes; found both")
    return make(
        "DecodeRaw", bytes if input_bytes is None else input_bytes, out_type=out_type,
        little_endian=little_endian, name=name,
    )  # fmt: skip


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> list[Tensor]:
    """CSV records as one tensor a column.

    Args:
      records: string tensor; an element is one record.
      record_defaults: one a column: a vector with the value of an empty field, or without one where
        the field must not be empty; its type is the column's.
      field_delim: the character between fields.
      use_quote_delim: whether double quotes enclose fields.
      na_value: another text that stands for an empty field.
      select_cols: increasing numbers of the columns that are wanted; None for all.

    Returns:
      Tensors of the shape of ``records``.

    Raises:
      ValueError: ``select_cols`` is not increasing, or not as long as ``record_defaults``.
      InvalidArgumentError: when it is run, on a malformed record or field.

    Example:
      >>> import penstock as tf
      >>> name, size = tf.decode_csv(["paris,2", "oslo,"], record_defaults=[[""], [0]])
      >>> with tf.Session() as session:
      ...     session.run(name).tolist(), session.run(size).tolist()
      ([b'paris', b'oslo'], [2, 0])
    """
    columns = list(select_cols or ())
    if any(a >= b for a, b in zip(columns, columns[1:])):
        raise ValueError("select_cols is not strictly increasing.")
    if columns and columns[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if columns and len(columns) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    made = make(
        "DecodeCSV", records, list(record_defaults), field_delim=field_delim,
        use_quote_delim=use_quote_delim, na_value=na_value, select_cols=columns, name=name,
    )  # fmt: skip
    return list(made)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """``Example`` messages from JSON.

    Args:
      json_examples: string tensor: each the JSON form of an ``Example``.

    Returns:
      A string tensor of its shape: serialized ``Example`` messages.
    """
    return make("DecodeJSONExample", json_examples, name=name)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor that a serialized ``TensorProto`` holds.

    Args:
      serialized: string scalar.
      out_type: its type.

    Returns:
      A tensor of ``out_type``, its shape unknown before it is run.
    """
    return make("ParseTensor", serialized, out_type=out_type, name=name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as a serialized ``TensorProto``.

    Args:
      tensor: any tensor.

    Returns:
      A string scalar.
    """
    return make("SerializeTensor", tensor, name=name)


def string_to_number(
    string_tensor: Any = None,
    out_type: Any = dtypes.float32,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Decimal text as numbers.

    Args:
      string_tensor: string tensor; ``input`` is its newer name.
      out_type: float32, float64, int32 or int64.

    Returns:
      A tensor of its shape.

    Raises:
      InvalidArgumentError: when it is run, on what is no such number.
    """
    given = input if string_tensor is None else string_tensor
    return make("StringToNumber", given, out_type=out_type, name=name)
