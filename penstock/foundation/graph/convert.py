"""From Python values to tensors: the registry of conversion functions.

``ops.constant`` registers the conversion of numbers, sequences and arrays; variables, slices and
other tensor-like classes register theirs.  The first function whose type matches, by priority and
then in order of registration, and that does not return NotImplemented, converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.tensor import Tensor

_CONVERSIONS: list[tuple[int, int, Any, Callable[..., Any]]] = []
_BY_TYPE: dict[type, list[Callable[..., Any]]] = {}


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Registers ``conversion_func(value, dtype=None, name=None, as_ref=False)`` for ``base_type``.

    Args:
      base_type: a class or tuple of classes.
      conversion_func: returns a tensor, or NotImplemented to let the next one try.
      priority: lower comes first.
    """
    _CONVERSIONS.append((priority, len(_CONVERSIONS), base_type, conversion_func))
    _CONVERSIONS.sort(key=lambda row: row[:2])
    _BY_TYPE.clear()


def _functions_for(kind: type) -> list[Callable[..., Any]]:
    found = _BY_TYPE.get(kind)
    if found is None:
        found = [f for _, _, base, f in _CONVERSIONS if issubclass(kind, base)]
        _BY_TYPE[kind] = found
    return found


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    *,
    as_ref: bool = False,
) -> Tensor:
    """Makes ``value`` a tensor of the default graph.

    Args:
      value: a tensor, variable, number, (nested) sequence or array.
      dtype: the element type wanted; a tensor of another type is an error.
      name: name of the constant made, if any.
      preferred_dtype: tried first when ``dtype`` is None; also called ``dtype_hint``.
      as_ref: give the reference of a variable, not its value.

    Returns:
      A tensor.

    Raises:
      TypeError: no conversion is registered for the type of ``value``.
      ValueError: ``value`` is None, cannot be of type ``dtype``, or is of another graph.

    Example:
      >>> import penstock as tf
      >>> tf.convert_to_tensor([1, 2]).dtype
      tf.int32
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and dtype.base_dtype is not value.dtype.base_dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype"
                f" {value.dtype.name}: tensor {value.name} has dtype {value.dtype.name};"
                f" {dtype.name} was asked for"
            )
        return value
    if value is None:
        raise ValueError("None values not supported.: None is no value of a tensor")
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if dtype is None and hint is not None:
        converted = _try(value, dtypes.as_dtype(hint), name, as_ref)
        if converted is not None:
            return converted
    for function in _functions_for(type(value)):
        result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is not NotImplemented:
            return _checked(result, dtype, value)
    raise TypeError(
        f"cannot convert a value of type {type(value).__name__} to a tensor: {shorten(value)}"
    )


def _checked(result: Any, dtype: Any, value: Any) -> Tensor:
    if not isinstance(result, Tensor):
        raise RuntimeError(f"a conversion function returned {result!r} for {shorten(value)}")
    if dtype is not None and result.dtype.base_dtype is not dtype.base_dtype:
        raise ValueError(
            f"{shorten(value)} became a {result.dtype.name} tensor; {dtype.name} was asked for"
        )
    return result


def _try(value: Any, dtype: Any, name: str | None, as_ref: bool) -> Tensor | None:
    for function in _functions_for(type(value)):
        try:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        except (TypeError, ValueError):
            continue
        if result is not NotImplemented and result.dtype.base_dtype is dtype.base_dtype:
            return result  # type: ignore[no-any-return]
    return None


def shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def convert_n_to_tensor(
    values: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> list[Tensor]:
    """``convert_to_tensor`` of each value; names get ``_0``, ``_1``, ..."""
    return [
        convert_to_tensor(v, dtype, f"{name}_{i}" if name else None, preferred_dtype)
        for i, v in enumerate(values)
    ]


def is_dense_tensor_like(value: Any) -> bool:
    """Whether ``value`` acts as a dense tensor: a Tensor, or of a class registered as one."""
    return isinstance(value, Tensor) or getattr(value, "_is_dense_tensor_like", False)
