"""Broadcasting, and how gradients of broadcasting ops come back to the shapes of the operands.

A gradient has the broadcast shape; each operand's share is summed over the dims along which it was
repeated and reshaped.  Two forms, as TF 1.15 builds them: ``dynamic`` always makes the nodes
(Shape, Shape_1, BroadcastGradientArgs, Sum, Reshape); ``smart`` (Add, Sub, Mul, Pow and
SquaredDifference) finds the dims while the graph is built when the shapes are known.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
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


def _broadcast_to_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("shape")
    given = ctx["input"]
    if dims is None or given is None:
        return dims
    if len(given) > len(dims):
        raise ValueError(f"input has shape {show(given)}, which has more dims than {show(dims)}")
    for own, wanted in zip(reversed(given), reversed(dims), strict=False):
        if own not in (None, 1) and wanted is not None and own != wanted:
            text = (
                f"Dimensions must be equal, but are {own} and {wanted}: Incompatible shapes:"
                f" {show(given)} vs. {show(dims)}: input does not broadcast"
            )
            raise FailsAtRun(text, dims) if own == 0 else ValueError(text)
    # A dim that is not 1 cannot be repeated, so the result has it too.
    lead = len(dims) - len(given)
    known = [d if own in (None, 1) else own for own, d in zip(given, dims[lead:], strict=True)]
    return (*dims[:lead], *known)


def _broadcast_to(input: Any, shape: list[int]) -> Any:
    if isinstance(input, np.ndarray):
        return np.broadcast_to(input, shape)
    if any(d < 0 for d in shape):
        raise ValueError(f"shape {shape} has a negative dim")
    return input.expand(shape)


def _broadcast_to_grad(op: Any, grad: Any) -> list[Any]:
    value, target = op.inputs
    shape = shape_of(value)
    if target.dtype.base_dtype is not dtypes.int32:
        target = make("Cast", target, DstT=dtypes.int32)
    _, axes = make("BroadcastGradientArgs", target, shape)
    kept = make("Sum", grad, axes, keep_dims=True)
    return [make("Reshape", kept, shape), None]


define_op(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    attrs=["T: type", "Tidx: {int32, int64} = int32"],
    shape=_broadcast_to_shape,
    kernel=_broadcast_to,
    host=("shape",),
    aliases=("input",),
    gradient=_broadcast_to_grad,
    moves=True,
)


def _broadcast_args(s0: list[int], s1: list[int], T: Any) -> Any:
    return torch.tensor(_broadcast_sizes(s0, s1), dtype=T)


def _broadcast_sizes(s0: Any, s1: Any) -> list[int]:
    """As ``np.broadcast_shapes``, of any numbers: TensorFlow does not ask for sizes."""
    sizes = []
    for a, b in itertools.zip_longest(reversed(list(s0)), reversed(list(s1)), fillvalue=1):
        if a != b and 1 not in (a, b):
            raise ValueError(
                f"Incompatible shapes: {list(s0)} vs. {list(s1)}: {a} and {b} do not broadcast"
            )
        sizes.append(int(b if a == 1 else a))
    return sizes[::-1]


def _broadcast_args_shape(ctx: ShapeContext) -> Dims:
    lengths = [ctx.rank(name, 1)[0] for name in ("s0", "s1")]
    return (None if None in lengths else max(n for n in lengths if n is not None),)


def _broadcast_args_fold(ctx: ShapeContext, s0: Any, s1: Any) -> Any:
    if s0 is None or s1 is None:
        return None
    try:
        return np.array(_broadcast_sizes(s0, s1), s0.dtype)
    except ValueError:
        return None  # for the run to say


define_op(
    "BroadcastArgs",
    "s0: T, s1: T -> r0: T",
    attrs=["T: {int32, int64} = int32"],
    shape=_broadcast_args_shape,
    kernel=_broadcast_args,
    host=("s0", "s1"),
    fold=_broadcast_args_fold,
    no_gradient="its output is a shape",
)


@static.partial_value("BroadcastArgs")
def _partly_known(ctx: ShapeContext) -> Dims:
    return shapes.broadcast_static(ctx.shape_value("s0"), ctx.shape_value("s1"))


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


# ---- public functions ---------------------------------------------------------------------------


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """``input`` repeated along dims of size 1 and new leading dims until it has ``shape``.

    Args:
      input: a tensor.
      shape: int32 or int64 vector.

    Returns:
      A tensor of the given shape.

    Raises:
      ValueError: ``input`` does not broadcast to ``shape``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.broadcast_to([1.0, 2.0], [3, 2]).shape.as_list()
      [3, 2]
    """
    return make("BroadcastTo", input, shape, name=name)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> shapes.TensorShape:
    """The shape that two static shapes broadcast to.

    Raises:
      ValueError: they do not broadcast.
    """
    first, second = shapes.as_shape(shape_x), shapes.as_shape(shape_y)
    return shapes.TensorShape(shapes.broadcast_static(first.sizes, second.sizes))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes, given as int32 or int64 vectors, broadcast to, as a vector."""
    return make("BroadcastArgs", shape_x, shape_y)
