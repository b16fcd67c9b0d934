"""``tf.ragged.constant``, ``constant_value``, ``placeholder``: from nested lists, for feeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant as constant_node
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.tensor import from_nested
from penstock.library.ragged_tensors.value import RaggedTensorValue
from penstock.ops.array import constant as constant_ops


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists.

    Args:
      pylist: lists in lists of numbers, strings or truth values, all at one depth.
      dtype: element type; by default what the elements suggest.
      ragged_rank: how many dims are ragged; by default all below the first that are no part of
        ``inner_shape``.
      inner_shape: the shape of the elements of the innermost ragged dim.
      row_splits_dtype: int32 or int64.

    Returns:
      A RaggedTensor; a Tensor where no dim is ragged.

    Raises:
      ValueError: the elements are at different depths, or do not fit ``ragged_rank`` or
        ``inner_shape``.

    >>> rt = tf.ragged.constant([[[1], [2, 3]], []])
    >>> with tf.Session() as session:
    ...     session.run(rt).to_list(), rt.ragged_rank
    ([[[1], [2, 3]], []], 2)
    """
    splits_dtype = dtypes.as_dtype(row_splits_dtype)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    with name_scope(name, "RaggedConstant"):
        return _built(
            pylist, ragged_rank, inner_shape, splits_dtype,
            lambda values, shape: constant_ops.constant(values, wanted, shape, name="values"),
            lambda flat, nested: from_nested(flat, [constant_node(s) for s in nested]),
        )  # fmt: skip


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """A RaggedTensorValue of nested lists; an array where no dim is ragged.

    The arguments are as for ``tf.ragged.constant``.
    """
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype

    def array(values: Any, shape: Any) -> np.ndarray:
        if values and all(isinstance(v, str) for v in _scalars(values)):
            made = np.array(values, dtype)
        else:
            made = np.array(values, dtype)
        return made if shape is None else made.reshape(shape)

    def build(flat: Any, nested: list[np.ndarray]) -> Any:
        for splits in reversed(nested):
            flat = RaggedTensorValue(flat, splits)
        return flat

    splits_dtype = dtypes.as_dtype(row_splits_dtype)
    return _built(pylist, ragged_rank, inner_shape, splits_dtype, array, build)


def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A placeholder that is fed a RaggedTensorValue.

    Args:
      dtype: element type.
      ragged_rank: how many dims are ragged.
      value_shape: the shape of the elements of the innermost ragged dim.

    Returns:
      A RaggedTensor; a Tensor where ``ragged_rank`` is 0.
    """
    if ragged_rank == 0:
        return constant_ops.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder"):
        shape = None if value_shape is None else [None, *value_shape]
        flat = constant_ops.placeholder(dtype, shape, "flat_values")
        nested = [
            constant_ops.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            for i in reversed(range(ragged_rank))
        ]
        return from_nested(flat, nested[::-1])


def _built(
    pylist: Any,
    ragged_rank: int | None,
    inner_shape: Any,
    splits_dtype: dtypes.DType,
    leaf: Callable[[Any, Any], Any],
    build: Callable[[Any, list[np.ndarray]], Any],
) -> Any:
    if splits_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("row_splits must have dtype int32 or int64")
    pylist = _as_lists(pylist)
    if not isinstance(pylist, list):
        if ragged_rank:
            raise ValueError("Invalid pylist: incompatible with ragged_rank > 0: it is a scalar")
        if inner_shape:
            raise ValueError("Invalid pylist: incompatible with inner_shape: it is a scalar")
        return leaf(pylist, ())
    rank = _ragged_rank(pylist, ragged_rank, inner_shape)
    inner = pylist
    nested = []
    for _ in range(rank):
        ends = np.cumsum([0, *map(len, inner)])
        nested.append(ends.astype(splits_dtype.as_numpy_dtype))
        inner = [item for row in inner for item in row]
    shape = _inner_shape(inner, inner_shape, rank, ragged_rank)
    return build(leaf(inner, shape), nested)


def _as_lists(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_as_lists(item) for item in value]
    return value


def _scalars(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [scalar for item in value for scalar in _scalars(item)]


def _depths(value: Any) -> tuple[int | None, int]:
    """The depth of scalars (None where there are none), and the greatest depth of lists."""
    if not isinstance(value, list):
        return 0, 0
    scalars, deepest = None, 1
    for item in value:
        depth, below = _depths(item)
        if depth is not None:
            if scalars is not None and scalars != depth + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = depth + 1
        deepest = max(deepest, below + 1)
    return scalars, deepest


def _ragged_rank(pylist: list[Any], asked: int | None, inner_shape: Any) -> int:
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError("Invalid pylist: empty list nesting is greater than scalar value nesting")
    if asked is None:
        inner = 0 if inner_shape is None else len(inner_shape)
        return max(0, (deepest if scalars is None else scalars) - 1 - inner)
    if scalars is not None and asked >= scalars:
        raise ValueError(
            f"Invalid pylist: pylist has scalar values depth {scalars}, but ragged_rank={asked}"
            " requires scalar value depth greater than"
            f" {asked}"
        )
    if scalars is None and deepest < asked:
        raise ValueError(
            f"pylist has max nesting depth {deepest}, but ragged_rank={asked} requires at least"
            f" {asked}"
        )
    return asked


def _inner_shape(inner: list[Any], asked: Any, rank: int, given_rank: int | None) -> Any:
    """The shape of the flat values; None where they say it themselves."""
    found = _uniform_shape(inner)
    if asked is None:
        return found
    shape = (len(inner), *asked)
    if inner and tuple(found) != shape:
        raise ValueError(f"inner values have inconsistent shape: {found}, but {shape} was asked")
    return shape


def _uniform_shape(items: Any) -> tuple[int, ...]:
    if not isinstance(items, list):
        return ()
    shapes = {_uniform_shape(item) for item in items}
    if len(shapes) > 1:
        raise ValueError("inner values have inconsistent shape")
    return (len(items), *(shapes.pop() if shapes else ()))
