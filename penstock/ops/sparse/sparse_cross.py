"""Columns of categories crossed: each row's combinations as strings, or as hashes of them.

Features of integer columns are hashed as they are, those of string columns by FarmHash's
Fingerprint64; the hashes of a combination are mixed one after the other into the key.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import farmhash
import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array.cast import cast
from penstock.ops.strings.string_elements import as_bytes, strings

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_LARGEST = (1 << 63) - 1
KEY = 0xDECAFCAFFE
# Features of one column: those of each row.
_Column = list[list[Any]]


# ---- kernel --------------------------------------------------------------------------------------


def _mixed(key: int, feature: int) -> int:
    def shifted(value: int) -> int:
        return value ^ (value >> 47)

    key ^= _MULTIPLIER
    key ^= shifted(feature * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
    key = key * _MULTIPLIER & _MASK
    return shifted(shifted(key) * _MULTIPLIER & _MASK)


def _text(feature: Any) -> bytes:
    return str(feature).encode() if isinstance(feature, int) else as_bytes(feature)


def _number(feature: Any) -> int:
    if isinstance(feature, int):
        return feature & _MASK
    return farmhash.fingerprint64(as_bytes(feature))


def _columns(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], dense: Sequence[Any]
) -> tuple[int, list[_Column]]:
    """The number of rows, and the columns."""
    counts = [shape.tolist() for shape in shapes]
    if any(len(c) != 2 for c in counts) or any(d.ndim != 2 for d in dense):
        raise invalid("inputs to be crossed must have two dims, rows and features")
    rows = {c[0] for c in counts} | {d.shape[0] for d in dense}
    if len(rows) > 1:
        raise invalid(f"inputs to be crossed must have equally many rows; found {sorted(rows)}")
    count: int = rows.pop() if rows else 0
    columns: list[_Column] = []
    for index, value in zip(indices, values, strict=True):
        column: _Column = [[] for _ in range(count)]
        places = index.tolist()
        if len(places) != len(value) or any(len(p) != 2 for p in places):
            raise invalid(f"found {len(value)} value(s) at indices of shape {list(index.shape)}")
        at = 0
        for (row, _), feature in zip(places, value.tolist(), strict=True):
            # As in TensorFlow, rows count up: what comes after one that does not is left out.
            if not at <= row < count:
                break
            at = row
            column[row].append(feature)
        columns.append(column)
    return count, columns + [d.tolist() for d in dense]


def cross(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any],
    dense_inputs: Sequence[Any], hashed_output: bool, num_buckets: int, hash_key: int,
    mixed: Callable[[int, int], int] = _mixed,
) -> Any:  # fmt: skip
    """The kernel; ``mixed`` says how a feature's hash gets into the key."""
    count, columns = _columns(indices, values, shapes, dense_inputs)
    seen: Callable[[Any], Any] = _number if hashed_output else _text
    columns = [[[seen(f) for f in row] for row in column] for column in columns]
    modulus = num_buckets if num_buckets > 0 else _LARGEST
    places, found, most = [], [], 0
    for row in range(count):
        crossed = list(itertools.product(*(column[row] for column in columns)))
        most = max(most, len(crossed))
        places += [(row, n) for n in range(len(crossed))]
        for features in crossed:
            if hashed_output:
                key = hash_key & _MASK
                for feature in features:
                    key = mixed(key, feature)
                found.append(key % modulus)
            else:
                found.append(b"_X_".join(features))
    output: Any = torch.tensor(found, dtype=torch.int64) if hashed_output else strings(found)
    index = torch.from_numpy(np.array(places, np.int64).reshape(-1, 2))
    return index, output, torch.tensor([count, most], dtype=torch.int64)


def _kernel(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any],
    dense_inputs: Sequence[Any], hashed_output: bool, num_buckets: int, hash_key: int,
) -> Any:  # fmt: skip
    return cross(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key)


def cross_shape(ctx: ShapeContext) -> list[Dims]:
    """Rows and places, values, and the two sizes."""
    return [(None, 2), (None,), (2,)]


define_op(
    "SparseCross",
    "indices: N * int64, values: list(sparse_types), shapes: N * int64,"
    " dense_inputs: list(dense_types)"
    " -> output_indices: int64, output_values: out_type, output_shape: int64",
    attrs=[
        "N: int >= 0",
        "hashed_output: bool",
        "num_buckets: int >= 0",
        "hash_key: int",
        "sparse_types: list({int64, string}) >= 0",
        "dense_types: list({int64, string}) >= 0",
        "out_type: {int64, string}",
        "internal_type: {int64, string}",
    ],
    shape=cross_shape,
    kernel=_kernel,
    no_gradient="a function of categories",
)


# ---- public functions ----------------------------------------------------------------------------


def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """Each row's combinations of features, one of each input, as strings joined by ``_X_``.

    Args:
      inputs: a list of SparseTensors and tensors of two dims, rows and features, of strings or
        integers.

    Returns:
      A SparseTensor of strings: rows, and the combinations of each; of the last column features
      change fastest, and sparse columns come first.

    Raises:
      TypeError: ``inputs`` is no list of such tensors.
    """
    return _crossed(inputs, False, 0, None, name)


def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Each row's combinations of features, one of each input, as hashes.

    Args:
      inputs: as for ``sparse_cross``.
      num_buckets: hashes are below it; 0 for hashes of 63 bits.
      hash_key: where hashing starts; None for TensorFlow's.

    Returns:
      A SparseTensor of int64, as that of ``sparse_cross``.

    Raises:
      TypeError: ``inputs`` is no list of such tensors.
    """
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _crossed(
    inputs: Any, hashed: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> SparseTensor:
    if not isinstance(inputs, list):
        raise TypeError(f"Inputs must be a list; found {type(inputs).__name__}")
    if not all(isinstance(i, SparseTensor | Tensor) for i in inputs):
        raise TypeError("All inputs must be tensors or SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    values = [category(i.values) for i in sparse]
    dense = [category(i) for i in inputs if not isinstance(i, SparseTensor)]
    numbers = any(v.dtype != dtypes.string for v in (*values, *dense))
    made = make(
        "SparseCross", [i.indices for i in sparse], values, [i.dense_shape for i in sparse], dense,
        hashed_output=hashed, num_buckets=num_buckets, hash_key=hash_key or KEY, name=name,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=dtypes.int64 if numbers and hashed else dtypes.string,
    )  # fmt: skip
    return SparseTensor(*made)


def category(values: Any) -> Tensor:
    """Strings, or int64."""
    values = convert_to_tensor(values)
    return values if values.dtype == dtypes.string else cast(values, dtypes.int64)
