"""All variables of a step in one call: ``_Multi`` ops, which only the fusing pass makes.

Plain gradient descent is one ATen call a variable already.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs
from penstock.ops.state.training import NO_GRADIENT
from penstock.ops.state.update_rules import (
    adam_rate,
)


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


# No power of a decay nearer to one is zero after ``_many_steps``.
_SLOWEST = 1 - 3e-8


@functools.cache
def _many_steps(device: torch.device) -> torch.Tensor:
    """Bias corrections are in the rate already, so the kernel's own must come out as one."""
    return torch.tensor(1e9).to(device)


def multi_momentum(vars, accums, lr, grads, momentum, use_nesterov):
    values = [v.value for v in vars]
    slots = [_like(a, v) for a, v in zip(accums, values, strict=True)]
    grads = _grads_like(grads, values)
    if momentum == 0:  # for which the kernel takes no slots
        for slot, grad in zip(slots, grads, strict=True):
            slot.mul_(0).add_(grad)
        stored, slots = _as_stored(values, grads), []
    else:
        *stored, slots = _as_stored(values, grads, slots)
    torch._fused_sgd_(
        *stored, slots, weight_decay=0.0, momentum=momentum, lr=lr, dampening=0.0,
        nesterov=bool(use_nesterov and slots),
        maximize=False, is_first_step=False,
    )  # fmt: skip


def multi_adam(vars, ms, vs, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grads):
    if max(beta1, beta2) > _SLOWEST:
        rest = beta1_power, beta2_power, lr, beta1, beta2, epsilon, grads
        return _traced_adam(vars, ms, vs, *rest)
    values = [v.value for v in vars]
    first = [_like(m, v) for m, v in zip(ms, values, strict=True)]
    second = [_like(s, v) for s, v in zip(vs, values, strict=True)]
    torch._fused_adam_(
        *_as_stored(values, _grads_like(grads, values), first, second),
        [], [_many_steps(v.device) for v in values],
        lr=adam_rate(beta1_power, beta2_power, lr), beta1=beta1, beta2=beta2, weight_decay=0.0,
        eps=epsilon, amsgrad=False, maximize=False,
    )  # fmt: skip


# ---- the same of single operators, for the compiler of native forms, which fuses them ------------
# Their numbers may be tensors of one number.


def _number(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.to(torch.float64)
    return torch.full((), value, dtype=torch.float64)


def _traced_momentum(vars, accums, lr, grads, momentum, use_nesterov):
    for var, accum, grad in zip(vars, accums, grads, strict=True):
        value, slot = var.value, accum.value
        rate, decay = (_number(each).to(value.dtype) for each in (lr, momentum))
        slot.mul_(decay).add_(grad)
        value.sub_(rate * (grad + decay * slot if use_nesterov else slot))


def _traced_adam(vars, ms, vs, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grads):
    first, second, step = map(_number, (beta1_power, beta2_power, lr))
    rate = step * (1 - second).sqrt() / (1 - first)
    for var, m, v, grad in zip(vars, ms, vs, grads, strict=True):
        value = var.value
        decay1, decay2, small = (_number(x).to(value.dtype) for x in (beta1, beta2, epsilon))
        mean = m.value.add_((grad - m.value) * (1 - decay1))
        square = v.value.mul_(decay2).add_(grad * grad * (1 - decay2))
        value.sub_(rate.to(value.dtype) * mean / (square.sqrt() + small))


multi_momentum.traced = _traced_momentum
multi_adam.traced = _traced_adam


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
        no_gradient=NO_GRADIENT,
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
