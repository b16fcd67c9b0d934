"""Checks of tensors: their shapes when the graph is built, or else when a step runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.behavior import is_tensor
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors import dispatched
from penstock.library.ragged_tensors.dispatched import (
    add_n,
    identity,
    logical_and,
    logical_or,
    rank,
    reduce_all,
    reduce_sum,
    size,
    squeeze,
)
from penstock.ops.array import shape as shape_ops
from penstock.ops.array.reshape import reshape
from penstock.ops.control.check import assert_scalar
from penstock.ops.control.debug import Assert


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The sum of all elements of some tensors.

    Args:
      tensors: list of tensors.
      name: name scope.

    Returns:
      A scalar.

    Raises:
      ValueError: no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Drops the last dim, of size 1, of the one that has a dim more than the other.

    Args:
      predictions: tensor.
      labels: tensor of the same shape, but maybe for the last dim.
      name: name scope.

    Returns:
      Predictions and labels.
    """
    with name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        ranks = predictions.get_shape().ndims, labels.get_shape().ndims
        if None not in ranks:
            more = ranks[0] - ranks[1]
            if more == 1:
                predictions = squeeze(predictions, [-1])
            elif more == -1:
                labels = squeeze(labels, [-1])
            return predictions, labels
        difference = rank(predictions) - rank(labels)
        return (
            _squeezed_where(1, difference, predictions),
            _squeezed_where(-1, difference, labels),
        )


def _squeezed_where(wanted: int, difference: Any, tensor: Any) -> Any:
    shape = tensor.get_shape()
    if shape.ndims is not None and not shape.dims[-1].is_compatible_with(1):
        return tensor
    return cond(dispatched.equal(wanted, difference), lambda: squeeze(tensor, [-1]), lambda: tensor)


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """Checks that a tensor is a scalar integer.

    Args:
      tensor: what is to be one.
      name: name scope.

    Returns:
      The tensor.

    Raises:
      ValueError: another type or rank.
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        return assert_scalar(tensor, name=scope)


# ---- a shape that is known, or checked -------------------------------------------------------


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """``tensor``, known or checked to have the shape of ``expected_tensor``.

    Args:
      expected_tensor: the tensor with the shape.
      tensor: the tensor to check.

    Raises:
      ValueError: the shapes are known and differ.
    """
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(shape_ops.shape(expected_tensor, name="expected_shape"), tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """``tensor``, known or checked to have a shape.

    Args:
      expected_shape: list of sizes (-1 for any), or an int32 vector.
      tensor: the tensor to check.

    Returns:
      The tensor; one that checks the shape as a step runs, where it is not known before.

    Raises:
      ValueError: the shape is known and another, or is no vector of int32.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    dynamic = is_tensor(expected_shape)
    if not dynamic:
        expected_shape = _sizes(expected_shape)
    _check_sizes(expected_shape, tensor)
    actual = tensor.get_shape()
    scope = f"{tensor.op.name}/"
    if dynamic or not actual.is_fully_defined():
        with name_scope(scope, values=[tensor]):
            if not dynamic and len(expected_shape) < 1:
                return reshape(tensor, [])
            with control_dependencies([_shape_assertion(expected_shape, tensor)]):
                checked = identity(tensor)
            if not dynamic:
                checked.set_shape([None if d == -1 else d for d in expected_shape])
            return checked
    if not actual.is_compatible_with([None if d == -1 else d for d in expected_shape]):
        if len(expected_shape) < 1 and actual.is_compatible_with([1]):
            with name_scope(scope, values=[tensor]):
                return reshape(tensor, [])
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {expected_shape}, got {actual}."
        )
    return tensor


def _sizes(given: Any) -> Any:
    if isinstance(given, TensorShape):
        given = [-1 if d is None else d for d in given.as_list()]
    if isinstance(given, list | tuple):
        array = np.asarray(given) if given else np.zeros([0], np.int32)
        return array.astype(np.int32) if array.dtype == np.int64 else array
    return given


def _check_sizes(shape: Any, tensor: Any) -> None:
    ndim = getattr(shape, "ndim", 1) if isinstance(shape, np.ndarray) else 1
    if ndim > 1:
        raise ValueError(f"Invalid rank {ndim} for shape {shape} expected of tensor {tensor.name}.")
    dtype = dtypes.as_dtype(shape.dtype).base_dtype
    if dtype != dtypes.int32:
        raise ValueError(
            f"Invalid dtype {dtype.name} for shape {shape} expected of tensor {tensor.name}."
        )


def _shape_assertion(expected: Any, tensor: Any) -> Any:
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = shape_ops.shape(tensor, name="actual")
        with name_scope("is_shape", values=[tensor]) as inner:
            same = logical_and(
                _is_rank(size(expected), tensor), _compatible(expected, actual), name=inner
            )
        text = f"Wrong shape for {tensor.name} [expected] [actual]."
        return Assert(same, [text, expected, actual], name=scope)


def _is_rank(expected: Any, tensor: Any) -> Any:
    with name_scope("is_rank", values=[tensor]) as scope:
        wanted = convert_to_tensor(expected, name="expected")
        return dispatched.equal(wanted, rank(tensor, name="actual"), name=scope)


def _compatible(expected: Any, actual: Any) -> Any:
    with name_scope("shape_tensor_equal", values=[expected, actual]) as scope:
        left_open = dispatched.equal(expected, -1)
        equal = dispatched.equal(expected, actual, "equal")
        either = logical_or(left_open, equal, name="exclude_partial_shape")
        return reduce_all(either, name=scope)
