"""Softmax, log-softmax and the cross entropies.

The fused cross entropies return (loss, backprop): the loss of each row and its gradient with
respect to the logits, both from one log-softmax.  Where a step uses one of the two, only that one
is computed.  Softmax along another dim than the last one is a transposition to the last, as in
TensorFlow, whose graphs it repeats node by node.
"""

from __future__ import annotations

import operator
from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import ShapeContext, show
from penstock.foundation.opdef.static import constant_value
from penstock.ops.array import nodes
from penstock.ops.math import reduction

FLOATING = "T: {half, bfloat16, float, double}"


# ---- Softmax and LogSoftmax --------------------------------------------------------------------


def _logits_shape(ctx: ShapeContext) -> Any:
    return ctx.rank_at_least("logits", 1)


def _softmax_gradient(op: Any, grad: Tensor) -> Tensor:
    softmax = op.outputs[0]
    channels = make("Sum", nodes.mul(grad, softmax), -1, keep_dims=True)
    return nodes.mul(nodes.sub(grad, channels), softmax)


def _log_softmax_gradient(op: Any, grad: Tensor) -> Tensor:
    softmax = make("Exp", op.outputs[0])
    total = make("Sum", grad, -1, keep_dims=True)
    return nodes.sub(grad, nodes.mul(total, softmax))


for _name, _output, _function, _gradient, _flops in (
    ("Softmax", "softmax", "torch.softmax", _softmax_gradient, arithmetic.each_input(5)),
    ("LogSoftmax", "logsoftmax", "torch.log_softmax", _log_softmax_gradient, None),
):
    define_op(
        _name,
        f"logits: T -> {_output}: T",
        attrs=[FLOATING],
        shape=_logits_shape,
        kernel=f"{_function}({{logits}}, -1)",
        gradient=_gradient,
        flops=_flops,
    )


# ---- public: softmax -----------------------------------------------------------------------------


def axis_argument(axis: Any, dim: Any) -> Any:
    """The axis under its new or former name, a number or a tensor; -1 by default."""
    axis = reduction.renamed("axis", axis, "dim", dim)
    return -1 if axis is None else axis


def _swap_axis(tensor: Tensor, axis: Any, last: Tensor) -> Tensor:
    order = nodes.concat(
        [
            make("Range", 0, axis, 1, name="range"),
            [last],
            make("Range", axis + 1, last, 1, name="range"),
            [axis],
        ],
        0,
    )
    return nodes.transpose(tensor, order)


def _along(op_type: str, logits: Any, axis: Any, name: str | None) -> Tensor:
    """``op_type`` along ``axis``, which is brought to the end for it."""
    logits = convert.convert_to_tensor(logits)
    dims = logits.sizes
    fed = isinstance(axis, Tensor)
    if not fed and (axis == -1 or (dims is not None and axis == len(dims) - 1)):
        return make(op_type, logits, name=name)
    known = constant_value(axis) if fed else operator.index(axis)
    if dims is not None and known is not None and not -len(dims) <= known < len(dims):
        raise errors.invalid(
            f"Dimension ({known}) must be in the range [{-len(dims)}, {len(dims)}) where"
            f" {len(dims)} is the number of dimensions in the input, {show(dims)}"
        )
    rank = nodes.rank(logits)  # TensorFlow makes this node, so that later ones are named alike.
    fits = not fed or axis.dtype.base_dtype == dtypes.int32  # another type cannot be added to rank
    if fits and known is not None and dims is not None:
        axis = int(known) % len(dims)
    elif fed:
        negative = make("Less", axis, 0)
        axis = make("Select", negative, nodes.add(axis, rank), axis)
    elif dims is None and known < 0:
        axis = nodes.add(rank, known)
    else:
        axis = known
    dims_of_logits = nodes.rank(logits)
    last = make("Sub", dims_of_logits, 1)
    if isinstance(axis, Tensor):
        axis = axis % (rank if dims is None else len(dims))
    turned = make(op_type, _swap_axis(logits, axis, last), name=name)
    result = _swap_axis(turned, axis, make("Sub", dims_of_logits, 1))
    result.set_shape(logits.shape)
    return result


@one_operation
def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """``exp(logits) / sum(exp(logits))`` along ``axis``.

    Args:
      logits: a floating tensor of rank 1 or more.
      axis: the dim that sums to 1, a number or a scalar tensor; by default the last.
      dim: former name of ``axis``.

    Returns:
      A tensor of the same type and shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.nn.softmax([[1.0, 1.0], [0.0, 200.0]])).tolist()
      [[0.5, 0.5], [0.0, 1.0]]
    """
    return _along("Softmax", logits, axis_argument(axis, dim), name)


@one_operation
def log_softmax(
    logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """``logits - log(sum(exp(logits)))`` along ``axis``; arguments as of ``softmax``.

    Args:
      logits: tensor of a floating type, of rank at least 1.
      axis: the dim that is normalized; the last one without.
      dim: former name of ``axis``.

    Returns:
      A tensor of the shape and type of ``logits``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     logs = session.run(tf.nn.log_softmax([[1000.0, 1000.0]]))  # no overflow
      >>> np.exp(logs).round(3).tolist()
      [[0.5, 0.5]]
    """
    return _along("LogSoftmax", logits, axis_argument(axis, dim), name)
