"""Nodes that copy a tensor, and constants that lie in a file.

``Copy`` and ``CopyHost`` are what TensorFlow's debugger puts between a tensor and who watches it;
the watchers that their attr names do not exist here, where steps are observed instead.
``ImmutableConst`` is a constant whose bytes are those of a file; a local file is mapped, not read.

State: of an ``ImmutableConst`` the tensor, once a step has used it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import files
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_attr, same_as


def _copy(input: Any) -> Any:
    return input.copy() if isinstance(input, np.ndarray) else input.clone()


for _name in ("Copy", "CopyHost"):
    define_op(
        _name,
        "input: T -> output: T",
        attrs=["T: type", 'tensor_name: string = ""', "debug_ops_spec: list(string) = []"],
        shape=same_as("input"),
        kernel=_copy,
        no_gradient="only a debugger adds it, beside the graph; TensorFlow defines none",
    )


class _FileTensor:
    """A tensor in a file."""

    def __init__(self, attrs: dict[str, Any], name: str) -> None:
        self._name, self._path = name, attrs["memory_region_name"]
        self._dtype: dtypes.DType = attrs["dtype"]
        self._dims = attrs["shape"].sizes
        self._value: torch.Tensor | None = None

    def value(self) -> torch.Tensor:
        """The tensor; the file must not change from the first call on."""
        if self._value is None:
            self._value = self._mapped()
        return self._value

    def _mapped(self) -> torch.Tensor:
        if self._dtype is dtypes.string:
            raise errors.UnimplementedError(
                None, None, f"{self._path}: strings do not lie in a file as a constant"
            )
        if self._dims is None or None in self._dims:
            raise errors.invalid(f"{self._path}: its shape must be known; found {self._dims}")
        # Without a type of its own in NumPy, bfloat16 is looked at as whole numbers.
        narrow = self._dtype is dtypes.bfloat16
        kind = np.dtype(np.int16 if narrow else self._dtype.as_numpy_dtype)
        found = files.stat(self._path).length
        count = int(np.prod(self._dims, dtype=np.int64))
        if found < count * kind.itemsize:
            raise errors.invalid(
                f"{self._path}: {count} values of {self._dtype.name} need"
                f" {count * kind.itemsize} bytes; the file has {found}"
            )
        if not count:
            array = np.empty(self._dims, kind)
        elif files.is_remote(self._path):
            with files.open_file(self._path, "rb") as file:
                array = np.frombuffer(bytearray(file.read()), kind, count).reshape(self._dims)
        else:
            array = np.memmap(files.local(self._path), kind, "c", shape=self._dims)
        made = torch.from_numpy(np.asarray(array))
        return made.view(torch.bfloat16) if narrow else made


def _constant(state: _FileTensor) -> torch.Tensor:
    return state.value()


define_op(
    "ImmutableConst",
    "-> tensor: dtype",
    attrs=["dtype: type", "shape: shape", "memory_region_name: string"],
    shape=from_attr("shape"),
    kernel=_constant,
    lends=True,
    state=_FileTensor,
    stateful=True,
    no_gradient="a constant has no inputs",
    on_host=True,
)
