"""Fusing: several nodes in one ATen call, where the values between them have no other reader.

Patterns are rows: the op type at the bottom and a rule that looks upwards.  Fused nodes are
internal op types of ``ops.fused``; what they replaced dies in the ``drop_dead`` that follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from penstock.compiler.passes.simplify import constant_of, is_known
from penstock.foundation.base import dtypes
from penstock.foundation.graph.handles import states_behind
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.registry import OPS

FuseRule = Callable[["Fuser", Operation], "list[Tensor] | None"]


class Fuser:
    """One walk: the rebuilder and how often each old tensor is read."""

    rebuilder: Rebuilder

    def __init__(self, step: StepGraph) -> None:
        self.uses: Counter[Tensor] = Counter(step.fetches)
        self.readers: dict[Tensor, list[Operation]] = {}
        for op in step.operations:
            self.uses.update(op.inputs)
            for tensor in op.inputs:
                self.readers.setdefault(tensor, []).append(op)
        self.controlled = {c for op in step.operations for c in op.control_inputs}

    def only_reader(self, tensor: Tensor, op_type: str) -> Operation | None:
        """The node of ``op_type`` that makes ``tensor``, when nothing else reads it."""
        op = tensor.op
        if op.type != op_type or self.uses[tensor] != 1:
            return None
        if op.control_inputs or op in self.controlled:
            return None
        return op


def _is_float(op: Operation) -> bool:
    return op.outputs[0].dtype in (dtypes.float32, dtypes.float64)


def bias_into_product(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``MatMul`` + bias row -> ``_Linear``."""
    if op.control_inputs or not _is_float(op):
        return None
    pairs = [tuple(op.inputs)]
    if op.type != "BiasAdd":
        pairs.append((op.inputs[1], op.inputs[0]))
    for product, bias in pairs:
        matmul = fuser.only_reader(product, "MatMul")
        if matmul is None or bias.sizes is None or len(bias.sizes) != 1:
            continue
        if product.sizes is None or bias.sizes[0] is None or product.sizes[1] != bias.sizes[0]:
            continue
        new = fuser.rebuilder
        operands = (new[t] for t in (*matmul.inputs, bias))
        attrs = {k: matmul.attrs[k] for k in ("transpose_a", "transpose_b")}
        return [new.make("_Linear", *operands, **attrs)]
    return None


def product_into_sum(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``MatMul`` added to what a block is given, a loop's running sum -> ``_AddProduct``."""
    if op.control_inputs or not _is_float(op):
        return None
    first, second = op.inputs
    for total, product in ((first, second), (second, first)):
        matmul = fuser.only_reader(product, "MatMul")
        if matmul is None or total.op.op_def.role != "feed" or None in (total.sizes or (None,)):
            continue
        if total.sizes == product.sizes:
            new = fuser.rebuilder
            attrs = {k: matmul.attrs[k] for k in ("transpose_a", "transpose_b")}
            operands = (new[t] for t in (total, *matmul.inputs))
            return [new.make("_AddProduct", *operands, **attrs)]
    return None


def relu_into_linear(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``Relu`` of a product with bias: the activation moves into the call."""
    linear = fuser.rebuilder[op.inputs[0]].op
    if linear.type != "_Linear" or fuser.uses[op.inputs[0]] != 1 or op.control_inputs:
        return None
    attrs = {k: linear.attrs[k] for k in ("transpose_a", "transpose_b")}
    return [fuser.rebuilder.make("_Linear", *linear.inputs, activation="relu", **attrs)]


def relu_into_convolution(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``Relu`` of a convolution with bias: the activation moves into the call."""
    source = fuser.rebuilder[op.inputs[0]].op
    if source.type != "_ConvBias" or fuser.uses[op.inputs[0]] != 1 or op.control_inputs:
        return None
    attrs = {k: v for k, v in source.attrs.items() if k not in ("T", "activation")}
    return [fuser.rebuilder.make("_ConvBias", *source.inputs, activation="relu", **attrs)]


def bias_into_convolution(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``Conv2D`` + bias -> ``_ConvBias``."""
    if op.control_inputs or not _is_float(op):
        return None
    product, bias = op.inputs
    conv = fuser.only_reader(product, "Conv2D")
    if conv is None and op.type != "BiasAdd":
        product, bias = bias, product
        conv = fuser.only_reader(product, "Conv2D")
    if conv is None or bias.sizes is None or len(bias.sizes) != 1:
        return None
    if conv.attrs["data_format"] != op.attrs.get("data_format", "NHWC"):
        return None
    if conv.attrs["data_format"] != "NHWC" or product.sizes is None:
        return None
    if product.sizes[3] is None or product.sizes[3] != bias.sizes[0]:
        return None
    new = fuser.rebuilder
    attrs = {k: conv.attrs[k] for k in ("strides", "padding", "explicit_paddings", "dilations")}
    return [new.make("_ConvBias", new[conv.inputs[0]], new[conv.inputs[1]], new[bias], **attrs)]


def pooling_with_indices(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``MaxPool`` whose gradient is taken in the same step keeps where each maximum was."""
    if op.control_inputs or not _is_float(op):
        return None
    if not any(_is_gradient_of(reader, op) for reader in fuser.readers.get(op.outputs[0], ())):
        return None
    new = fuser.rebuilder
    output, _ = new.make("_MaxPoolWithIndices", new[op.inputs[0]], **_pool_attrs(op))
    return [output]


def pooling_gradient_with_indices(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``MaxPoolGrad`` beside its forward node uses the places that the forward node kept."""
    if op.control_inputs:
        return None
    new = fuser.rebuilder
    forward = new[op.inputs[1]].op
    if forward.type != "_MaxPoolWithIndices":
        return None
    if not _is_gradient_of(op, op.inputs[1].op):
        return None
    grad, source = new[op.inputs[2]], new[op.inputs[0]]
    attrs = _pool_attrs(op)
    return [new.make("_MaxPoolGradWithIndices", grad, source, forward.outputs[1], **attrs)]


def _pool_attrs(op: Operation) -> dict[str, object]:
    known = OPS["_MaxPoolWithIndices"].attrs
    return {k: v for k, v in op.attrs.items() if k in known and k != "T"}


def _is_gradient_of(reader: Operation, op: Operation) -> bool:
    return (
        reader.type == "MaxPoolGrad"
        and op.type == "MaxPool"
        and reader.inputs[1] is op.outputs[0]
        and reader.inputs[0] is op.inputs[0]
        and all(reader.attrs[k] == op.attrs[k] for k in ("ksize", "strides", "padding"))
    )


def finite_or(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """A choice of what is finite, and one number elsewhere -> ``_FiniteOr``."""
    condition, x, other = op.inputs
    test, value = condition.op, constant_of(other)
    if test.type != "IsFinite" or test.inputs[0] is not x or test.control_inputs:
        return None
    if op.control_inputs or not _is_float(op) or value is None or not value.size:
        return None
    number = value.ravel()[0]
    if x.sizes != op.outputs[0].sizes or not is_known(x) or not (value == number).all():
        return None
    return [fuser.rebuilder.make("_FiniteOr", fuser.rebuilder[x], other=float(number))]


# A gradient that is a product over few elements is added to its variable as it is computed.
_FEW = 32


def product_into_descent(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """``ApplyGradientDescent`` of a product that nothing else reads: one ``addmm_``."""
    if op.attrs["use_locking"] or not _is_float_delta(op):
        return None
    var, alpha, delta = op.inputs
    matmul = fuser.only_reader(delta, "MatMul")
    if matmul is None or delta.sizes is None or None in delta.sizes:
        return None
    own = states_behind(var)
    if any(own & states_behind(operand) for operand in matmul.inputs):
        # The product's operands lie in the memory that it would be added to.
        return None
    inner = matmul.inputs[0].sizes
    transposed = matmul.attrs["transpose_a"]
    size = None if inner is None else inner[0 if transposed else 1]
    if size is None or (size > _FEW and min(d or 0 for d in delta.sizes) > _FEW):
        return None
    new = fuser.rebuilder
    attrs = {k: matmul.attrs[k] for k in ("transpose_a", "transpose_b")}
    prefix = "Resource" if op.type.startswith("Resource") else ""
    new.make(
        f"_{prefix}DescendAlongProduct",
        new[var], new[alpha], new[matmul.inputs[0]], new[matmul.inputs[1]], **attrs,
    )  # fmt: skip
    return [new[var]] if op.outputs else []


def _is_float_delta(op: Operation) -> bool:
    return op.inputs[2].dtype in (dtypes.float32, dtypes.float64)


RULES: dict[str, list[FuseRule]] = {
    "BiasAdd": [bias_into_product, bias_into_convolution],
    "Add": [bias_into_product, bias_into_convolution, product_into_sum],
    "AddV2": [bias_into_product, bias_into_convolution, product_into_sum],
    "Relu": [relu_into_linear, relu_into_convolution],
    "ApplyGradientDescent": [product_into_descent],
    "ResourceApplyGradientDescent": [product_into_descent],
    "Select": [finite_or],
    "SelectV2": [finite_or],
    "MaxPool": [pooling_with_indices],
    "MaxPoolGrad": [pooling_gradient_with_indices],
}


def fuse(step: StepGraph, rules: Mapping[str, Sequence[FuseRule]] = RULES) -> StepGraph:
    """Applies the first rule that fires to each node."""
    if not any(op.type in rules for op in step.operations):
        return step
    fuser = Fuser(step)

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        fuser.rebuilder = rebuilder
        for one in rules.get(op.type, ()):
            found = one(fuser, op)
            if found is not None:
                return found
        return None

    return Rebuilder(step).run(rule)
