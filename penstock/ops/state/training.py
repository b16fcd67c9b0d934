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

import cmath
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import torch

from penstock.foundation.base.shapes import merge_static
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs
from penstock.ops.state import state

_NUMERIC = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16,"
    " uint16, complex128, half, uint32, uint64}"
)


def gradient_descent(var, alpha, delta):
    var.sub_(delta, alpha=alpha)


def _shrink(prox, rate, l1, l2):
    """The proximal step: soft threshold by ``rate * l1``, then scale for ``l2``."""
    if l1 > 0:
        prox = prox.sign() * (prox.abs() - rate * l1).clamp_min_(0)
    return prox / (1 + l2 * rate)


def proximal_gradient_descent(var, alpha, l1, l2, delta):
    var.copy_(_shrink(var - delta * alpha, alpha, l1, l2))


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    update = (accum_update + epsilon).sqrt_().mul_((accum + epsilon).rsqrt_()).mul_(grad)
    var.sub_(update, alpha=lr)
    accum_update.mul_(rho).addcmul_(update, update, value=1 - rho)


def adagrad(var, accum, lr, grad, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.sub_(accum.rsqrt().mul_(grad), alpha=lr)


def _check_strengths(lr, l1, l2, lr_power=0.0, l2_shrinkage=0.0):
    """Refuses what TensorFlow refuses, NaN included."""
    for name, value in (("l1", l1), ("l2", l2), ("l2 shrinkage", l2_shrinkage)):
        if not value >= 0:
            raise ValueError(f"{name} regularization strength must not be negative; found {value}")
    if not lr > 0:
        raise ValueError(f"lr must be positive; found {lr}")
    if not lr_power <= 0:
        raise ValueError(f"lr_power must not be positive; found {lr_power}")


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    _check_strengths(lr, l1, l2)
    accum.addcmul_(grad, grad)
    rate = accum.rsqrt().mul_(lr)
    var.copy_(_shrink(var - grad * rate, rate, l1, l2))


def adagrad_da(
    var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step
):
    gradient_accumulator.add_(grad)
    gradient_squared_accumulator.addcmul_(grad, grad)
    total = gradient_accumulator
    if l1 > 0:
        total = total.sign() * (total.abs() - l1 * global_step).clamp_min_(0)
    var.copy_(total * -lr / (gradient_squared_accumulator.sqrt() + l2 * global_step * lr))


def momentum(var, accum, lr, grad, momentum, use_nesterov):
    accum.mul_(momentum).add_(grad)
    if use_nesterov:
        var.sub_(grad, alpha=lr).sub_(accum, alpha=lr * momentum)
    else:
        var.sub_(accum, alpha=lr)


def adam_rate(beta1_power, beta2_power, lr):
    """The step size with both bias corrections in it; not finite, as in TF, where one is none."""
    if isinstance(beta1_power, complex):
        return lr * cmath.sqrt(1 - beta2_power) / (1 - beta1_power)
    if beta1_power == 1 or beta2_power > 1:
        return math.nan if beta2_power >= 1 else math.copysign(math.inf, lr)
    return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)


def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    rate = adam_rate(beta1_power, beta2_power, lr)
    m.lerp_(grad, 1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    direction = (m * beta1).add_(grad, alpha=1 - beta1) if use_nesterov else m
    var.addcdiv_(direction, v.sqrt().add_(epsilon), value=-rate)


def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m.lerp_(grad, 1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    var.addcdiv_(m, v + epsilon, value=-adam_rate(beta1_power, 0.0, lr))


def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mom.mul_(momentum).addcmul_(grad, (ms + epsilon).rsqrt_(), value=lr)
    var.sub_(mom)


def centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mg.mul_(rho).add_(grad, alpha=1 - rho)
    spread = (ms - mg * mg).add_(epsilon)
    mom.mul_(momentum).addcmul_(grad, spread.rsqrt_(), value=lr)
    var.sub_(mom)


def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.sub_(agreement.mul_(sign_decay).add_(alpha).mul_(grad), alpha=lr)


def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.sub_(agreement.mul_(logbase * sign_decay).exp_().mul_(grad), alpha=lr)


def _ftrl(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power):
    def scale(accumulated):
        return accumulated.sqrt() if lr_power == -0.5 else accumulated.pow(-lr_power)

    grown = torch.addcmul(accum, grad, grad)
    linear.add_(shrunk).sub_((scale(grown) - scale(accum)).div_(lr).mul_(var))
    numerator = linear.sign().mul_(l1).sub_(linear)
    quotient = numerator / (scale(grown) / lr + 2 * l2)
    var.copy_(torch.where(linear.abs() > l1, quotient, torch.zeros_like(quotient)))
    accum.copy_(grown)


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    _ftrl(var, accum, linear, grad, grad, lr, l1, l2, lr_power)


def ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power):
    shrunk = torch.add(grad, var, alpha=2 * l2_shrinkage)
    _ftrl(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power)


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


# Their sparse forms refuse rows without elements.
_INNER = (proximal_gradient_descent, adagrad, proximal_adagrad, adagrad_da, ftrl, ftrl_v2)


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
_NO_GRADIENT = "it changes a variable; differentiate before updating"


def _with_signature(function: Callable[..., Any], names: list[str], title: str) -> Any:
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__name__ = title
    return function


def _check_shapes(resources: Any, grad: torch.Tensor, shape: Any) -> None:
    """Refuses a gradient or slot that would be broadcast to the variable's ``shape``."""
    parts = [(r.name, tuple(r.value.shape)) for r in resources[1:]]
    for name, found in [*parts, ("the gradient", tuple(grad.shape))]:
        if found != tuple(shape):
            raise ValueError(
                f"variable {resources[0].name!r} needs shape {list(shape)} here; {name} has shape"
                f" {list(found)}"
            )


def _dense_kernel(
    formula: Callable[..., None], states: int, names: list[str], gradient: str
) -> Any:
    where = names.index(gradient)

    def update(values):
        tensors = [resource.value for resource in values[:states]]
        var, grad = tensors[0], values[where]
        if grad.shape != var.shape or any(t.shape != var.shape for t in tensors):
            _check_shapes(values[:states], grad, var.shape)
        values[where] = state.apart(var, grad)
        formula(*tensors, *values[states:])

    def kernel(*args):
        *values, use_locking = args
        if use_locking:
            with values[0].lock:
                update(values)
        else:
            update(values)

    return _with_signature(kernel, [*names, "use_locking"], f"apply_{formula.__name__}")


def _sparse_kernel(
    formula: Callable[..., None], states: int, names: list[str], gradient: str
) -> Any:
    where = names.index(gradient)

    def update(resources, rest, grad, indices):
        tensors = [resource.value for resource in resources]
        var = tensors[0]
        if any(t.shape != var.shape for t in tensors):
            _check_shapes(resources, var, var.shape)
        wanted = (indices.shape[0], *var.shape[1:])
        if grad.shape != wanted:
            raise ValueError(
                f"variable {resources[0].name!r} has shape {list(var.shape)}, so {wanted[0]} rows"
                f" of it take a gradient of shape {list(wanted)}; found {list(grad.shape)}"
            )
        if formula in _INNER and 0 in var.shape[1:]:
            raise ValueError(f"Inner dimension should be greater than zero; found {var.shape}")
        if formula in (ftrl, ftrl_v2):  # the dense forms do not look
            lr, l1, l2, *shrinkage, lr_power = rest
            _check_strengths(lr, l1, l2, lr_power, *shrinkage)
        # Also the check of the indices, before anything is changed.
        rows = [t.index_select(0, indices) for t in tensors]
        if indices.numel() == torch.unique(indices).numel():
            formula(*rows, *rest[: where - states], grad, *rest[where - states :])
            wide = (indices.long(),)
            for tensor, row in zip(tensors, rows, strict=True):
                tensor.index_put_(wide, row)
            return
        for position, index in enumerate(indices.tolist()):
            rows = [t[index] for t in tensors]
            formula(*rows, *rest[: where - states], grad[position], *rest[where - states :])

    def kernel(*args):
        *values, indices, use_locking = args
        resources, rest = values[:states], values[states:]
        grad = rest.pop(where - states)
        if use_locking:
            with resources[0].lock:
                update(resources, rest, grad, indices)
        else:
            update(resources, rest, grad, indices)

    parameters = [*names, "indices", "use_locking"]
    return _with_signature(kernel, parameters, f"sparse_apply_{formula.__name__}")


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
            "no_gradient": _NO_GRADIENT, "later": _LATER.get(name, ()),
        }  # fmt: skip
        define_op(
            f"{prefix}Apply{name}",
            f"{', '.join(typed)} -> {output}",
            attrs=[f"T: {_NUMERIC}", locking, *attrs],
            shape=_shape_rule(states, gradient, False),
            kernel=_dense_kernel(formula, states, names, gradient),
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
            kernel=_sparse_kernel(
                formula, states, [n.replace("delta", "grad") for n in names], "grad"
            ),
            **traits,
        )


for _row in _ROWS:
    _define(*_row)


# ---- all variables of a step in one call ---------------------------------------------------------


def _like(resource, reference):
    """The value of ``resource``, laid out in memory as ``reference`` is: fused kernels need it."""
    value = resource.value
    if value.stride() != reference.stride():
        value = resource.value = torch.empty_like(reference).copy_(value)
    return value


def _grads_like(grads, references):
    for grad, reference in zip(grads, references, strict=True):
        # The fused kernels compare sizes of memory at best.
        if grad.shape != reference.shape:
            raise ValueError(
                f"a variable of shape {list(reference.shape)} cannot be updated by a gradient of"
                f" shape {list(grad.shape)}"
            )
    return [
        g if g.stride() == r.stride() else torch.empty_like(r).copy_(g)
        for g, r in zip(grads, references, strict=True)
    ]


def _as_stored(*lists):
    """The lists with tensors that are not contiguous as flat views of their memory.

    The tensors of one variable lie alike and densely, so element for element their memory
    corresponds; the fused kernels are three times slower on transposed tensors than on flat ones.
    """
    flat = [not t.is_contiguous() for t in lists[0]]
    if not any(flat):
        return lists
    return [
        [t.as_strided((t.numel(),), (1,), t.storage_offset()) if f else t
         for t, f in zip(tensors, flat, strict=True)]
        for tensors in lists
    ]  # fmt: skip


@functools.cache
def _many_steps(device: torch.device) -> torch.Tensor:
    """Bias corrections are in the rate already, so the kernel's own must come out as one."""
    return torch.tensor(1e9).to(device)


def multi_momentum(vars, accums, lr, grads, momentum, use_nesterov):
    values = [v.value for v in vars]
    slots = [_like(a, v) for a, v in zip(accums, values, strict=True)]
    torch._fused_sgd_(
        *_as_stored(values, _grads_like(grads, values), slots),
        weight_decay=0.0, momentum=momentum, lr=lr, dampening=0.0, nesterov=use_nesterov,
        maximize=False, is_first_step=False,
    )  # fmt: skip


def multi_adam(vars, ms, vs, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grads):
    values = [v.value for v in vars]
    first = [_like(m, v) for m, v in zip(ms, values, strict=True)]
    second = [_like(s, v) for s, v in zip(vs, values, strict=True)]
    torch._fused_adam_(
        *_as_stored(values, _grads_like(grads, values), first, second),
        [], [_many_steps(v.device) for v in values],
        lr=adam_rate(beta1_power, beta2_power, lr), beta1=beta1, beta2=beta2, weight_decay=0.0,
        eps=epsilon, amsgrad=False, maximize=False,
    )  # fmt: skip


def _define_multi(name: str, state: str, kernel: Any, states: list[str], rest: list[str]) -> None:
    # ``state`` is "ref" or "resource": the two kinds never mix in one node.
    kind = "Ref(T)" if state == "Ref" else "resource"
    gradient = "grads"
    signature = [f"{n}: N * {kind}" for n in states]
    signature += [f"{n}: N * T" if n == gradient else f"{n}: T" for n in rest]
    extra = ["use_nesterov: bool = False"] if "use_nesterov" in kernel.__code__.co_varnames else []
    define_op(
        f"_Multi{state}Apply{name}",
        f"{', '.join(signature)} ->",
        attrs=["N: int >= 1", "T: type", *extra],
        shape=no_outputs,
        kernel=kernel,
        host=[n for n in rest if n != gradient],
        writes=states,
        no_gradient=_NO_GRADIENT,
        internal=True,
    )


for _state in ("Ref", "Resource"):
    _define_multi(
        "Momentum", _state, multi_momentum, ["vars", "accums"], ["lr", "grads", "momentum"]
    )
    _define_multi(
        "Adam", _state, multi_adam, ["vars", "ms", "vs"],
        ["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grads"],
    )  # fmt: skip
