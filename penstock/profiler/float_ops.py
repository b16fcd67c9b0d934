"""Float operations of a node, by op type: one table, its formulas over shapes.

The formulas are those that TensorFlow counts by (1.15's, with the op types that 2.x adds to them),
so totals can be compared.  An op type without a row counts nothing, as there; multiplications and
additions count one each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from penstock.graph.operation import Operation
from penstock.graph.tensor import Tensor

# Shapes that a trace of a run told, by tensor name.
RunShapes = Mapping[str, tuple[int, ...]]


class UnknownShapeError(ValueError):
    """A shape that the count needs is not known before running."""


class Shapes:
    """The fully known shapes around one node.

    Args:
      op: the node.
      measured: shapes from a trace, for tensors whose static shapes have unknown dims.
    """

    def __init__(self, op: Operation, measured: RunShapes) -> None:
        self.op = op
        self._measured = measured

    def input(self, index: int) -> tuple[int, ...]:
        """Shape of input ``index``; UnknownShapeError when a dim is not known."""
        return self._known(self.op.inputs[index])

    def input_dim(self, index: int, axis: int) -> int:
        """One dim of input ``index``, which may be known where others are not."""
        dims = self.op.inputs[index].sizes
        known = dims[axis] if dims is not None else None
        return self.input(index)[axis] if known is None else known

    def output(self) -> tuple[int, ...]:
        """Shape of the first output; UnknownShapeError when a dim is not known."""
        return self._known(self.op.outputs[0])

    def _known(self, tensor: Tensor) -> tuple[int, ...]:
        dims = known_shape(tensor, self._measured)
        if dims is None:
            raise UnknownShapeError(f"{tensor.name} has shape {tensor.shape}")
        return dims


def known_shape(tensor: Tensor, measured: RunShapes) -> tuple[int, ...] | None:
    """The tensor's full shape: static, or else as a trace measured it."""
    dims = tensor.sizes
    if dims is not None and None not in dims:
        return tuple(d for d in dims if d is not None)
    return measured.get(tensor.name)


Rule = Callable[[Shapes], int]


def _each_input(count: int) -> Rule:
    return lambda at: count * math.prod(at.input(0))


def _each_output(count: int) -> Rule:
    return lambda at: count * math.prod(at.output())


def _reduction(finish: int) -> Rule:
    """One operation for each element but the first of a group, ``finish`` more for the result."""

    def rule(at: Shapes) -> int:
        return math.prod(at.input(0)) + math.prod(at.output()) * (finish - 1)

    return rule


def _l2_loss(at: Shapes) -> int:
    return 3 * math.prod(at.input(0)) - 1


def _add_n(at: Shapes) -> int:
    return math.prod(at.input(0)) * (len(at.op.inputs) - 1)


def _product(transposed: str) -> Rule:
    def rule(at: Shapes) -> int:
        inner = at.input_dim(0, -2 if at.op.attrs[transposed] else -1)
        return 2 * inner * math.prod(at.output())

    return rule


def _window(dims: int) -> Rule:
    """A multiplication and an addition for each of the first ``dims`` filter dims' elements."""

    def rule(at: Shapes) -> int:
        return 2 * math.prod(at.output()) * math.prod(at.input(1)[:dims])

    return rule


_ShapeOf = Callable[[Shapes], tuple[int, ...]]


def _conv_gradient(image: _ShapeOf, kernel: _ShapeOf) -> Rule:
    """As many as the convolution itself has: the strides divide the places of the window."""

    def rule(at: Shapes) -> int:
        strides: list[int]
        picture, weights = image(at), kernel(at)
        first = _channels_first(at.op)
        depth = picture[1] if first else picture[-1]
        strides = at.op.attrs["strides"][2:] if first else at.op.attrs["strides"][1:3]
        return 2 * math.prod(picture) * math.prod(weights) // (depth * math.prod(strides))

    return rule


def _channels_first(op: Operation) -> bool:
    return op.attrs.get("data_format") in ("NCHW", b"NCHW")


def _area(op: Operation) -> int:
    return math.prod(op.attrs["ksize"])


def _pool(at: Shapes) -> int:
    return _area(at.op) * math.prod(at.output())


def _avg_pool_gradient(at: Shapes) -> int:
    return 2 * _area(at.op) * math.prod(at.input(1))


def _max_pool_gradient(at: Shapes) -> int:
    return (_area(at.op) + 1) * math.prod(at.input(1))


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd"), _each_input(1)
    ),
    "Rsqrt": _each_input(2),
    "Softmax": _each_input(5),
    "L2Loss": _l2_loss,
    **dict.fromkeys(
        (
            "Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "GreaterEqual",
            "Greater", "LessEqual", "Less", "Equal", "NotEqual",
        ),
        _each_output(1),
    ),
    "SquaredDifference": _each_output(2),
    "RsqrtGrad": _each_output(4),
    "Mean": _reduction(1),
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), _reduction(0)),
    "AddN": _add_n,
    "MatMul": _product("transpose_a"),
    # The attr by which TensorFlow's rule would look, "transpose_a", is "adj_x" here.
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2"), _product("adj_x")),
    "Conv2D": _window(3),
    "DepthwiseConv2dNative": _window(2),
    "Conv2DBackpropInput": _conv_gradient(Shapes.output, lambda at: at.input(1)),
    "Conv2DBackpropFilter": _conv_gradient(lambda at: at.input(0), Shapes.output),
    **dict.fromkeys(("AvgPool", "MaxPool"), _pool),
    "AvgPoolGrad": _avg_pool_gradient,
    "MaxPoolGrad": _max_pool_gradient,
}  # fmt: skip


def count(op: Operation, measured: RunShapes | None = None) -> int:
    """Float operations of one run of a node.

    Args:
      op: the node.
      measured: shapes from a trace (name of tensor to shape) for tensors whose static shapes have
        unknown dims.

    Returns:
      The count; 0 for op types that the table lacks.

    Raises:
      UnknownShapeError: a shape that the count needs is not fully known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     count(tf.matmul(tf.zeros([4, 3]), tf.zeros([3, 5])).op)
      120
    """
    rule = RULES.get(op.type)
    return 0 if rule is None else rule(Shapes(op, measured or {}))
