"""What operators are made of: conversion and checks of constructors' arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import dense
from penstock.library.variables.module import Module
from penstock.library.variables.variable import Variable
from penstock.ops.array import nodes
from penstock.ops.control import check, control

FLOATS_AND_COMPLEX = (
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
)  # fmt: skip


class Held:
    """An attribute that is given as a tensor or a reference to one, and read as a tensor.

    A variable, or a module that converts to a tensor, stays what it is, so that the operator has it
    among its ``variables`` and each node reads the value of its own step.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._given = f"{name}_given"

    def __set__(self, operator: Any, value: Any) -> None:
        setattr(operator, self._given, value)

    def __get__(self, operator: Any, owner: type) -> Any:
        if operator is None:
            return self
        return convert_to_tensor(getattr(operator, self._given))


def given(operator: Any, name: str) -> Any:
    """What the attribute ``name``, a ``Held``, was given: a tensor or a variable."""
    return getattr(operator, f"{name}_given")


def array(value: Any, name: str, rank: int, allowed: Sequence[Any] | None = None) -> Any:
    """``value`` as a tensor of at least ``rank`` dims and one of the dtypes ``allowed``.

    Returns:
      A tensor; a reference to one as it is.

    Raises:
      TypeError: another dtype.
      ValueError: fewer dims.
    """
    found = held(value, name=name)
    if allowed is not None and found.dtype.base_dtype not in allowed:
        names = [dtype.name for dtype in allowed]
        raise TypeError(f"{name} must be of dtype {', '.join(names)}; found {found.dtype.name}")
    known = shapes.as_shape(found.shape).ndims
    if known is not None and known < rank:
        raise ValueError(f"{name} must have at least {rank} dim(s); its shape is {found.shape}")
    return found


def held(value: Any, name: str | None = None) -> Any:
    """A reference to a tensor as it is; anything else as a tensor."""
    return value if is_reference(value) else convert_to_tensor(value, name=name)


def is_reference(value: Any) -> bool:
    """Whether it is a variable, or a module that stands for a tensor: with a dtype and a shape."""
    module = isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")
    return module or isinstance(value, Variable)


def implied(hint: str, given: bool | None, holds: bool, why: str) -> bool:
    """``holds``: a hint that follows from what the operator is.

    Raises:
      ValueError: the hint ``given`` is the opposite.
    """
    if given is (not holds):
        raise ValueError(f"{hint} must be {holds} or None: {why}; found {given}")
    return holds


def impossible(message: str) -> errors.InvalidArgumentError:
    """The error of an assertion that cannot hold for the class."""
    return errors.invalid(message)


def operators_of_one_dtype(operators: Sequence[Any]) -> list[Any]:
    """The operators as a list.

    Raises:
      ValueError: there are none.
      TypeError: it is no list, or their dtypes differ.
    """
    found = list(operators)
    if not found:
        raise ValueError("operators must name at least one operator; the list is empty")
    if any(operator.dtype != found[0].dtype for operator in found):
        pairs = ", ".join(f"{one.name} of {one.dtype.name}" for one in found)
        raise TypeError(f"operators must be of one dtype; found {pairs}")
    return found


def parents_of(operators: Sequence[Any]) -> list[Any]:
    """The tensors that operators are made of."""
    return [parent for operator in operators for parent in operator.graph_parents]


def together(given: bool | None, all_have: bool, message: str) -> bool | None:
    """A hint that holds of several operators together where it holds of each.

    Raises:
      ValueError: it holds of each, and the hint ``given`` says no.
    """
    if not all_have:
        return given
    if given is False:
        raise ValueError(message)
    return True


def hints_of_all(
    operators: Sequence[Any],
    is_non_singular: bool | None,
    is_self_adjoint: bool | None,
    is_positive_definite: bool | None,
    what: str,
) -> dict[str, Any]:
    """The three hints, each True where it is of all ``operators``.

    Raises:
      ValueError: one is True of all, and given as False.
    """
    rows = (
        ("non-singular", "is_non_singular", is_non_singular),
        ("self-adjoint", "is_self_adjoint", is_self_adjoint),
        ("positive definite", "is_positive_definite", is_positive_definite),
    )
    return {
        attribute: together(
            hint,
            all(getattr(operator, attribute) for operator in operators),
            f"the {what} of {word} operators is {word}; {attribute} must not be False",
        )
        for word, attribute, hint in rows
    }


def assert_no_zeros(x: Tensor, message: str) -> Operation:
    """Asserts that no element of ``x`` is zero."""
    sizes = dense.modulus(x)
    return check.assert_less(nodes.zeros([], sizes.dtype), sizes, message=message)


def assert_real(x: Tensor, message: str) -> Operation:
    """Asserts that no element of ``x`` has an imaginary part."""
    if not x.dtype.is_complex:
        return control.no_op("assert_real")
    imaginary = dense.imaginary(x)
    return check.assert_equal(nodes.zeros([], imaginary.dtype), imaginary, message=message)
