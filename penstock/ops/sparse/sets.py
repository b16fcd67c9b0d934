"""Sets: the last dim of a tensor holds sets, one for each combination of the other dims.

Sets are dense (a row; what it repeats counts once) or sparse (what a sparse tensor has in the row);
results are sparse, each set in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext
from penstock.ops.strings.string_elements import strings

_REASON = "sets have none"
_TYPES = "T: {int8, int16, int32, int64, uint8, uint16, string}"
_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}
Sets = dict[tuple[int, ...], set[Any]]


# ---- kernels -------------------------------------------------------------------------------------


def _listed(values: Any) -> list[Any]:
    return values.reshape(-1).tolist()


def _dense_sets(values: Any) -> tuple[Sets, tuple[int, ...]]:
    shape = tuple(values.shape)
    if len(shape) < 2:
        raise invalid(f"a set tensor has rank 2 or more; its shape is {list(shape)}")
    lead, size = shape[:-1], shape[-1]
    flat = _listed(values)
    return {
        group: set(flat[i * size : (i + 1) * size]) for i, group in enumerate(np.ndindex(lead))
    }, lead


def _sparse_sets(
    indices: torch.Tensor, values: Any, shape: torch.Tensor, validate: bool
) -> tuple[Sets, tuple[int, ...]]:
    rank = len(shape)
    if indices.shape[1:] != (rank,) or indices.shape[0] != values.shape[0]:
        raise invalid(
            f"a sparse set of shape {shape.tolist()} has indices of shape {list(indices.shape)} and"
            f" values of shape {list(values.shape)}"
        )
    if rank < 2:
        raise invalid(f"a set tensor has rank 2 or more; its shape is {shape.tolist()}")
    lead = tuple(shape[:-1].tolist())
    rows = [tuple(row) for row in indices.tolist()]
    if validate:
        _check_order(rows, tuple(shape.tolist()))
    sets: Sets = {}
    for row, value in zip(rows, _listed(values), strict=True):
        sets.setdefault(row[:-1], set()).add(value)
    return sets, lead


def _check_order(rows: list[tuple[int, ...]], limits: tuple[int, ...]) -> None:
    for number, row in enumerate(rows):
        if any(not 0 <= i < n for i, n in zip(row, limits, strict=True)):
            raise invalid(
                f"indices[{number}] = {list(row)} is out of bounds: need 0 <= index <"
                f" {list(limits)}"
            )
        if number and row <= rows[number - 1]:
            what = "repeated" if row == rows[number - 1] else "out of order"
            raise invalid(f"indices[{number}] = {list(row)} is {what}")


def _combined(
    first: tuple[Sets, tuple[int, ...]], second: tuple[Sets, tuple[int, ...]], operation: str,
    dtype: Any,
) -> Any:  # fmt: skip
    combine = _OPERATIONS.get(operation.lower() if isinstance(operation, str) else operation)
    if combine is None:
        raise invalid(f"Invalid set_operation {operation!r}; allowed are {sorted(_OPERATIONS)}")
    (a, lead), (b, other) = first, second
    if len(lead) != len(other):
        raise invalid(f"Mismatched ranks: the sets are grouped by {list(lead)} and {list(other)}")
    if lead != other:
        raise invalid(f"Mismatched group shapes: {list(lead)} and {list(other)}")
    indices: list[tuple[int, ...]] = []
    values: list[Any] = []
    widest = 0
    for group in sorted(a.keys() | b.keys()):
        made = sorted(combine(a.get(group, set()), b.get(group, set())))
        indices += [(*group, i) for i in range(len(made))]
        values += made
        widest = max(widest, len(made))
    return (
        torch.tensor(indices, dtype=torch.int64).reshape(len(indices), len(lead) + 1),
        strings(values) if dtype is object else torch.tensor(values, dtype=dtype),
        torch.tensor([*lead, widest]),
    )


def _dense_dense(set1: Any, set2: Any, set_operation: str, T: Any) -> Any:
    return _combined(_dense_sets(set1), _dense_sets(set2), set_operation, T)


def _dense_sparse(
    set1: Any, set2_indices: Any, set2_values: Any, set2_shape: Any, set_operation: str,
    validate_indices: bool, T: Any,
) -> Any:  # fmt: skip
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense_sets(set1), second, set_operation, T)


def _sparse_sparse(
    set1_indices: Any, set1_values: Any, set1_shape: Any, set2_indices: Any, set2_values: Any,
    set2_shape: Any, set_operation: str, validate_indices: bool, T: Any,
) -> Any:  # fmt: skip
    first = _sparse_sets(set1_indices, set1_values, set1_shape, validate_indices)
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(first, second, set_operation, T)


def _set_size(
    set_indices: Any, set_values: Any, set_shape: Any, validate_indices: bool
) -> torch.Tensor:
    sets, lead = _sparse_sets(set_indices, set_values, set_shape, validate_indices)
    sizes = torch.zeros(lead, dtype=torch.int32)
    for group, found in sets.items():
        sizes[group] = len(found)
    return sizes


# ---- shapes --------------------------------------------------------------------------------------


def _result(rank: int | None) -> list[Dims]:
    return [(None, rank), (None,), (rank,)]


def _sparse_rank(ctx: ShapeContext, prefix: str) -> int | None:
    indices = ctx.rank(f"{prefix}_indices", 2)
    count = ctx.rank(f"{prefix}_values", 1)[0]
    (depth,) = ctx.rank(f"{prefix}_shape", 1)
    if None not in (indices[0], count) and indices[0] != count:
        raise ValueError(f"{prefix} has {indices[0]} indices and {count} values")
    if None not in (indices[1], depth) and indices[1] != depth:
        raise ValueError(f"{prefix}_indices have {indices[1]} columns, {prefix}_shape {depth} dims")
    return depth if indices[1] is None else indices[1]


def _dense_dense_shape(ctx: ShapeContext) -> list[Dims]:
    first, second = ctx["set1"], ctx["set2"]
    for name, dims in (("set1", first), ("set2", second)):
        if dims is not None and len(dims) < 2:
            raise ValueError(f"{name} must have rank at least 2, but has shape {list(dims)}")
    if first is not None and second is not None:
        if len(first) != len(second):
            raise ValueError(f"set1 has rank {len(first)}, set2 {len(second)}")
        shapes.merge_static(first[:-1], second[:-1])
    known = first if first is not None else second
    return _result(None if known is None else len(known))


def _dense_sparse_shape(ctx: ShapeContext) -> list[Dims]:
    dims, rank = ctx["set1"], _sparse_rank(ctx, "set2")
    if dims is None:
        return _result(rank)
    if len(dims) < 2:
        raise ValueError(f"set1 must have rank at least 2, but has shape {list(dims)}")
    if rank is not None and rank != len(dims):
        raise ValueError(f"set1 has rank {len(dims)}, set2 {rank}")
    return _result(len(dims))


def _sparse_sparse_shape(ctx: ShapeContext) -> list[Dims]:
    ranks = [_sparse_rank(ctx, "set1"), _sparse_rank(ctx, "set2")]
    result = _result(ranks[0] if ranks[1] is None else ranks[1])
    if None not in ranks and ranks[0] != ranks[1]:
        raise FailsAtRun(f"Mismatched ranks: set1 has rank {ranks[0]}, set2 {ranks[1]}", result)
    return result


def _set(number: int) -> str:
    return f"set{number}_indices: int64, set{number}_values: T, set{number}_shape: int64"


for _name, _inputs, _shape, _kernel in (
    ("DenseToDenseSetOperation", "set1: T, set2: T", _dense_dense_shape, _dense_dense),
    ("DenseToSparseSetOperation", f"set1: T, {_set(2)}", _dense_sparse_shape, _dense_sparse),
    ("SparseToSparseSetOperation", f"{_set(1)}, {_set(2)}", _sparse_sparse_shape, _sparse_sparse),
):
    define_op(
        _name,
        f"{_inputs} -> result_indices: int64, result_values: T, result_shape: int64",
        attrs=["set_operation: string", "validate_indices: bool = True", _TYPES],
        shape=_shape,
        kernel=_kernel,
        no_gradient=_REASON,
    )


def _unknown(ctx: ShapeContext) -> Dims:
    return None


define_op(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    attrs=["validate_indices: bool = True", _TYPES],
    shape=_unknown,
    kernel=_set_size,
    no_gradient=_REASON,
)


# ---- public functions ----------------------------------------------------------------------------

_ALLOWED = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16,
    dtypes.string,
)  # fmt: skip


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different values each set has.

    Args:
      a: a SparseTensor whose last dim holds sets.
      validate_indices: checks that its indices are in order.

    Returns:
      int32, of the shape of ``a`` without its last dim.

    Raises:
      TypeError: ``a`` is not sparse, or of another type.
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    _check_type(a, "a")
    return make("SetSize", a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def _check_type(value: Any, name: str) -> None:
    if value.dtype.base_dtype not in _ALLOWED:
        raise TypeError(f"'{name}' invalid dtype {value.dtype}.")


def _as_set(value: Any) -> Any:
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def _set_operation(a: Any, b: Any, operation: str, validate: bool) -> SparseTensor:
    a, b = _as_set(a), _as_set(b)
    _check_type(a, "a")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        # There is an op for a dense first set only.
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    kinds = ["Sparse" if isinstance(s, SparseTensor) else "Dense" for s in (a, b)]
    indices, values, shape = make(
        f"{kinds[0]}To{kinds[1]}SetOperation", *_parts(a), *_parts(b),
        set_operation=operation, validate_indices=validate,
    )  # fmt: skip
    return SparseTensor(indices, values, shape)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What both sets have, set by set.

    Args:
      a, b: tensors or SparseTensors of one type, whose last dim holds sets; all other dims are
        the same.
      validate_indices: checks that the indices of sparse ones are in order.

    Returns:
      A SparseTensor.

    Raises:
      TypeError: types that are not allowed or differ.
    """
    return _set_operation(a, b, "intersection", validate_indices)


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """What ``a`` has and ``b`` lacks (the other way round without ``aminusb``), set by set.

    Args:
      a, b, validate_indices: as of ``set_intersection``.
      aminusb: which of the two is subtracted.

    Returns:
      A SparseTensor.
    """
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What either set has, set by set.

    Args:
      a, b, validate_indices: as of ``set_intersection``.

    Returns:
      A SparseTensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.sets.union([[1, 2]], [[2, 3]])).values.tolist()
      [1, 2, 3]
    """
    return _set_operation(a, b, "union", validate_indices)
