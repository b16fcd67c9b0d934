"""Update ops of the optimizers: a formula a row, for dense and sparse gradients, ref and resource.

A formula is a function on tensors: the variable and its slots first, which it changes in place,
then the op's other inputs by their names; hyper-parameters arrive as Python numbers.  A sparse
update applies the same formula to the rows named, in order, so that a row named twice is updated
twice.
The ``_Multi`` ops, which only the fusing pass makes, update all variables of a step in one call;
plain gradient descent is one ATen call a variable already.

Source: the update rules as TensorFlow's op documentation states them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock.foundation.base.shapes import merge_static
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.state import state
from penstock.ops.state.update_kernels import dense_kernel, sparse_kernel
from penstock.ops.state.update_rules import (
    ada_max,
    adadelta,
    adagrad,
    adagrad_da,
    adam,
    add_sign,
    centered_rms_prop,
    ftrl,
    ftrl_v2,
    gradient_descent,
    momentum,
    power_sign,
    proximal_adagrad,
    proximal_gradient_descent,
    rms_prop,
)

_NUMERIC = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16,"
    " uint16, complex128, half, uint32, uint64}"
)


# Op name, formula, number of states (the variable and its slots), attrs beside use_locking, whether
# a sparse form exists and the input that the sparse form's indices follow.
_ROWS: list[tuple[str, Callable[..., None], int, tuple[str, ...], str | None]] = [
    ("GradientDescent", gradient_descent, 1, (), None),
    ("ProximalGradientDescent", proximal_gradient_descent, 1, (), "delta"),
    ("Adadelta", adadelta, 3, (), "grad"),
    ("Adagrad", adagrad, 2, ("update_slots: bool = True",), "grad"),
    ("ProximalAdagrad", proximal_adagrad, 2, (), "grad"),
    ("AdagradDA", adagrad_da, 3, (), "grad"),
    ("Momentum", momentum, 2, ("use_nesterov: bool = False",), "grad"),
    ("Adam", adam, 3, ("use_nesterov: bool = False",), None),
    ("AdaMax", ada_max, 3, (), None),
    ("RMSProp", rms_prop, 3, (), "grad"),
    ("CenteredRMSProp", centered_rms_prop, 4, (), "grad"),
    ("AddSign", add_sign, 2, (), None),
    ("PowerSign", power_sign, 2, (), None),
    ("Ftrl", ftrl, 3, (), "grad"),
    ("FtrlV2", ftrl_v2, 3, (), "grad"),
]


def _inline_gradient_descent(call: Any) -> str | None:
    dims = call.dims("delta")
    if call.attr("use_locking") or dims is None or None in dims:
        return None
    if state.state_dims(call.tensors["var"]) != dims or state.views_state(call.tensors["delta"]):
        return None
    return f"{call.arg['var']}.value.sub_({call.arg['delta']}, alpha={call.arg['alpha']})"


# Attrs that a later TensorFlow gave them.
_LATER = dict.fromkeys(("Ftrl", "FtrlV2"), ["multiply_linear_by_lr: bool = false"])
_INLINE = {"GradientDescent": _inline_gradient_descent}
NO_GRADIENT = "it changes a variable; differentiate before updating"


def _shape_rule(states: int, gradient: str, sparse: bool) -> Callable[[ShapeContext], Any]:
    def rule(ctx: ShapeContext) -> Any:
        names = [arg.name for arg in ctx.op.op_def.inputs]
        dims = None
        is_ref = ctx.op.op_def.inputs[0].is_ref
        if is_ref:
            for name in names[:states]:
                dims = merge_static(dims, ctx[name])
            grad = ctx[gradient]
            if sparse:
                if grad is not None and dims is not None and len(grad):
                    merge_static(grad[1:], dims[1:])
                    merge_static(grad[:1], ctx.rank("indices", 1))
            else:
                dims = merge_static(dims, grad)
        for name in names[states:]:
            if name not in (gradient, "indices"):
                ctx.rank(name, 0)
        return dims if is_ref else []

    return rule


def _define(
    name: str, formula: Callable[..., None], states: int, attrs: tuple[str, ...], sparse: str | None
) -> None:
    extra = {a.split(":")[0] for a in attrs}
    names = list(inspect.signature(formula).parameters)
    inputs = [n for n in names if n not in extra]
    gradient = "delta" if "delta" in inputs else "grad"
    locking = "use_locking: bool = False"
    host = [n for n in inputs[states:] if n != gradient]
    for resource in (False, True):
        prefix = "Resource" if resource else ""
        state_type = "resource" if resource else "Ref(T)"
        typed = [f"{n}: {state_type}" for n in inputs[:states]]
        typed += [f"{n}: {'int64' if n == 'global_step' else 'T'}" for n in inputs[states:]]
        output = "" if resource else "out: Ref(T)"
        traits: dict[str, Any] = {
            "host": host, "writes": inputs[:states], "stateful": resource,
            "no_gradient": NO_GRADIENT, "later": _LATER.get(name, ()),
        }  # fmt: skip
        define_op(
            f"{prefix}Apply{name}",
            f"{', '.join(typed)} -> {output}",
            attrs=[f"T: {_NUMERIC}", locking, *attrs],
            shape=_shape_rule(states, gradient, False),
            kernel=dense_kernel(formula, states, names, gradient),
            inline=_INLINE.get(name),
            **traits,
        )
        if sparse is None:
            continue
        place = inputs.index(gradient) + 1
        rows = [t.replace("delta:", "grad:") for t in typed]
        define_op(
            f"{prefix}SparseApply{name}",
            f"{', '.join([*rows[:place], 'indices: Tindices', *rows[place:]])} -> {output}",
            attrs=[f"T: {_NUMERIC}", "Tindices: {int32, int64}", locking, *attrs],
            shape=_shape_rule(states, "grad", True),
            kernel=sparse_kernel(
                formula, states, [n.replace("delta", "grad") for n in names], "grad"
            ),
            **traits,
        )


for _row in _ROWS:
    _define(*_row)
