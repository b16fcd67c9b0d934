"""Variables in the graph: the ops that hold, read and assign state, and their public functions.

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

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.temporary import TemporaryVariable
from penstock.engine.resources.variable import Variable as VariableState
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import (
    ShapeContext,
    first_input,
    from_attr,
    no_outputs,
    scalar,
)
from penstock.foundation.opdef.opdef import torch_dtype_name

NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16,"
    " uint16, complex128, half, uint32, uint64}"
)
_UPDATE = "an update of state; gradients are taken with respect to the variable's value"
_STATE = "makes state, takes no tensors"
# ATen has no arithmetic for these; NumPy has, on the same memory.
_NUMPY_ONLY = frozenset({torch.uint16, torch.uint32, torch.uint64})
_NUMPY_ONLY_DTYPES = frozenset({dtypes.uint16, dtypes.uint32, dtypes.uint64})


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


def _check_handle_dtype(ctx: ShapeContext, name: str = "resource") -> None:
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
    no_gradient=_STATE,
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
    no_gradient=_STATE,
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
    no_gradient=_STATE,
    moves=True,
    later=["allowed_devices: list(string)", "debug_name: string"],
    role="variable",
)


# ---- reading -------------------------------------------------------------------------------------


def _read_shape(ctx: ShapeContext) -> Any:
    _check_handle_dtype(ctx)
    return state_dims(ctx.tensor("resource"))


define_op(
    "ReadVariableOp",
    "resource: resource -> value: dtype",
    attrs=["dtype: type"],
    shape=_read_shape,
    # The plan reads the variable for an op that both reads and aliases: this is that value.
    kernel="{resource}",
    reads=("resource",),
    aliases=("resource",),
    stateful=True,
    gradient=lambda op, grad: grad,
    moves=True,
    role="read",
)
define_op(
    "IsVariableInitialized",
    "ref: Ref(dtype) -> is_initialized: bool",
    attrs=["dtype: type"],
    shape=scalar,
    kernel="torch.tensor({ref}.initialized)",
    reads=("ref",),
    stateful=True,
    no_gradient="not a function of the value",
    on_host=True,
    moves=True,
    role="initialized",
)
define_op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    shape=scalar,
    kernel="torch.tensor({resource}.initialized)",
    reads=("resource",),
    stateful=True,
    no_gradient="not a function of the value",
    on_host=True,
    role="initialized",
)


def _shape_of_state(ctx: ShapeContext) -> tuple[int | None]:
    dims = state_dims(ctx.tensor("input"))
    return (None if dims is None else len(dims),)


def _fold_shape_of_state(ctx: ShapeContext, handle: Any) -> np.ndarray | None:
    dims = state_dims(ctx.tensor("input"))
    if dims is None or None in dims:
        return None
    return np.array(dims, ctx.attr("out_type").as_numpy_dtype)


def _variable_shape(input: Any, out_type: Any) -> torch.Tensor:
    return torch.tensor(tuple(input.value.shape), dtype=out_type)


define_op(
    "VariableShape",
    "input: resource -> output: out_type",
    attrs=["out_type: {int32, int64} = int32"],
    shape=_shape_of_state,
    kernel=_variable_shape,
    fold=_fold_shape_of_state,
    reads=("input",),
    stateful=True,
    no_gradient="a shape does not depend on the values",
    on_host=True,
)
static.partial_value("VariableShape")(lambda ctx: state_dims(ctx.tensor("input")))


def _initialized_or(ref: Any, initial_value: Any) -> Any:
    if not ref.initialized:
        return initial_value.clone() if isinstance(initial_value, torch.Tensor) else initial_value
    value = ref.value
    return value.clone() if isinstance(value, torch.Tensor) else value.copy()


for _name, _handle, _type in (
    ("_InitializedValue", "ref: Ref(T)", "T"),
    ("_ResourceInitializedValue", "ref: resource", "T"),
):
    define_op(
        _name,
        f"{_handle}, initial_value: {_type} -> output: {_type}",
        attrs=["T: type"],
        shape=lambda ctx: ctx["initial_value"],
        kernel=_initialized_or,
        reads=("ref",),
        role="initialized",
        stateful=True,
        no_gradient="only initial values are made of it",
        internal=True,
    )


define_op(
    "_RankOfValue",
    "value: T -> rank: int32",
    attrs=["T: type"],
    shape=scalar,
    kernel="torch.tensor(len({value}.shape), dtype=torch.int32)",
    stateful=True,
    no_gradient="a rank does not depend on the values",
    internal=True,
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


def _assign_resource(resource: Any, value: Any) -> None:
    # Programs are made for the declared shape: with another, which TensorFlow takes as the step
    # runs, a convolution would pad as that shape needs, and give wrong values in silence.
    with resource.lock:
        _set(resource, value, True, False)


def _assign_shape(ctx: ShapeContext) -> Any:
    if not ctx.attr("validate_shape"):
        return ctx["value"]
    return _same_shape(ctx["ref"], ctx["value"], "the variable", "the value")


def _same_shape(first: Any, second: Any, name: str, other: str) -> Any:
    if not shapes.is_compatible_static(first, second):
        raise ValueError(
            f"{name} has shape {shapes.format_static(first)}, {other} has shape"
            f" {shapes.format_static(second)}; they must be the same"
        )
    return shapes.merge_static(first, second)


def _resource_value_shape(ctx: ShapeContext) -> list[Any]:
    _check_handle_dtype(ctx)
    _same_shape(state_dims(ctx.tensor("resource")), ctx["value"], "the variable", "the value")
    return []


define_op(
    "Assign",
    "ref: Ref(T), value: T -> output_ref: Ref(T)",
    attrs=["T: type", "validate_shape: bool = true", "use_locking: bool = true"],
    shape=_assign_shape,
    kernel=_assign,
    writes=("ref",),
    no_gradient=_UPDATE,
    moves=True,
)
define_op(
    "AssignVariableOp",
    "resource: resource, value: dtype ->",
    attrs=["dtype: type"],
    shape=_resource_value_shape,
    kernel=_assign_resource,
    writes=("resource",),
    stateful=True,
    no_gradient=_UPDATE,
    moves=True,
    later=["validate_shape: bool"],
)


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
            shape=lambda ctx: _same_shape(ctx["ref"], ctx["value"], "the variable", "the value"),
            kernel=by_reference,
            inline=in_line,
            writes=("ref",),
            flops=arithmetic.each_input(1),
            no_gradient=_UPDATE,
        )
        define_op(
            f"Assign{verb}VariableOp",
            "resource: resource, value: dtype ->",
            attrs=["dtype: type"],
            shape=_resource_value_shape,
            kernel=by_resource,
            writes=("resource",),
            stateful=True,
            no_gradient=_UPDATE,
        )


_define_updates()


# ---- counting, destroying ------------------------------------------------------------------------


def _count(ref: Any, limit: int) -> torch.Tensor:
    with ref.lock:
        value = ref.value
        if int(value) >= limit:
            raise errors.OutOfRangeError(None, None, f"reached the limit of {limit}")
        before = value.clone()
        value.add_(1)
        return before


def _count_resource(resource: Any, limit: int) -> torch.Tensor:
    return _count(resource, limit)


def _scalar_state(ctx: ShapeContext, dims: Any) -> tuple[int, ...]:
    if dims:
        raise ValueError(f"the variable must be a scalar; found {shapes.format_static(dims)}")
    return ()


define_op(
    "CountUpTo",
    "ref: Ref(T) -> output: T",
    attrs=["limit: int", "T: {int32, int64}"],
    shape=lambda ctx: _scalar_state(ctx, ctx["ref"]),
    kernel=_count,
    writes=("ref",),
    no_gradient=_UPDATE,
)
define_op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    attrs=["limit: int", "T: {int32, int64}"],
    shape=lambda ctx: _scalar_state(ctx, state_dims(ctx.tensor("resource"))),
    kernel=_count_resource,
    writes=("resource",),
    stateful=True,
    no_gradient=_UPDATE,
)


def _destroy(resource: Any, ignore_lookup_error: bool) -> None:
    with resource.lock:
        if resource.initialized:
            del resource.value
        elif not ignore_lookup_error:
            raise errors.NotFoundError(None, None, f"resource {resource.name!r} does not exist")


define_op(
    "DestroyResourceOp",
    "resource: resource ->",
    attrs=["ignore_lookup_error: bool = true"],
    shape=no_outputs,
    kernel=_destroy,
    writes=("resource",),
    stateful=True,
    no_gradient=_UPDATE,
)


def _destroy_temporary(ref: Any) -> torch.Tensor:
    value = ref.value.clone()
    del ref.value
    return value


def _make_temporary(attrs: dict[str, Any], name: str) -> TemporaryVariable:
    dims = attrs["shape"].sizes
    if dims is None or None in dims:
        raise ValueError(f"temporary variable {name!r} needs a fully known shape")
    kind = dtypes.stored_as(attrs["dtype"])
    return TemporaryVariable(name, dims, getattr(torch, kind.name))


define_op(
    "TemporaryVariable",
    "-> ref: Ref(dtype)",
    attrs=["shape: shape", "dtype: type", 'var_name: string = ""'],
    shape=from_attr("shape"),
    state=_make_temporary,
    stateful=True,
    no_gradient=_STATE,
    moves=True,
)
define_op(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    attrs=["T: type", "var_name: string"],
    shape=first_input,
    kernel=_destroy_temporary,
    writes=("ref",),
    no_gradient=_UPDATE,
)


# ---- public functions ----------------------------------------------------------------------------


def _is_reference(ref: Any) -> bool:
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
    if _is_reference(ref):
        return make(
            "Assign", ref, value, name=name,
            validate_shape=validate_shape, use_locking=use_locking,
        )  # fmt: skip
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    """Adds ``value`` to a variable in place.

    Args:
      ref: a Variable, or its reference tensor.
      value: tensor of the variable's type and shape.
      use_locking: whether concurrent updates wait for each other; without it some may be lost.

    Returns:
      As ``assign``.
    """
    if _is_reference(ref):
        return make("AssignAdd", ref, value, name=name, use_locking=use_locking)
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    """Subtracts ``value`` from a variable in place; see ``assign_add``."""
    if _is_reference(ref):
        return make("AssignSub", ref, value, name=name, use_locking=use_locking)
    return ref.assign_sub(value)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Increments a scalar integer variable, up to ``limit``.

    Args:
      ref: an int32 or int64 scalar Variable.
      limit: running the result when the variable has reached it raises OutOfRangeError.

    Returns:
      The value before the increment.
    """
    if _is_reference(ref):
        return make("CountUpTo", ref, name=name, limit=limit)
    return make("ResourceCountUpTo", ref.handle, name=name, limit=limit, T=ref.dtype)
