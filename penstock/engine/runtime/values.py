"""Between NumPy and torch, without a copy where dtype and layout allow.

String tensors have no torch type; at run time they are NumPy object arrays of bytes.  Quantized
tensors are their integers, in torch and in what ``Session.run`` returns; arrays of NumPy's
structured types (what ``as_numpy_dtype`` is for them) are taken too.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.opdef.program_text import identifier

_TORCH: dict[dtypes.DType, torch.dtype] = {
    d: getattr(torch, dtypes.stored_as(d).name)
    for d in (
        dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int8,
        dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32,
        dtypes.uint64, dtypes.bool, dtypes.complex64, dtypes.complex128, dtypes.qint8,
        dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32,
    )
}  # fmt: skip


def torch_dtype(dtype: dtypes.DType) -> torch.dtype | None:
    """The torch type for a dtype, or None for strings and handles."""
    return _TORCH.get(dtype.base_dtype)


def from_array(array: np.ndarray, *, copy: bool = False) -> Any:
    """A run-time value from a NumPy array, sharing its memory unless ``copy``."""
    if array.dtype == object or array.dtype.kind in "SU":
        return array.astype(object)
    if array.dtype.fields:
        array = array.view(array.dtype[0])
    if copy:
        array = array.copy()
    elif not array.flags.writeable or any(s < 0 for s in array.strides):
        array = np.array(array)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class _Memory:
    """An array's memory, said to be writable: torch warns of any other, and programs only read."""

    def __init__(self, array: np.ndarray) -> None:
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = array


def said_writable(array: np.ndarray) -> np.ndarray:
    """The same memory, for programs, which only read what they are fed."""
    return np.asarray(_Memory(array))


def to_array(value: Any) -> np.ndarray:
    """A NumPy array from a run-time value, sharing its memory."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    try:
        plain: np.ndarray = value.numpy()
    except (RuntimeError, TypeError):  # a view of others, elsewhere, or of a type NumPy lacks
        return _unusual_array(value.detach().cpu())
    return plain


def _unusual_array(value: torch.Tensor) -> np.ndarray:
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    if value.dtype is torch.bfloat16:
        bits: np.ndarray = value.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    array: np.ndarray = value.numpy()
    return array


def bfloat16_array(value: torch.Tensor) -> Any:
    """A bfloat16 tensor as a NumPy array of ``ml_dtypes.bfloat16``."""
    array = (
        value.contiguous().view(torch.int16).numpy()
        if value.dim()
        else (value.reshape(1).view(torch.int16).numpy().reshape(()))
    )
    return array.view(ml_dtypes.bfloat16)[()]


_SCALARS: dict[dtypes.DType, Any] = {
    d: dtypes.stored_as(d).as_numpy_dtype
    for d in _TORCH
    if d not in (dtypes.bfloat16, dtypes.uint64)
}
# Constructors of NumPy scalars, by the names under which programs call them.
SCALAR_NAMES: dict[str, Any] = {f"np_{d.name}": kind for d, kind in _SCALARS.items()}


def fetch_source(
    dtype: dtypes.DType, source: str, copy: bool, dims: tuple[int | None, ...] | None
) -> str:
    """Source that turns a program's value into what ``Session.run`` returns."""
    if dtype in (dtypes.string, dtypes.resource, dtypes.variant):
        return f"{source}.copy()[()]" if copy and dtype is dtypes.string else f"fetched({source})"
    if dims == () and dtype in _SCALARS:
        return f"np_{identifier(dtype.name)}({source}.item())"
    if dtype is dtypes.bfloat16:
        return f"bfloat16_array({source}{'.clone()' if copy else ''})"
    clone = ".clone()" if copy else ""
    return f"{source}{clone}.numpy(){'[()]' if not dims else ''}"


def value_source(
    dtype: dtypes.DType, source: str, copy: bool, dims: tuple[int | None, ...] | None
) -> str:
    """Source that turns a program's value into what a function's caller gets: memory of its own."""
    if not copy or dtype in (dtypes.resource, dtypes.variant):
        return source
    return f"{source}.copy()" if dtype is dtypes.string else f"{source}.clone()"


def fetched(value: Any) -> Any:
    """A string array (or other non-tensor value) as the user sees it."""
    return value[()] if isinstance(value, np.ndarray) else value


def scalar_truth(predicate: torch.Tensor) -> bool:
    """What decides on a branch or another round; Python takes any tensor of one element for that.

    Raises:
      ValueError: it is not a scalar.
    """
    if predicate.dim():
        raise ValueError(f"its predicate must be a scalar; found shape {list(predicate.shape)}")
    return bool(predicate)
