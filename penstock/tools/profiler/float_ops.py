"""Float operations of a node: the formula of its op (``opdef.arithmetic``) over known shapes."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

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


def count(op: Operation, measured: RunShapes | None = None) -> int:
    """Float operations of one run of a node.

    Args:
      op: the node.
      measured: shapes from a trace (name of tensor to shape) for tensors whose static shapes have
        unknown dims.

    Returns:
      The count; 0 for op types that have no formula.

    Raises:
      UnknownShapeError: a shape that the count needs is not fully known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     count(tf.matmul(tf.zeros([4, 3]), tf.zeros([3, 5])).op)
      120
    """
    formula = op.op_def.flops
    return 0 if formula is None else formula(Shapes(op, measured or {}))
