"""Slots: variables that go with another one, as momentum goes with a weight.

A slot of ``W`` called ``Momentum`` is the variable ``W/Momentum``, made in the variable scope of
that name (so it is reused where scopes are), placed with ``W``, not trainable, and of W's style
(reference or resource).  The slot of a slice of a partitioned variable is a slice of the
partitioned slot.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from penstock.library.variables import (
    getting,
    initializers,
    ref_variable,
    resource_variable,
    scope,
    scoping,
)
from penstock.library.variables.slice_info import SaveSliceInfo
from penstock.library.variables.variable import Variable
from penstock.ops.array import fill, shape as shape_ops
from penstock.training.distribute.context import colocate_vars_with


def _style(primary: Any) -> bool | None:
    """What ``use_resource`` a slot of ``primary`` is made with."""
    if isinstance(primary, resource_variable.ResourceVariable):
        return True
    return False if isinstance(primary, ref_variable.RefVariable) else None


def _create(
    primary: Any, value: Any, name: str, colocate: bool, validate_shape: bool, shape: Any,
    dtype: Any,
) -> Any:  # fmt: skip
    placed = colocate_vars_with(primary) if colocate else nullcontext()
    with scoping.variable_scope(None, f"{primary.op.name}/{name}"), placed:
        here = scope.get_variable_scope()
        partitioner = here.partitioner
        # A slot has exactly the slices of its primary.
        here.set_partitioner(None)
        slot = getting.get_variable(
            "", initializer=value, trainable=False, use_resource=_style(primary),
            shape=shape, dtype=dtype, validate_shape=validate_shape,
        )  # fmt: skip
        here.set_partitioner(partitioner)
    _copy_slice_info(primary, slot)
    return slot


def _copy_slice_info(primary: Any, slot: Any) -> None:
    info = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if info is None:
        return
    # By length, as in TensorFlow, though in an open scope the slot's name begins with that scope:
    # checkpoints have these names.
    slot_name = slot.op.name[len(primary.op.name) + 1 :]
    slot._set_save_slice_info(
        SaveSliceInfo(
            f"{info.full_name}/{slot_name}",
            info.full_shape and list(info.full_shape),
            info.var_offset and list(info.var_offset),
            info.var_shape and list(info.var_shape),
        )
    )


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """Makes a slot whose first value is the tensor ``val``.

    Args:
      primary: the Variable (or Tensor) the slot goes with.
      val: tensor; gives the slot's type and shape.
      name: name under that of ``primary``.
      colocate_with_primary: whether to place it with ``primary``.

    Returns:
      A Variable.
    """
    known = val.get_shape().is_fully_defined()
    return _create(primary, val, name, colocate_with_primary, known, None, None)


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str,
    colocate_with_primary: bool = True,
) -> Any:  # fmt: skip
    """Makes a slot whose first value ``initializer(shape, dtype)`` gives.

    Args:
      primary: the Variable (or Tensor) the slot goes with.
      initializer: an initializer.
      shape: TensorShape of the slot.
      dtype: its type.
      name: name under that of ``primary``.
      colocate_with_primary: whether to place it with ``primary``.

    Returns:
      A Variable.
    """
    known = shape.is_fully_defined()
    return _create(
        primary, initializer, name, colocate_with_primary, known,
        shape if callable(initializer) else None, dtype,
    )  # fmt: skip


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Any:
    """Makes a slot of the shape of ``primary``, at first zero.

    Args:
      primary: the Variable (or Tensor) the slot goes with.
      name: name under that of ``primary``.
      dtype: type of the slot; default that of ``primary``.
      colocate_with_primary: whether to place it with ``primary``.

    Returns:
      A Variable.
    """
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    static = primary.get_shape()
    if static.is_fully_defined():
        return create_slot_with_initializer(
            primary, initializers.zeros_initializer(), static, dtype, name, colocate_with_primary
        )
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    zeros = fill.zeros(shape_ops.shape(value), dtype)
    return create_slot(primary, zeros, name, colocate_with_primary)
