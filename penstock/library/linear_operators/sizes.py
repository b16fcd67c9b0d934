"""Numbers of rows and batch shapes given as values: ints, vectors, or tensors of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.linear_operators import dense
from penstock.ops.array import nodes
from penstock.ops.control import check, control


def scalar(value: Any, name: str) -> tuple[Tensor, int | None]:
    """A number of rows as a tensor, and its value where it is known.

    Raises:
      TypeError: it is not an integer.
      ValueError: it is no scalar, or negative.
    """
    tensor = _integer(value, name)
    known = static.constant_value(tensor)
    if known is None:
        return tensor, None
    if known.ndim != 0:
        raise ValueError(f"{name} must be a scalar; found {known.tolist()}")
    if known < 0:
        raise ValueError(f"{name} must not be negative; found {known}")
    return tensor, int(known)


def vector(value: Any, checked: bool) -> tuple[Tensor, shapes.TensorShape]:
    """A batch shape as a tensor, and what is known of it.

    With ``checked``, a step checks the sizes that are not known before.

    Raises:
      TypeError: it is not of integers.
      ValueError: it is no vector, or has a negative size.
    """
    tensor = _integer(value, "batch_shape")
    if tensor.sizes is not None and len(tensor.sizes) != 1:
        raise ValueError(f"batch_shape must be a vector; its shape is {tensor.shape}")
    known = static.constant_value(tensor)
    if known is not None and (known < 0).any():
        raise ValueError(f"batch_shape must not have negative sizes; found {known.tolist()}")
    found = shapes.TensorShape(static.constant_value_as_shape(tensor))
    if known is None and checked:
        tensor = with_checks(tensor, "batch_shape", 1)
    return tensor, found


def _integer(value: Any, name: str) -> Tensor:
    if isinstance(value, list | tuple) and not len(value):
        value = np.zeros([0], np.int32)
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be of an integer dtype; found {tensor.dtype.name}")
    return tensor


def with_checks(tensor: Tensor, name: str, rank: int) -> Tensor:
    """``tensor``, of which a step checks that it is of ``rank`` and not negative."""
    checks = [
        check.assert_rank(tensor, rank, message=f"{name} must be of rank {rank}"),
        check.assert_non_negative(tensor, message=f"{name} must not be negative"),
    ]
    return control.with_dependencies(checks, tensor)  # type: ignore[no-any-return]


def with_matching_rows(x: Tensor, rows: Tensor) -> Tensor:
    """``x`` ``[..., N, R]``, of which a step checks that N is ``rows``."""
    found = nodes.cast(nodes.element(nodes.shape(x), -2), rows.dtype)
    checked = check.assert_equal(rows, found, message="num_rows must fit what is multiplied")
    return control.with_dependencies([checked], x)  # type: ignore[no-any-return]


def spread(x: Tensor, batch: Tensor, known: shapes.TensorShape) -> Tensor:
    """``x`` ``[..., N, R]`` with its batch dims broadcast with those of ``batch``."""
    mine = x.shape[:-2] if x.sizes is not None else shapes.unknown_shape()
    common = dense.common_batch([mine, known])
    if x.sizes is not None and mine.is_fully_defined() and common == mine:
        if known.is_fully_defined():
            return x
    vectors = [
        constant(np.array(mine.as_list(), np.int32), name="batch")
        if mine.is_fully_defined()
        else nodes.head(nodes.shape(x), -2),
        nodes.cast(batch, "int32"),
    ]
    return dense.expand_batch(x, dense.common_batch_tensor(vectors), common)
