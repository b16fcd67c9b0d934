"""Variables in the graph: the ops that hold and assign state, and where a tensor's state is.

Two styles, as in TensorFlow 1.x.  A *reference* op (``VariableV2``) outputs a ref tensor, and an
op that takes a plain tensor reads it where it stands; updates take the ref and pass it on.  A
*resource* op (``VarHandleOp``) outputs a handle, and reads are nodes of their own.  At run time
both are one ``resources.variable.Variable``, which ops that name it in ``writes`` are handed.

Updates are in place.  Reference updates are lock-free unless ``use_locking``; resource updates
always take the lock.  Where static shapes agree and the operand cannot be a view of a variable, an
update is one ATen call in the program; else a function checks shapes and copies an operand that
overlaps.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources.variable import Variable as VariableState
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import (
    ShapeContext,
    from_attr,
    scalar,
)
from penstock.foundation.opdef.opdef import torch_dtype_name

NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16,"
    " uint16, complex128, half, uint32, uint64}"
)
UPDATE = "an update of state; gradients are taken with respect to the variable's value"
STATE = "makes state, takes no tensors"


# ---- where the state is --------------------------------------------------------------------------


def state_op_of(tensor: Tensor) -> Any:
    """The node that holds the state a ref or handle stands for; None for a fed handle."""
    op = tensor.op
    while op.op_def.state is None:
        carriers = [t for t in op.inputs if t.dtype.is_ref or t.dtype is dtypes.resource]
        if not carriers:
            return None
        op = carriers[0].op
    return op


def state_dims(tensor: Tensor) -> tuple[int | None, ...] | None:
    """Static dims of the variable that a handle stands for."""
    op = state_op_of(tensor)
    shape = None if op is None else op.attrs.get("shape")
    return None if shape is None else shape.sizes


def check_handle_dtype(ctx: ShapeContext, name: str = "resource") -> None:
    op = state_op_of(ctx.tensor(name))
    held = None if op is None else op.attrs.get("dtype")
    wanted = ctx.attr("dtype")
    if held is not None and held.base_dtype is not wanted.base_dtype:
        raise ValueError(f"the variable holds {held.name}, but dtype is {wanted.name}")


def _make_state(attrs: dict[str, Any], name: str) -> VariableState:
    shape = attrs["shape"]
    return VariableState(name, None if shape is None else shape.sizes)


def _make_reference_state(attrs: dict[str, Any], name: str) -> VariableState:
    state = _make_state(attrs, name)
    kind = torch_dtype_name(attrs["dtype"].base_dtype).removeprefix("torch.")
    state.fill_empty(None if kind == "object" else getattr(torch, kind))
    return state


def _legacy_variable_shape(ctx: ShapeContext) -> Any:
    # In this old op an empty shape means "unknown".
    dims = from_attr("shape")(ctx)
    return dims or None


_HOLDER = ["shape: shape", "dtype: type", 'container: string = ""', 'shared_name: string = ""']

define_op(
    "VariableV2",
    "-> ref: Ref(dtype)",
    attrs=_HOLDER,
    shape=from_attr("shape"),
    state=_make_reference_state,
    stateful=True,
    no_gradient=STATE,
    moves=True,
    role="variable",
)
define_op(
    "Variable",
    "-> ref: Ref(dtype)",
    attrs=_HOLDER,
    shape=_legacy_variable_shape,
    state=lambda attrs, name: VariableState(name, attrs["shape"].sizes or None),
    stateful=True,
    no_gradient=STATE,
    moves=True,
    role="variable",
)
define_op(
    "VarHandleOp",
    "-> resource: resource",
    attrs=['container: string = ""', 'shared_name: string = ""', "dtype: type", "shape: shape"],
    shape=scalar,
    state=_make_state,
    stateful=True,
    no_gradient=STATE,
    moves=True,
    later=["allowed_devices: list(string)", "debug_name: string"],
    role="variable",
)


# ---- assigning -----------------------------------------------------------------------------------


def views_state(tensor: Tensor) -> bool:
    """Whether a tensor may be a part or another arrangement of a variable's own memory.

    The whole value itself does not count: updating a tensor in place from itself is sound.
    """
    if _is_whole_state(tensor):
        return False
    stack, seen = [tensor], set()
    while stack:
        op = stack.pop().op
        if op in seen:
            continue
        seen.add(op)
        for name in op.op_def.aliases:
            given = op.inputs_by_name()[name]
            sources = given if isinstance(given, list) else [given]
            if any(_is_whole_state(t) for t in sources):
                return True
            stack.extend(sources)
    return False


def _is_whole_state(tensor: Tensor) -> bool:
    definition = tensor.op.op_def
    return tensor.dtype.is_ref or bool(set(definition.reads) & set(definition.aliases))


def apart(target: torch.Tensor, operand: torch.Tensor) -> torch.Tensor:
    """``operand``, copied when it lies in ``target``'s memory without being it."""
    if operand is target or operand.untyped_storage().data_ptr() != (
        target.untyped_storage().data_ptr()
    ):
        return operand
    return operand.clone()


def _set(state: Any, value: Any, validate_shape: bool, keeps_shape: bool) -> None:
    if isinstance(value, torch.Tensor) and state.initialized:
        value = apart(state.value, value)
    state.assign(value, validate_shape, keeps_shape)


def _assign(ref: Any, value: Any, validate_shape: bool, use_locking: bool) -> None:
    if not use_locking:
        _set(ref, value, validate_shape, validate_shape)
        return
    with ref.lock:
        _set(ref, value, validate_shape, validate_shape)


def _traced_assign(ref: Any, value: Any, validate_shape: bool, use_locking: bool) -> None:
    ref.assign(value, validate_shape, validate_shape)


_assign.traced = _traced_assign  # type: ignore[attr-defined]


def _assign_resource(resource: Any, value: Any) -> None:
    # Programs are made for the declared shape: with another, which TensorFlow takes as the step
    # runs, a convolution would pad as that shape needs, and give wrong values in silence.
    with resource.lock:
        _set(resource, value, True, False)


def _assign_shape(ctx: ShapeContext) -> Any:
    if not ctx.attr("validate_shape"):
        return ctx["value"]
    return same_shape(ctx["ref"], ctx["value"], "the variable", "the value")


def same_shape(first: Any, second: Any, name: str, other: str) -> Any:
    if not shapes.is_compatible_static(first, second):
        raise ValueError(
            f"{name} has shape {shapes.format_static(first)}, {other} has shape"
            f" {shapes.format_static(second)}; they must be the same"
        )
    return shapes.merge_static(first, second)


def resource_value_shape(ctx: ShapeContext) -> list[Any]:
    check_handle_dtype(ctx)
    same_shape(state_dims(ctx.tensor("resource")), ctx["value"], "the variable", "the value")
    return []


define_op(
    "Assign",
    "ref: Ref(T), value: T -> output_ref: Ref(T)",
    attrs=["T: type", "validate_shape: bool = true", "use_locking: bool = true"],
    shape=_assign_shape,
    kernel=_assign,
    writes=("ref",),
    no_gradient=UPDATE,
    moves=True,
)
define_op(
    "AssignVariableOp",
    "resource: resource, value: dtype ->",
    attrs=["dtype: type"],
    shape=resource_value_shape,
    kernel=_assign_resource,
    writes=("resource",),
    stateful=True,
    no_gradient=UPDATE,
    moves=True,
    later=["validate_shape: bool"],
)


# ---- public functions ----------------------------------------------------------------------------


def is_reference(ref: Any) -> bool:
    dtype = getattr(ref, "dtype", None)
    return bool(getattr(dtype, "is_ref", False))


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Sets a variable to ``value``.

    Args:
      ref: a Variable, or its reference tensor.
      value: tensor of the variable's type, and of its shape unless ``validate_shape`` is False.
      validate_shape: whether the shapes must agree; default True.
      use_locking: whether to take the variable's lock; default True.

    Returns:
      A tensor (reference variables) or variable (resource variables) that has the new value when
      the assignment has run.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     v = tf.Variable(1.0)
      ...     sess.run(tf.assign(v, 3.0))
      np.float32(3.0)
    """
    if is_reference(ref):
        return make(
            "Assign", ref, value, name=name,
            validate_shape=validate_shape, use_locking=use_locking,
        )  # fmt: skip
    return ref.assign(value, name=name)
