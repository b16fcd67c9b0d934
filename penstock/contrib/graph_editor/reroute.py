"""Other inputs for operations that stand: tensors take each other's places, one way or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.contrib.graph_editor import lists, subgraph
from penstock.contrib.graph_editor.subgraph import SubGraphView
from penstock.foundation.graph import editing
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


def _replace(
    new: Sequence[Tensor],
    old: Sequence[Tensor],
    swap: bool,
    can_modify: Any = None,
    cannot_modify: Any = None,
) -> int:
    """Gives those that take an old tensor the new one, and if they are swapped the other way round.

    Returns:
      How many inputs are other ones.
    """
    if len(new) != len(old):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(new)} != {len(old)}")
    allowed = None if can_modify is None else set(lists.make_list_of_op(can_modify))
    spared = set() if cannot_modify is None else set(lists.make_list_of_op(cannot_modify))
    total = 0
    for a, b in zip(new, old, strict=True):
        if a is b:
            continue
        _check_alike(a, b)
        pairs = [(a, b), (b, a)] if swap else [(a, b)]
        # Found before anything is changed: else what was changed would be changed back.
        uses = [(put, _uses(taken, allowed, spared)) for put, taken in pairs]
        for put, places in uses:
            for op, index in places:
                editing.change_input(op, index, put)
            total += len(places)
    return total


def _uses(
    tensor: Tensor, allowed: set[Operation] | None, spared: set[Operation]
) -> list[tuple[Operation, int]]:
    users = [op for op in tensor.consumers() if op not in spared]
    return [
        (op, index)
        for op in users
        if allowed is None or op in allowed
        for index, t in enumerate(op.inputs)
        if t is tensor
    ]


def _check_alike(a: Tensor, b: Tensor) -> None:
    if a.graph is not b.graph:
        raise ValueError(f"{a.name} and {b.name} are of different graphs")
    if a.dtype.base_dtype is not b.dtype.base_dtype:
        raise ValueError(f"Dtypes {a.dtype!r} and {b.dtype!r} are not compatible.")
    if not a.get_shape().is_compatible_with(b.get_shape()):
        raise ValueError(f"Shapes {a.get_shape()} and {b.get_shape()} are not compatible.")


# ---- tensors -------------------------------------------------------------------------------------


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Has tensors take each other's places, for all operations that take them.

    Args:
      ts0, ts1: as many tensors.
      can_modify: operations that may be changed; None for all.
      cannot_modify: operations that may not.

    Returns:
      How many inputs were changed.

    Raises:
      TypeError: they are no tensors, or no operations.
      ValueError: their numbers differ, or two of them in dtype or shape.
    """
    new, old = lists.make_list_of_t(ts0), lists.make_list_of_t(ts1)
    return _replace(new, old, True, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Has tensors take the places of others, for all operations that take these.

    Args:
      ts0: the tensors that are taken from now on.
      ts1: as many, which are taken now.
      can_modify, cannot_modify: as of ``swap_ts``.

    Returns:
      How many inputs were changed.

    Raises:
      TypeError, ValueError: as of ``swap_ts``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     a, b = tf.constant(1.0), tf.constant(10.0)
      ...     y = a + 1.0
      ...     print(sess.run(y), reroute_ts(b, a), sess.run(y))
      2.0 1 11.0
    """
    new, old = lists.make_list_of_t(ts0), lists.make_list_of_t(ts1)
    return _replace(new, old, False, can_modify, cannot_modify)


# ---- views ---------------------------------------------------------------------------------------


def _views(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    return subgraph.make_view(sgv0), subgraph.make_view(sgv1)


def _inputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    before0, before1 = first.inputs, second.inputs
    _replace(before0, before1, swap, first.ops + second.ops)
    if swap:
        _look_again(first, before1)
    _look_again(second, before0)
    return first, second


def _look_again(view: SubGraphView, inputs: Sequence[Tensor]) -> None:
    """Lists the inputs that a view has now."""
    outputs, fresh = view.outputs, SubGraphView(view.ops, view.passthroughs)
    actual = fresh.inputs
    fresh = fresh.remap_inputs([t for t in dict.fromkeys(inputs) if t in actual])
    view.become(fresh.remap_outputs([t for t in outputs if t in fresh.outputs]))


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Swaps the inputs of two parts of a graph.

    Args:
      sgv0, sgv1: views, or what makes them (``make_view``); views are changed with the graph.

    Returns:
      The views.

    Raises:
      TypeError, ValueError: as of ``swap_ts`` and ``make_view``.
    """
    return _inputs(sgv0, sgv1, swap=True)


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives the second of two parts of a graph the inputs of the first.

    Args:
      sgv0, sgv1: as of ``swap_inputs``.

    Returns:
      The views.

    Raises:
      TypeError, ValueError: as of ``swap_inputs``.
    """
    return _inputs(sgv0, sgv1, swap=False)


def _outputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    _replace(first.outputs, second.outputs, swap, cannot_modify=first.ops + second.ops)
    return first, second


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Has what takes outputs of one of two parts of a graph take those of the other.

    Args:
      sgv0, sgv1: as of ``swap_inputs``; the operations in them stay as they are.

    Returns:
      The views.

    Raises:
      TypeError, ValueError: as of ``swap_inputs``.
    """
    return _outputs(sgv0, sgv1, swap=True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Has what takes outputs of the second of two parts of a graph take those of the first.

    Args:
      sgv0, sgv1: as of ``swap_outputs``.

    Returns:
      The views.

    Raises:
      TypeError, ValueError: as of ``swap_inputs``.
    """
    return _outputs(sgv0, sgv1, swap=False)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Swaps inputs and outputs of two parts of a graph; gives back what it was given.

    Args:
      sgv0, sgv1: as of ``swap_outputs``.

    Raises:
      TypeError, ValueError: as of ``swap_inputs``.
    """
    swap_outputs(sgv0, sgv1)
    swap_inputs(sgv0, sgv1)
    return sgv0, sgv1


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Puts the first of two parts of a graph in the second's place; gives back what it was given.

    Args:
      sgv0, sgv1: as of ``swap_outputs``.

    Raises:
      TypeError, ValueError: as of ``swap_inputs``.
    """
    reroute_outputs(sgv0, sgv1)
    reroute_inputs(sgv0, sgv1)
    return sgv0, sgv1


# ---- control inputs ------------------------------------------------------------------------------


def _waiting(op: Any, cops: Any) -> list[Operation]:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return lists.make_list_of_op(cops, allow_graph=False)


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Has an operation no longer wait for others.

    Args:
      op: the operation.
      cops: those that it waits for.

    Raises:
      TypeError: they are no operations.
      ValueError: it does not wait for one of them.
    """
    given = _waiting(op, cops)
    for before in given:
        if before not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {before.name}")
    kept = [before for before in op.control_inputs if before not in given]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Has an operation wait for others.

    Args:
      op: the operation.
      cops: those that it is to wait for.

    Raises:
      TypeError: they are no operations.
      ValueError: it waits for one of them already.
    """
    given = _waiting(op, cops)
    for before in given:
        if before in op.control_inputs:
            raise ValueError(f"{before.name} is already a control_input of {op.name}")
    op._add_control_inputs(given)
