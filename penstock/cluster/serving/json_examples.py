"""Examples as JSON, for the REST calls classify and regress.

    {"examples": [{feature: value or list of values, ...}, ...], "context": {feature: ...}}

Whole numbers become int64 features, other numbers float ones, texts and ``{"b64": ...}`` bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.cluster.serving.json_tensors import unwrapped
from penstock.foundation.base import errors
from penstock.foundation.formats.schema import Example


def serialized(request: Mapping[str, Any]) -> list[bytes]:
    """The examples of a request, each with the context's features that it lacks.

    Raises:
      tf.errors.InvalidArgumentError: they are no examples.
    """
    rows = request.get("examples")
    if not isinstance(rows, list) or not rows:
        raise errors.invalid("Request has no 'examples': a list of at least one object is expected")
    context = _example(request.get("context", {}), "the context")
    # Messages that stand one after the other are merged where they are read.
    before = context.SerializeToString()
    some = (_example(row, f"example {number}") for number, row in enumerate(rows))
    return [before + example.SerializeToString() for example in some]


def _example(row: Any, what: str) -> Any:
    if not isinstance(row, dict):
        raise errors.invalid(f"{what} is no object of features")
    example = Example()
    for name, given in row.items():
        values = given if isinstance(given, list) else [given]
        try:
            _fill(example.features.feature[name], values)
        except (TypeError, ValueError, OverflowError):
            raise errors.invalid(
                f"feature {name!r} of {what} has a value that is no list of numbers or of texts"
            ) from None
    return example


def _fill(feature: Any, values: list[Any]) -> None:
    if not values:
        return
    if all(type(v) is int for v in values):
        feature.int64_list.value.extend(values)
    elif all(type(v) in (int, float) for v in values):
        feature.float_list.value.extend(values)
    else:
        feature.bytes_list.value.extend(map(_bytes, values))


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and value.keys() == {"b64"}:
        return unwrapped(value)
    raise TypeError(value)
