"""``define_op``, which makes the definition of an op type and registers it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.opdef.arithmetic import Flops
from penstock.foundation.opdef.kinds import Control, Role
from penstock.foundation.opdef.opdef import FIELD, ArgDef, AttrDef, InPlace, Kernel, OpDef
from penstock.foundation.opdef.parsing import parse_attr, parse_signature
from penstock.foundation.opdef.registry import GRADIENTS, OPS


def define_op(
    name: str,
    signature: str,
    *,
    attrs: Sequence[str] = (),
    shape: Callable[..., Any] | None = None,
    kernel: Kernel | None = None,
    inline: Callable[..., str | None] | None = None,
    fold: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | None = None,
    no_gradient: str | None = None,
    stateful: bool = False,
    commutative: bool = False,
    aliases: Sequence[str] = (),
    keeps: Sequence[str] = (),
    lends: bool = False,
    host: Sequence[str] = (),
    on_host: bool = False,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    inplace: Mapping[str, InPlace] | None = None,
    layouts: Mapping[str, tuple[int, ...]] | None = None,
    state: Callable[..., Any] | None = None,
    effect: bool = False,
    random: bool = False,
    blocking: bool = False,
    internal: bool = False,
    control: Control | None = None,
    role: Role | None = None,
    moves: bool = False,
    number: str | None = None,
    wraps: bool = False,
    later: Sequence[str] = (),
    flops: Flops | None = None,
    work: Flops | None = None,
) -> OpDef:
    """Registers an op type.

    Args:
      name: the op type, as GraphDefs spell it.
      signature: inputs and outputs, ``"a: T, b: T -> product: T"``.
      attrs: one line each, ``"T: {float, double}"``; see ``signature``.
      shape: shape rule, ``rule(ctx) -> dims`` for one output (a tuple of int | None, or None for
        unknown rank), a list of those for several; see ``inference``.
      kernel: a function, or source with ``{parameter}`` fields such as ``"torch.mm({a}, {b})"``.
      inline: given a ``codegen`` call, source that is faster than calling the kernel, or None.
      fold: static value for shape inference: ``fold(ctx, *input arrays) -> array | None``; called
        with None for inputs that are not statically known; a list, one an output, where the op has
        several.
      gradient: ``gradient(op, *output gradients) -> input gradient(s)``, graph-building.
      no_gradient: why there is none; an op needs this or a gradient.
      stateful .. work: traits; see the module's docstring.  ``internal`` marks ops that only
        passes make.

    Returns:
      The registered definition.

    Raises:
      ValueError: when the kernel has a parameter that is neither an input, an attr nor ``state``.
    """
    inputs, outputs = parse_signature(signature)
    attr_defs = {a.name: a for a in map(parse_attr, attrs)}
    for arg in (*inputs, *outputs):
        _check_attrs_of(name, arg, attr_defs)
    op = OpDef(name, inputs, outputs, attr_defs)
    op.shape, op.inline, op.fold = shape, inline, fold
    op.gradient, op.no_gradient = gradient, no_gradient
    op.stateful, op.commutative, op.random, op.blocking = stateful, commutative, random, blocking
    op.aliases, op.host, op.on_host = tuple(aliases), frozenset(host), on_host
    op.keeps, op.lends = tuple(keeps), lends
    op.reads, op.writes, op.inplace = tuple(reads), tuple(writes), dict(inplace or {})
    op.state, op.internal, op.layouts = state, internal, dict(layouts or {})
    op.effect, op.control, op.role = effect or bool(writes), control, role
    op.moves, op.number, op.wraps = moves, number, wraps
    op.later = {a.name: a for a in map(parse_attr, later)}
    op.flops, op.work = flops, work or flops
    _set_kernel(op, kernel)
    OPS.register(name, op)
    if gradient is not None or no_gradient is not None:
        GRADIENTS.register(name, gradient)
    return op


def _check_attrs_of(op_name: str, arg: ArgDef, attrs: Mapping[str, AttrDef]) -> None:
    for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr):
        if attr is not None and attr not in attrs:
            raise ValueError(
                f"{op_name}: argument {arg} names attr {attr!r}, which is not declared"
            )


def _set_kernel(op: OpDef, kernel: Kernel | None) -> None:
    if kernel is None:
        return
    known = {a.name for a in op.inputs} | set(op.attrs) | {"state"}
    if isinstance(kernel, str):
        op.template = kernel
        op.parameters = tuple(dict.fromkeys(FIELD.findall(kernel)))
        op.kernel_name = f"{op.name}_kernel"
    else:
        op.kernel = kernel
        op.kernel_name = kernel.__name__
        op.parameters = tuple(inspect.signature(kernel).parameters)
    unknown = [p for p in op.parameters if p not in known]
    if unknown:
        raise ValueError(
            f"kernel of {op.name} has parameter(s) {unknown}; allowed are {sorted(known)}"
        )
