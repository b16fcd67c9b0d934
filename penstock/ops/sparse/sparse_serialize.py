"""Sparse tensors as one value, so that datasets hand them on: three cells (positions, entries,
shape) of a variant vector, or of a string vector in the form of ``TensorProto`` messages.

Many at once make a matrix of one row each; rows of any number of leading dims come back as one
sparse tensor with those dims in front.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import serialized as messages
from penstock.foundation.formats.tensor_proto import string_content
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.state.save import as_array

_REASON = "it packs tensors"


def _cell(value: Any, as_text: bool) -> Any:
    if not as_text:
        return value.clone() if isinstance(value, torch.Tensor) else value.copy()
    array = as_array(value)
    if array.dtype == object:
        content = string_content(array.ravel().tolist())
        return messages.tensor_bytes(dtypes.string, array.shape, content)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return messages.tensor_bytes(dtypes.as_dtype(array.dtype), array.shape, little.tobytes())


def _value(cell: Any) -> Any:
    if not isinstance(cell, bytes):
        return cell
    try:
        _, array = messages.parse_tensor(cell)
    except ValueError as error:
        raise ValueError(f"Could not parse serialized proto: {error}") from None
    return array if array.dtype == object else torch.from_numpy(np.array(array))


def _packed(parts: Any, as_text: bool) -> np.ndarray:
    made = np.empty(3, object)
    for index, part in enumerate(parts):
        made[index] = _cell(part, as_text)
    return made


def _is_text(call: Any) -> bool:
    return bool(call.attr("out_type") is dtypes.string)


def _serialize(sparse_indices: Any, sparse_values: Any, sparse_shape: Any) -> np.ndarray:
    return _packed((sparse_indices, sparse_values, sparse_shape), False)


def _serialize_text(sparse_indices: Any, sparse_values: Any, sparse_shape: Any) -> np.ndarray:
    return _packed((sparse_indices, sparse_values, sparse_shape), True)


def _check_many(indices: Any, dense_shape: Any) -> None:
    rank = len(dense_shape)
    if rank < 2:
        raise ValueError(f"Rank of input SparseTensor should be > 1, but saw rank: {rank}")
    if indices.shape[1] != rank:
        raise ValueError(
            f"Order length must be SparseTensor rank: indices have {indices.shape[1]} column(s),"
            f" the shape is {dense_shape.tolist()}"
        )
    wrong = ((indices < 0) | (indices >= dense_shape)).any(1).nonzero().reshape(-1)
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"indices[{at}] = {indices[at].tolist()} is out of bounds: need 0 <= index <"
            f" {dense_shape.tolist()}"
        )
    rows = indices[:, 0]
    back = (rows[1:] < rows[:-1]).nonzero().reshape(-1)
    if len(back):
        at = int(back[0]) + 1
        raise ValueError(
            f"indices[{at}] = {indices[at].tolist()} is out of order: tf.sparse.reorder puts"
            " indices in order"
        )


def _rows(indices: Any, values: Any, dense_shape: Any, as_text: bool) -> np.ndarray:
    _check_many(indices, dense_shape)
    count = int(dense_shape[0])
    made = np.empty((count, 3), object)
    for number in range(count):
        chosen = indices[:, 0] == number
        kept = values[chosen.numpy()] if isinstance(values, np.ndarray) else values[chosen]
        made[number] = _packed((indices[chosen, 1:], kept, dense_shape[1:]), as_text)
    return made


def _serialize_many(sparse_indices: Any, sparse_values: Any, sparse_shape: Any) -> np.ndarray:
    return _rows(sparse_indices, sparse_values, sparse_shape, False)


def _serialize_many_text(sparse_indices: Any, sparse_values: Any, sparse_shape: Any) -> np.ndarray:
    return _rows(sparse_indices, sparse_values, sparse_shape, True)


def _textual(function: Any) -> Any:
    def inline(call: Any) -> str | None:
        if not _is_text(call):
            return None
        names = ("sparse_indices", "sparse_values", "sparse_shape")
        return f"{call.function(function)}({', '.join(call.arg[n] for n in names)})"

    return inline


def _check_dtype(number: int, values: Any, wanted: Any) -> None:
    found = object if isinstance(values, np.ndarray) else values.dtype
    if found is not wanted:
        raise errors.invalid(
            f"Requested SparseTensor of type {_type_name(wanted)} but SparseTensor[{number}].values"
            f".dtype() == {_type_name(found)}"
        )


def _type_name(dtype: Any) -> str:
    name = "string" if dtype is object else str(dtype).removeprefix("torch.")
    return dtypes.message_name(name)


def _deserialize(serialized_sparse: np.ndarray, dtype: Any) -> Any:
    lead = serialized_sparse.shape[:-1]
    if serialized_sparse.shape[-1:] != (3,):
        raise errors.invalid(
            f"serialized_sparse must have 3 cells in its last dim; its shape is"
            f" {list(serialized_sparse.shape)}"
        )
    cells = [[_value(c) for c in row] for row in serialized_sparse.reshape(-1, 3)]
    for number, row in enumerate(cells):
        _check_dtype(number, row[1], dtype)
    if not lead:
        return tuple(cells[0])
    if not cells:
        raise errors.invalid("no serialized sparse tensor in the batch")
    shape = cells[0][2].clone()
    for row in cells:
        if row[2].shape != shape.shape:
            message = "sparse tensors of a batch differ in rank"
            raise errors.invalid(message)
        shape = torch.maximum(shape, row[2])
    places = np.array(list(np.ndindex(*lead)), np.int64).reshape(-1, len(lead))
    indices = [
        torch.cat([torch.from_numpy(place).expand(len(row[0]), -1), row[0]], 1)
        for place, row in zip(places, cells, strict=True)
    ]
    values: Any = [row[1] for row in cells]
    joined = np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(values)
    return torch.cat(indices), joined, torch.cat([torch.tensor(lead, dtype=torch.int64), shape])


def _one_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("sparse_indices", 2), ctx.rank("sparse_values", 1), ctx.rank("sparse_shape", 1)
    return (3,)


def _many_shape(ctx: ShapeContext) -> Dims:
    _one_shape(ctx)
    return (None, 3)


def _deserialized_shape(ctx: ShapeContext) -> list[Dims]:
    return [(None, None), (None,), (None,)]


def _deserialized_many_shape(ctx: ShapeContext) -> list[Dims]:
    columns = ctx.rank("serialized_sparse", 2)[1]
    if columns not in (None, 3):
        raise ValueError(
            f"Dimension must be 3 but is {columns}: a row holds positions, entries and shape"
        )
    return _deserialized_shape(ctx)


for _name, _kernel, _text_kernel, _shape in (
    ("SerializeSparse", _serialize, _serialize_text, _one_shape),
    ("SerializeManySparse", _serialize_many, _serialize_many_text, _many_shape),
):
    define_op(
        _name,
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
        " -> serialized_sparse: out_type",
        attrs=["T: type", "out_type: {string, variant} = string"],
        shape=_shape,
        kernel=_kernel,
        inline=_textual(_text_kernel),
        stateful=True,  # a variant is no constant
        no_gradient=_REASON,
    )
define_op(
    "DeserializeSparse",
    "serialized_sparse: Tserialized"
    " -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    attrs=["dtype: type", "Tserialized: {string, variant} = string"],
    shape=_deserialized_shape,
    kernel=_deserialize,
    stateful=True,
    no_gradient=_REASON,
)
define_op(
    "DeserializeManySparse",
    "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    attrs=["dtype: type"],
    shape=_deserialized_many_shape,
    kernel=_deserialize,
    no_gradient=_REASON,
)
