"""Tensors as JSON: the rows and columns of TensorFlow Serving's REST calls.

    {"instances": [row, ...]}   a row: a value, or an object with a value an input
    {"inputs": value}           a value with all rows, or an object with one an input

Strings are text, or ``{"b64": "..."}``; outputs named ``*_bytes`` are given so.  NaN and Infinity
stand as these words, as TensorFlow Serving writes and reads them.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from penstock.foundation.base import errors
from penstock.foundation.graph.tensor import Tensor

# The most dims that NumPy's arrays have.
_DEEPEST = 64


def parse(body: bytes) -> dict[str, Any]:
    """The object that a body is.

    Raises:
      tf.errors.InvalidArgumentError: it is no JSON, or no object.
    """
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if not (b"NaN" in body or b"Infinity" in body):
            raise errors.invalid(f"JSON Parse error: {error}") from None
        try:
            found = json.loads(body)
            orjson.dumps(found)  # as strict as the other: no half characters, no endless numbers
        except (ValueError, TypeError, RecursionError) as again:
            raise errors.invalid(f"JSON Parse error: {again}") from None
    if not isinstance(found, dict):
        raise errors.invalid(
            f"JSON Parse error: the body is {_kind(found)}; it must be an object"
        )  # fmt: skip
    return found


def text(value: Any) -> bytes:
    """A value as JSON; arrays of numbers may be in it, NaN and infinite ones as words."""
    if _is_plain(value):
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return json.dumps(value, default=lambda each: each.tolist()).encode()


def _is_plain(value: Any) -> bool:
    """Whether no array in it has what JSON has no word for."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or bool(np.isfinite(value).all())
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return not isinstance(value, np.floating) or bool(np.isfinite(value))


# ---- what is given -------------------------------------------------------------------------------


def arrays(request: Mapping[str, Any], inputs: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """The inputs of a predict call.

    Args:
      request: the body, with ``instances`` or ``inputs``.
      inputs: tensors of the signature.

    Raises:
      tf.errors.InvalidArgumentError: it has neither or both, or values that the inputs do not take.
    """
    if ("instances" in request) == ("inputs" in request):
        raise errors.invalid("Missing 'inputs' or 'instances' key: a call has one of the two")
    if "inputs" in request:
        given = request["inputs"]
        if not (isinstance(given, dict) and not _is_base64(given)):
            given = _sole(inputs, given)
    else:
        given = _columns(request["instances"], inputs)
    unknown = [name for name in given if name not in inputs]
    if unknown:
        raise errors.invalid(
            f"JSON object has a tensor {unknown[0]!r} that the signature does not take; it takes"
            f" {', '.join(sorted(inputs))}"
        )
    return {name: array(value, inputs[name], name) for name, value in given.items()}


def _sole(inputs: Mapping[str, Tensor], value: Any) -> dict[str, Any]:
    if len(inputs) != 1:
        raise errors.invalid(
            "a value without a name is for signatures of one input; this one takes"
            f" {', '.join(sorted(inputs))}"
        )
    return {next(iter(inputs)): value}


def _columns(rows: Any, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
    if not isinstance(rows, list) or not rows:
        raise errors.invalid(f"'instances' is {_kind(rows)}; it must be a list of at least one row")
    named = [isinstance(row, dict) and not _is_base64(row) for row in rows]
    if not any(named):
        return _sole(inputs, rows)
    if not all(named):
        raise errors.invalid("'instances' mixes objects and values")
    keys = list(rows[0])
    for number, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise errors.invalid(
                f"row {number} of 'instances' has the tensors {sorted(row)}, row 0 {sorted(keys)}"
            )
    return {key: [row[key] for row in rows] for key in keys}


def array(value: Any, tensor: Tensor, name: str) -> np.ndarray:
    """A value of one input.

    Raises:
      tf.errors.InvalidArgumentError: it is none of the input's dtype, or its lists are uneven.
    """
    dtype = tensor.dtype
    if dtype.name == "string":
        return _strings(value, name)
    try:
        found = np.array(value)
    except (ValueError, OverflowError, RecursionError):
        raise errors.invalid(f"input {name!r}: lists of different lengths or depths") from None
    target = np.dtype(dtype.as_numpy_dtype)
    if not found.size:
        return np.zeros(found.shape, target)
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "fiu"}.get(target.kind, "fiu")
    if found.dtype.kind not in kinds:
        what = "a text" if found.dtype.kind in "US" else str(found.dtype)
        raise errors.invalid(f"input {name!r} has {what} where {dtype.name} is expected")
    with np.errstate(over="ignore"):
        made = found.astype(target)
    exact = target.kind not in "iu" or np.array_equal(made, found)
    if not exact or (target.kind == "f" and np.any(np.isinf(made) & ~np.isinf(found))):
        raise errors.invalid(f"input {name!r} has a number that {dtype.name} cannot hold")
    return made


def _strings(value: Any, name: str) -> np.ndarray:
    flat: list[bytes] = []
    shape = _walk(value, flat, name, 0)
    found = np.empty(len(flat), object)
    found[:] = flat
    return found.reshape(shape)


def _walk(value: Any, flat: list[bytes], name: str, depth: int) -> tuple[int, ...]:
    if isinstance(value, str):
        flat.append(value.encode())
        return ()
    if _is_base64(value):
        flat.append(unwrapped(value))
        return ()
    if not isinstance(value, list) or depth == _DEEPEST:
        raise errors.invalid(f"input {name!r} has {_kind(value)} where string is expected")
    shapes = {_walk(each, flat, name, depth + 1) for each in value}
    if len(shapes) > 1:
        raise errors.invalid(f"input {name!r}: lists of different lengths or depths")
    return (len(value), *next(iter(shapes), ()))


def _is_base64(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"b64"}


def unwrapped(value: Mapping[str, Any]) -> bytes:
    """The bytes of ``{"b64": "..."}``.

    Raises:
      tf.errors.InvalidArgumentError: it is no base64.
    """
    try:
        return base64.b64decode(value["b64"], validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise errors.invalid("Unable to base64 decode the value of 'b64'") from None


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a truth", type(None): "null"}
    return kinds.get(type(value), "a number")


# ---- what is answered ----------------------------------------------------------------------------


def answer(outputs: Mapping[str, np.ndarray], by_rows: bool) -> dict[str, Any]:
    """The body of a predict call's answer.

    Args:
      outputs: by name.
      by_rows: whether rows were given; then rows are answered.

    Raises:
      tf.errors.InvalidArgumentError: rows are asked for and the outputs have different numbers.
    """
    values = {name: _listed(value, name) for name, value in outputs.items()}
    alone = len(values) == 1
    if not by_rows:
        return {"outputs": next(iter(values.values())) if alone else values}
    if any(not value.ndim for value in outputs.values()):
        raise errors.invalid("an output has no dimension for rows; call with 'inputs'")
    counts = {len(value) for value in outputs.values()}
    if len(counts) > 1:
        raise errors.invalid(
            f"outputs have different numbers of rows, {sorted(counts)}; call with 'inputs'"
        )
    if alone:
        return {"predictions": next(iter(values.values()))}
    keys = list(values)
    rows = zip(*(values[key] for key in keys), strict=True)
    return {"predictions": [dict(zip(keys, row, strict=True)) for row in rows]}


def _listed(value: np.ndarray, name: str) -> Any:
    """What of an array JSON can have: numbers as they are, strings as lists."""
    if value.dtype == object:
        return _texts(value.tolist(), name.endswith("_bytes"))
    if value.dtype.kind == "c":
        raise errors.UnimplementedError(
            None, None, f"output {name!r} is {value.dtype}, which JSON cannot have"
        )
    known = value.dtype.kind in "biu" or value.dtype in (np.float32, np.float64)
    return np.ascontiguousarray(value if known else value.astype(np.float64)).reshape(value.shape)


def _texts(value: Any, as_base64: bool) -> Any:
    if isinstance(value, list):
        return [_texts(each, as_base64) for each in value]
    found = value if isinstance(value, bytes) else str(value).encode()
    if not as_base64:
        try:
            return found.decode()
        except UnicodeDecodeError:
            pass
    return {"b64": base64.b64encode(found).decode()}
