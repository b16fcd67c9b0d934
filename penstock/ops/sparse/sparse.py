"""Sparse tensors made dense."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext, show
from penstock.ops.array import fill, nodes, reshape, unsigned
from penstock.ops.math import reduction


def _to_dense_shape(ctx: ShapeContext) -> Any:
    ctx.rank("output_shape", 1)
    dims = ctx.shape_value("output_shape")
    if ctx["default_value"]:
        raise FailsAtRun(
            f"default_value should be a scalar; its shape is {show(ctx['default_value'])}", dims
        )
    indices = ctx["sparse_indices"]
    if indices is not None and len(indices) > 2:
        raise FailsAtRun(
            f"sparse_indices should be a scalar, vector, or matrix, got shape {show(indices)}", dims
        )
    if dims is not None and indices is not None and len(indices) == 2:
        depth = indices[1]
        if depth is not None and depth != len(dims):
            raise FailsAtRun(_wrong_depth(depth, list(dims)), dims)
    return dims


def _wrong_depth(depth: int, output_shape: list[Any]) -> str:
    return (
        f"output_shape has incorrect number of elements: {len(output_shape)} should be: {depth}:"
        f" it is {output_shape}, and sparse_indices has rows of {depth} number(s)"
    )


def _to_dense(
    sparse_indices: torch.Tensor,
    output_shape: list[int],
    sparse_values: Any,
    default_value: Any,
    validate_indices: bool,
) -> Any:
    rank = len(output_shape)
    # A scalar is one index, a vector holds indices into a vector.
    indices = sparse_indices.reshape(-1, 1) if sparse_indices.dim() < 2 else sparse_indices
    count = indices.shape[0]
    if indices.shape[1] != rank:
        raise ValueError(_wrong_depth(indices.shape[1], output_shape))
    if sparse_values.ndim > 1 or sparse_values.ndim == 1 and sparse_values.shape[0] != count:
        raise ValueError(
            f"sparse_values has incorrect shape {list(sparse_values.shape)}, should be [] or"
            f" [{count}]"
        )
    if count:
        _check_indices(indices, output_shape, validate_indices)
    if isinstance(sparse_values, np.ndarray):
        text = np.full(output_shape, default_value[()], dtype=object)
        if rank:
            text[tuple(indices.numpy().T)] = sparse_values
        elif count:
            text[()] = sparse_values.item()
        return text
    dense = default_value.expand(output_shape).clone()
    if count:
        # ATen moves no unsigned integers by index: move the same bits as signed ones.
        signed = unsigned.SIGNED.get(dense.dtype, dense.dtype)
        values = sparse_values.view(signed)
        if rank:
            dense.view(signed).index_put_(indices.long().unbind(1), values)
        else:  # a scalar, which has no dim to index
            dense.view(signed).copy_(values.reshape(()))
    return dense


def _check_indices(indices: torch.Tensor, output_shape: list[int], ordered: bool) -> None:
    limits = torch.tensor(output_shape, dtype=indices.dtype, device=indices.device)
    outside = ((indices < 0) | (indices >= limits)).any(1)
    if bool(outside.any()):
        row = int(outside.nonzero()[0])
        raise ValueError(
            f"indices[{row}] = {_shown(indices[row].tolist())} is out of bounds: need 0 <= index <"
            f" {_shown(output_shape)}"
        )
    if not ordered:
        return
    rows = [tuple(row) for row in indices.tolist()]
    for row in range(1, len(rows)):
        if rows[row] <= rows[row - 1]:
            what = "repeated" if rows[row] == rows[row - 1] else "out of order"
            raise ValueError(f"indices[{row}] = {_shown(rows[row])} is {what}")


def _shown(numbers: Iterable[int]) -> str:
    """``[1,2]``: as TensorFlow writes indices."""
    return f"[{','.join(map(str, numbers))}]"


def _to_dense_grad(op: Any, grad: Tensor) -> list[Any]:
    indices, shape, given = op.inputs[0], op.inputs[1], op.inputs[2]
    places = indices
    if indices.shape.ndims in (0, 1):
        # TensorFlow takes a vector of indices for one index here, and fails.
        places = reshape.reshape(indices, [-1, 1])
    values = make("GatherNd", grad, places)
    default = reduction.reduce_sum(grad) - reduction.reduce_sum(values)
    if given.shape.ndims == 0:
        values = reduction.reduce_sum(values)
    return [nodes.zeros_like(indices), nodes.zeros_like(shape), values, default]


define_op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T"
    " -> dense: T",
    attrs=["validate_indices: bool = True", "T: type", "Tindices: {int32, int64}"],
    shape=_to_dense_shape,
    kernel=_to_dense,
    host=("output_shape",),
    gradient=_to_dense_grad,
)


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor with given values at given places and one value everywhere else.

    Args:
      sparse_indices: int32 or int64: a scalar, ``[n]`` (places in a vector) or ``[n, rank]``.
      output_shape: 1-D, of the same type.
      sparse_values: ``[n]``, or a scalar for all places.
      default_value: scalar, for all other places.
      validate_indices: whether to check that indices are in lexicographic order, without repeats.

    Returns:
      A tensor of shape ``output_shape``.

    Raises:
      InvalidArgumentError: when it is run, for an index out of bounds (or out of order).
    """
    return make(
        "SparseToDense", sparse_indices, output_shape, sparse_values, default_value, name=name,
        validate_indices=validate_indices,
    )  # fmt: skip


def sparse_tensor_to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """A ``SparseTensor`` made dense.

    Args:
      sp_input: the sparse tensor.
      default_value: scalar for places without a value; zero (or the empty string) by default.
      validate_indices: whether to check the order of indices.

    Returns:
      A dense tensor of the shape and type of ``sp_input``.

    Raises:
      TypeError: ``sp_input`` is not a SparseTensor.
    """
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor; found {type(sp_input).__name__}")
    if default_value is None:
        default_value = fill.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices,
        name,
    )  # fmt: skip
