"""Checks that one tensor has the shape of another, now or in the run."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import ranks, shape
from penstock.ops.control import control, debug
from penstock.ops.math import comparison, reductions


def with_same_shape(expected: Any, given: Any) -> Any:
    """``given``, which must have the shape of ``expected``; what is no tensor is let through.

    Raises:
      ValueError: the shapes are known and differ.
      InvalidArgumentError: they differ in the run.
    """
    if not (isinstance(expected, Tensor) and isinstance(given, Tensor)):
        return given
    with scopes.name_scope(f"{given.op.name}/", values=[expected, given]):
        wanted, found = expected.get_shape(), given.get_shape()
        if not wanted.is_fully_defined():
            dims = shape.shape(expected, name="expected_shape")
            with scopes.control_dependencies([_assert_shape(dims, given)]):
                return control.identity(given)
        if not wanted.is_compatible_with(found):
            raise ValueError(
                f"Invalid shape for tensor {given.name}, expected {wanted}, got {found}."
            )
        if not found.is_fully_defined():
            with scopes.control_dependencies([_assert_shape(wanted.as_list(), given)]):
                given = control.identity(given)
            given.set_shape(wanted)
    return given


def _assert_shape(expected: Any, given: Tensor) -> Any:
    with scopes.name_scope("assert_shape") as scope:
        actual = shape.shape(given, name="actual")
        fits = _is_shape(expected, actual, given)
        message = f"Wrong shape for {given.name} [expected] [actual]."
        return debug.Assert(fits, [message, expected, actual], name=scope)


def _is_shape(expected: Any, actual: Tensor, given: Tensor) -> Tensor:
    with scopes.name_scope("is_shape") as whole:
        rank = ranks.size(expected)
        with scopes.name_scope("is_rank") as scope:
            same_rank = comparison.equal(rank, ranks.rank(given, name="actual"), name=scope)
        with scopes.name_scope("shape_tensor_equal") as scope:
            same = reductions.reduce_all(
                comparison.logical_or(
                    comparison.equal(expected, -1),
                    comparison.equal(expected, actual, name="equal_1"),
                    name="exclude_partial_shape",
                ),
                name=scope,
            )
        made: Tensor = comparison.logical_and(same_rank, same, name=whole)
        return made
