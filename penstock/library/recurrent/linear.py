"""``Linear``: the affine layer of cells that project their input or output."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join
from penstock.ops.linalg import matmul
from penstock.ops.nn import bias


class Linear:
    """``[args] @ kernel + bias``, with variables made once in the current variable scope.

    Args:
      args: a tensor [batch, size] or a list of such, joined.
      output_size: columns of the kernel.
      build_bias: whether to add a bias, zero at first.

    Raises:
      ValueError: an argument is no matrix of known width.
    """

    def __init__(self, args: Any, output_size: int, build_bias: bool) -> None:
        if args is None or (nest.is_sequence(args) and not args):
            raise ValueError("`args` must be specified")
        self._is_list = nest.is_sequence(args)
        tensors = list(args) if self._is_list else [args]
        width, dtype = _total_width(tensors), tensors[0].dtype
        self._biases = None
        with variable_scope(get_variable_scope()) as outer:
            self._weights = get_variable("kernel", [width, output_size], dtype=dtype)
            if build_bias:
                with variable_scope(outer) as inner:
                    # A partitioner is meant for the kernel.
                    inner.set_partitioner(None)
                    zeros = initializers.constant_initializer(0.0, dtype=dtype)
                    self._biases = get_variable("bias", [output_size], dtype, initializer=zeros)

    def __call__(self, args: Any) -> Tensor:
        """The product with other arguments of the same widths."""
        tensors = list(args) if self._is_list else [args]
        if len(tensors) == 1:
            result = matmul.matmul(tensors[0], self._weights)
        else:
            axis = constant(1, dtypes.int32)
            result = matmul.matmul(join.concat(tensors, axis), self._weights)
        if self._biases is not None:
            result = bias.bias_add(result, self._biases)
        return result


def _total_width(tensors: list[Any]) -> int:
    total = 0
    for one in tensors:
        dims = one.get_shape()
        if dims.ndims != 2:
            found = [t.get_shape() for t in tensors]
            raise ValueError(f"linear is expecting 2D arguments: {found}")
        width = dims.as_list()[1]
        if width is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {dims}")
        total += width
    return total
