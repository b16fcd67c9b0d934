"""How gradients of broadcasting ops come back to the shapes of the operands.

A gradient has the broadcast shape; each operand's share is summed over the dims along which it was
repeated and reshaped.  Two forms, as TF 1.15 builds them: ``dynamic`` always makes the nodes
(Shape, Shape_1, BroadcastGradientArgs, Sum, Reshape); ``smart`` (Add, Sub, Mul, Pow and
SquaredDifference) finds the dims while the graph is built when the shapes are known.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes


def gradient_axes(first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    """Dims over which gradients of two broadcast operands are summed.

    >>> gradient_axes([2, 1], [3])
    ([1], [0])
    """
    if first == second:
        return [], []
    rank = max(len(first), len(second))
    one = [1] * (rank - len(first)) + list(first)
    two = [1] * (rank - len(second)) + list(second)
    for a, b in zip(one, two, strict=True):
        if a != b and a != 1 and b != 1:
            raise ValueError(f"shapes {list(first)} and {list(second)} do not broadcast")
    return [i for i in range(rank) if one[i] == 1], [i for i in range(rank) if two[i] == 1]


def _gradient_args(s0: list[int], s1: list[int], T: Any) -> tuple[Any, Any]:
    first, second = gradient_axes(s0, s1)
    return torch.tensor(first, dtype=T), torch.tensor(second, dtype=T)


def _vectors(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("s0", 1), ctx.rank("s1", 1)
    return [(None,), (None,)]


define_op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    attrs=["T: {int32, int64} = int32"],
    shape=_vectors,
    kernel=_gradient_args,
    host=("s0", "s1"),
    no_gradient="its outputs are axes",
)


# ---- parts of gradients -------------------------------------------------------------------------


def shape_of(x: Any, optimize: bool = True) -> Tensor:
    """Shape of ``x`` as int32: a constant where it is known, unless not to be optimized."""
    if not isinstance(x, Tensor):  # a gradient in slices
        return nodes.shape(x)
    if optimize and x.sizes is not None and None not in x.sizes:
        return constant(np.array(x.sizes, np.int32), dtypes.int32, "Shape")
    return make("Shape", x, out_type=dtypes.int32)


def filled_with_zeros(shape: Tensor, dtype: Any) -> Tensor:
    """Zeros of a shape given as a tensor: the nodes ``zeros/Const`` and ``zeros``."""
    with name_scope("zeros") as scope:
        zero = constant(np.zeros((), dtype.as_numpy_dtype), dtype)
        return make("Fill", shape, zero, name=scope)


_PAIRS: weakref.WeakKeyDictionary[Graph, set[Any]] = weakref.WeakKeyDictionary()


class Share:
    """How one operand's share of a gradient is brought back to its shape."""

    def __init__(self, shape: Any, axes: Any, needed: bool = True) -> None:
        self.shape, self.axes, self.needed = shape, axes, needed

    def __call__(self, grad: Any) -> Any:
        """Sums and reshapes ``grad`` (Sum, Reshape), if that is needed."""
        if not self.needed:
            return grad
        return make("Reshape", make("Sum", grad, self.axes, keep_dims=False), self.shape)


def dynamic(x: Tensor, y: Tensor) -> tuple[Share, Share]:
    """The two shares, with nodes that find the axes when the step runs."""
    sx, sy = shape_of(x), shape_of(y)
    rx, ry = make("BroadcastGradientArgs", sx, sy)
    return Share(sx, rx), Share(sy, ry)


def smart(x: Tensor, y: Tensor, grad: Any) -> tuple[Share, Share]:
    """The two shares, with axes found now when all shapes are known."""
    if not (_known(x) and _known(y) and _known(grad)):
        sx, sy = shape_of(x, optimize=False), shape_of(y, optimize=False)
        rx, ry = make("BroadcastGradientArgs", sx, sy)
        return Share(sx, rx), Share(sy, ry)
    first, second = (np.array(t.sizes, np.int32) for t in (x, y))
    # TensorFlow adds this node, unused, once a graph for each pair of shapes.
    graph = get_default_graph()
    if not graph.executes:
        seen = _PAIRS.setdefault(x.graph, set())
        if (x.sizes, y.sizes) not in seen:
            seen.add((x.sizes, y.sizes))
            make("BroadcastGradientArgs", first, second)
    axes = gradient_axes(first.tolist(), second.tolist())
    rx, ry = (np.array(a, np.int32) for a in axes)
    return (
        Share(first, rx, x.sizes != grad.sizes),
        Share(second, ry, y.sizes != grad.sizes),
    )


def _known(x: Any) -> bool:
    return isinstance(x, Tensor) and x.sizes is not None and None not in x.sizes


def all_known_and_equal(x: Tensor, y: Tensor, grad: Any) -> bool:
    """Whether all three have one fully known shape, so that nothing was broadcast."""
    return _known(x) and _known(grad) and x.sizes == y.sizes == grad.sizes
