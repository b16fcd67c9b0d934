"""The op ``Einsum``: sums of products of one or two tensors in Einstein's notation.

In TensorFlow 1.15 ``tf.einsum`` makes products (``contraction``); later versions make this node.
Beyond ``tf.einsum`` a label may be repeated: within an operand it takes the diagonal, within the
result it puts values on one.  An ellipsis stands for dims that are broadcast.

The gradient of an operand is an ``Einsum`` of the result's gradient and the other operand.  Labels
that the operand alone has were summed over: there the gradient is spread by a product with ones.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.math import reduction

_DOTS = "..."
_OPERAND = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


class _Equation(NamedTuple):
    operands: list[str]
    result: str


def _parsed(equation: str, count: int) -> _Equation:
    """The labels of operands and result.

    Raises:
      ValueError: the equation is malformed or has another number of operands.
    """
    sides = equation.replace(" ", "").split("->")
    if len(sides) != 2:
        raise ValueError(
            f"Expecting exactly one '->' in einsum equation: {equation!r} has {len(sides) - 1}"
        )
    operands = sides[0].split(",")
    if len(operands) > 2:
        raise ValueError(
            f"Expecting 1 or 2 input subscripts in equation {equation!r} but got {len(operands)}"
        )
    if len(operands) != count:
        raise ValueError(
            f"Expecting {len(operands)} input(s) for equation {equation!r} but got {count}"
        )
    for labels in (*operands, sides[1]):
        if not _OPERAND.fullmatch(labels):
            raise ValueError(
                f"einsum equation {equation!r}: {labels!r} must be letters, with one '...' at most"
            )
    known = set("".join(operands))
    for label in sides[1]:
        if label not in known:
            raise ValueError(
                f"einsum equation {equation!r}: result label {label!r} is in no operand"
            )
    return _Equation(operands, sides[1])


def _named(labels: str, dims: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Each label with its size, and the sizes of the dims that an ellipsis stands for."""
    before, dots, after = labels.partition(_DOTS)
    named = len(before) + len(after)
    if len(dims) < named or (not dots and len(dims) != named):
        raise ValueError(
            f"einsum operand {labels!r} does not fit an input of shape {show(tuple(dims))}: it"
            f" needs rank {named}{' or more' if dots else ''}"
        )
    rest = len(dims) - len(after)
    pairs = [*zip(before, dims[: len(before)]), *zip(after, dims[rest:])]
    return pairs, tuple(dims[len(before) : rest])


def _sizes(equation: _Equation, inputs: Any) -> tuple[dict[str, Any], Any]:
    """The size of each label, and the broadcast dims."""
    sizes: dict[str, Any] = {}
    wide: Any = ()
    for labels, dims in zip(equation.operands, inputs, strict=True):
        pairs, free = _named(labels, dims)
        for label, size in pairs:
            found = sizes.get(label)
            if None not in (found, size) and found != size:
                raise ValueError(
                    f"einsum label {label!r} stands for dims of different sizes: {found} and {size}"
                )
            sizes[label] = size if found is None else found
        wide = shapes.broadcast_static(wide, free)
    if wide and _DOTS not in equation.result:
        raise ValueError(
            f"einsum: an ellipsis stands for dims {show(tuple(wide))}, which the result"
            f" {equation.result!r} has not"
        )
    return sizes, wide


def _shape(ctx: ShapeContext) -> Dims:
    inputs = ctx["inputs"]
    equation = _parsed(ctx.attr("equation"), len(inputs))
    if any(dims is None for dims in inputs):
        has = _DOTS in equation.result
        return None if has else (None,) * len(equation.result)
    sizes, wide = _sizes(equation, inputs)
    before, dots, after = equation.result.partition(_DOTS)
    middle = wide if dots else ()
    return (*(sizes[c] for c in before), *middle, *(sizes[c] for c in after))


def _einsum(inputs: list[torch.Tensor], equation: str) -> torch.Tensor:
    parsed = _parsed(equation, len(inputs))
    sizes, wide = _sizes(parsed, [tuple(x.shape) for x in inputs])
    result = "".join(dict.fromkeys(parsed.result.replace(_DOTS, ".")))
    text = f"{','.join(parsed.operands)}->{result.replace('.', _DOTS)}"
    dtype = inputs[0].dtype
    made = torch.einsum(text, *inputs)
    if made.dtype is not dtype:  # sums of integers are int64
        made = made.to(dtype)
    if len(result) == len(parsed.result.replace(_DOTS, ".")):
        return made.contiguous()
    return _on_diagonal(made, parsed.result.replace(_DOTS, "."), result, sizes, wide)


def _on_diagonal(
    value: torch.Tensor, labels: str, distinct: str, sizes: dict[str, int], wide: Any
) -> torch.Tensor:
    """Zeros with dims ``labels``, some repeated, and ``value`` (``distinct``) on their diagonal."""
    dims: list[int] = []
    places: dict[str, list[int]] = {}
    for label in labels:
        places.setdefault(label, []).extend(
            range(len(dims), len(dims) + (len(wide) if label == "." else 1))
        )
        dims += wide if label == "." else [sizes[label]]
    made = value.new_zeros(dims)
    strides: list[int] = []
    for label in distinct:
        each = [made.stride(i) for i in places[label]]
        strides += each if label == "." else [sum(each)]
    made.as_strided(value.shape, strides).copy_(value)
    return made


# ---- gradient ------------------------------------------------------------------------------------


def _gradient(op: Any, grad: Tensor) -> list[Tensor]:
    operands, result = _parsed(op.attrs["equation"], len(op.inputs))
    tensors = list(op.inputs)
    if len(tensors) == 1:
        return [_spread(grad, result, tensors[0], operands[0])]
    if _DOTS in result:
        operands = [labels if _DOTS in labels else labels + _DOTS for labels in operands]
    if grad.dtype.is_complex:
        others = [nodes.conj(t) for t in tensors]
    else:
        others = tensors
    made = []
    for mine, other in ((0, 1), (1, 0)):
        labels = operands[mine]
        seen = set(result) | set(operands[other]) | {"."}
        kept = "".join(label for label in labels if label in seen)
        text = f"{result},{operands[other]}->{kept}"
        part = make("Einsum", [grad, others[other]], equation=text)
        made.append(_spread(part, kept, tensors[mine], labels))
    return made if _DOTS not in result else _narrowed(made, tensors, operands)


def _spread(grad: Tensor, labels: str, like: Tensor, wanted: str) -> Tensor:
    """A gradient with dims ``labels`` as one of ``like``, with dims ``wanted``."""
    alone = "".join(dict.fromkeys(c for c in wanted if c not in labels and c != "."))
    if labels == wanted:
        return grad
    if not alone:
        return make("Einsum", [grad], equation=f"{labels}->{wanted}")
    dims = nodes.shape(like)
    sizes = nodes.pack([nodes.element(dims, _axis(wanted, c)) for c in alone], "stack")
    ones = nodes.ones(sizes, like.dtype.base_dtype)
    made = make("Einsum", [grad, ones], equation=f"{labels},{alone}->{wanted}")
    return made


def _axis(labels: str, label: str) -> int:
    """Where a label stands: from the end, if it comes after an ellipsis."""
    before, _, after = labels.partition(_DOTS)
    return before.index(label) if label in before else after.index(label) - len(after)


def _narrowed(grads: list[Tensor], tensors: list[Tensor], operands: list[str]) -> list[Tensor]:
    """Sums over the dims that the ellipsis of an operand was broadcast along."""
    spans = [_span(labels) for labels in operands]
    known = [None if t.sizes is None else t.sizes[a:b] for t, (a, b) in zip(tensors, spans)]
    if None not in known and known[0] == known[1] and None not in (known[0] or ()):
        return grads
    sizes = [nodes.shape(t) for t in tensors]
    parts = [dims[a:b] for dims, (a, b) in zip(sizes, spans, strict=True)]
    axes = make("BroadcastGradientArgs", *parts)
    return [
        nodes.reshape(reduction.reduce_sum(grad, over + begin), dims)
        for grad, over, dims, (begin, _) in zip(grads, axes, sizes, spans, strict=True)
    ]


def _span(labels: str) -> tuple[int, int | None]:
    """The dims that the ellipsis stands for, as bounds of a slice."""
    before, _, after = labels.partition(_DOTS)
    return len(before), -len(after) or None


define_op(
    "Einsum",
    "inputs: N * T -> output: T",
    attrs=["equation: string", "N: int >= 1", "T: type"],
    shape=_shape,
    kernel=_einsum,
    aliases=("inputs",),
    gradient=_gradient,
)
