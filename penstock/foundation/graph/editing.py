"""Changing graphs that stand: other inputs for a node, copies of nodes.

What was inferred of a node holds of its inputs, so it is inferred anew where these change, and of
all that comes after it; compiled programs are given up by the graph's mutation version.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, Refusal, infer_shapes
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.static import UNSET

# A node that is met so often lies on a cycle, where shapes do not settle: nothing is known then.
_MOST_VISITS = 4


def change_input(op: Operation, index: int, tensor: Tensor) -> None:
    """Gives a node another tensor as one of its inputs.

    Args:
      op: the node.
      index: which input.
      tensor: of the same graph.

    Raises:
      ValueError: the tensor is of another graph.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     y = tf.negative(tf.zeros([2]))
      ...     change_input(y.op, 0, tf.zeros([3]))
      ...     y.shape.as_list()
      [3]
    """
    op._update_input(index, tensor)
    infer_again(op)


def infer_again(changed: Operation) -> None:
    """Infers static shapes of a node whose inputs have changed, and of what comes after it.

    A node that its shape rule now refuses fails when it runs.
    """
    waiting = deque([changed])
    visits = Counter[Operation]()
    while waiting:
        op = waiting.popleft()
        visits[op] += 1
        if visits[op] > _MOST_VISITS + 1:
            continue
        before = [t.sizes for t in op.outputs]
        _infer(op, visits[op] > _MOST_VISITS)
        forgotten = _forgotten(op)
        if visits[op] == 1 or forgotten or before != [t.sizes for t in op.outputs]:
            waiting.extend(user for t in op.outputs for user in dict.fromkeys(t.uses))


def _infer(op: Operation, give_up: bool) -> None:
    op.refusal = None
    try:
        infer_shapes(op)
    except ValueError as error:
        op.refusal = Refusal(str(error))
        give_up = True
    if give_up:
        for tensor in op.outputs:
            tensor.sizes = None


def _forgotten(op: Operation) -> bool:
    """Forgets values that were known of the outputs; whether there were any."""
    had = [t for t in op.outputs if t.static_value is not UNSET and t.static_value is not None]
    for tensor in op.outputs:
        tensor.static_value = UNSET
    return bool(had)


def copy_node(
    op: Operation,
    graph: Graph,
    name: str,
    inputs: Sequence[Tensor],
    controls: Iterable[Operation] = (),
) -> Operation:
    """Adds a copy of a node to a graph, whatever scopes are open: its attrs and device are kept.

    Args:
      op: the node.
      graph: where.
      name: the copy's full name, unique already.
      inputs: of that graph, in order.
      controls: control inputs.

    Raises:
      ValueError: the shape rule refuses the inputs.
      RuntimeError: the graph is finalized.
    """
    if graph.finalized:
        raise RuntimeError(f"Graph is finalized and cannot be modified: adding {name!r}")
    types = [t.dtype for t in op.outputs]
    made = Operation(
        graph, op.op_def, name, inputs, tuple(controls), dict(op.attrs), types, op.origin
    )
    infer_shapes(made)
    graph.register(made)
    if op.device:
        made._set_device(op.device)
    return made
