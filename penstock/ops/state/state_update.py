"""Adding to variables and subtracting from them, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import arithmetic, define_op
from penstock.ops.state.state import (
    NUMBERS,
    UPDATE,
    apart,
    is_reference,
    resource_value_shape,
    same_shape,
    views_state,
)

# ATen has no arithmetic for these; NumPy has, on the same memory.
_NUMPY_ONLY = frozenset({torch.uint16, torch.uint32, torch.uint64})


_NUMPY_ONLY_DTYPES = frozenset({dtypes.uint16, dtypes.uint32, dtypes.uint64})


def _shown(value: Any) -> str:
    return f"[{','.join(map(str, value.shape))}]"


def _updated(state: Any, value: torch.Tensor, method: str, function: Callable[..., Any]) -> None:
    target = state.value
    if target.shape != value.shape:
        raise ValueError(
            f"Cannot update variable with shape {_shown(target)} using a Tensor with shape"
            f" {_shown(value)}, shapes must be equal.: the variable is {state.name!r}"
        )
    if target.dtype in _NUMPY_ONLY:
        array = target.numpy()
        function(array, value.numpy(), out=array)
    elif target.dtype.is_complex:
        # Part by part: ATen multiplies by its alpha, 1, which makes nan of an infinity's 0.
        parts = (torch.view_as_real(t.resolve_conj()) for t in (target, apart(target, value)))
        getattr(next(parts), method)(next(parts))
    else:
        getattr(target, method)(apart(target, value))


def _make_update(method: str, function: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """Kernels of one arithmetic update: by reference, by resource, and the one-line form."""

    def by_reference(ref: Any, value: Any, use_locking: bool) -> None:
        if not use_locking:
            _updated(ref, value, method, function)
            return
        with ref.lock:
            _updated(ref, value, method, function)

    def by_resource(resource: Any, value: Any) -> None:
        with resource.lock:
            _updated(resource, value, method, function)

    def in_line(call: Any) -> str | None:
        dims = call.dims("ref")
        if call.attr("use_locking") or dims is None or None in dims or dims != call.dims("value"):
            return None
        if call.dtype("value") in _NUMPY_ONLY_DTYPES or call.dtype("value").is_complex:
            return None
        if views_state(call.tensors["value"]):
            return None
        return f"{call.arg['ref']}.value.{method}({call.arg['value']})"

    by_reference.__name__ = f"assign_{method.strip('_')}"
    by_resource.__name__ = f"assign_{method.strip('_')}_resource"
    return by_reference, by_resource, in_line


def _define_updates() -> None:
    for verb, method, function in (("Add", "add_", np.add), ("Sub", "sub_", np.subtract)):
        by_reference, by_resource, in_line = _make_update(method, function)
        define_op(
            f"Assign{verb}",
            "ref: Ref(T), value: T -> output_ref: Ref(T)",
            attrs=[f"T: {NUMBERS}", "use_locking: bool = false"],
            shape=lambda ctx: same_shape(ctx["ref"], ctx["value"], "the variable", "the value"),
            kernel=by_reference,
            inline=in_line,
            writes=("ref",),
            flops=arithmetic.each_input(1),
            no_gradient=UPDATE,
        )
        define_op(
            f"Assign{verb}VariableOp",
            "resource: resource, value: dtype ->",
            attrs=["dtype: type"],
            shape=resource_value_shape,
            kernel=by_resource,
            writes=("resource",),
            stateful=True,
            no_gradient=UPDATE,
        )


_define_updates()


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    """Adds ``value`` to a variable in place.

    Args:
      ref: a Variable, or its reference tensor.
      value: tensor of the variable's type and shape.
      use_locking: whether concurrent updates wait for each other; without it some may be lost.

    Returns:
      As ``assign``.

    Example:
      >>> import penstock as tf
      >>> steps = tf.Variable(0, name="steps")
      >>> count = tf.assign_add(steps, 1)
      >>> with tf.Session() as session:
      ...     session.run(steps.initializer)
      ...     [int(session.run(count)) for _ in range(3)]
      [1, 2, 3]
    """
    if is_reference(ref):
        return make("AssignAdd", ref, value, name=name, use_locking=use_locking)
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    """Subtracts ``value`` from a variable in place; see ``assign_add``."""
    if is_reference(ref):
        return make("AssignSub", ref, value, name=name, use_locking=use_locking)
    return ref.assign_sub(value)
