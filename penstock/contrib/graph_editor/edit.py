"""Cutting a part of a graph off, leaving it out, and connecting parts."""

from __future__ import annotations

from typing import Any

from penstock.contrib.graph_editor import lists, reroute, select, subgraph
from penstock.contrib.graph_editor.placeholders import placeholder_name
from penstock.contrib.graph_editor.subgraph import SubGraphView
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.constant import placeholder


def detach_control_inputs(sgv: Any) -> None:
    """Has a part of a graph wait for nothing outside of it.

    Args:
      sgv: a view, or what makes one.
    """
    view = subgraph.make_view(sgv)
    for op in view.ops:
        outside = [before for before in op.control_inputs if before not in view.ops]
        if outside:
            reroute.remove_control_inputs(op, outside)


def detach_control_outputs(sgv: Any, control_outputs: Any) -> None:
    """Has nothing outside of a part of a graph wait for it.

    Args:
      sgv: a view, or what makes one.
      control_outputs: a ``ControlOutputs`` of the graph.

    Raises:
      TypeError: it is none.
    """
    lists.check_control_outputs(control_outputs)
    control_outputs.update()
    view = subgraph.make_view(sgv)
    for op in view.ops:
        for waiting in list(control_outputs.get(op)):
            if waiting not in view.ops:
                reroute.remove_control_inputs(waiting, op)


def _graph_of(view: SubGraphView) -> Graph:
    return get_default_graph() if view.graph is None else view.graph


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Puts placeholders where a part of a graph has its inputs.

    Args:
      sgv: a view, or what makes one; a view is changed with the graph.
      control_inputs: whether it is to wait for nothing outside, too.

    Returns:
      A view of the part, and the placeholders, of unknown shape.
    """
    view = subgraph.make_view(sgv)
    graph = _graph_of(view)
    with graph.as_default():
        made = [placeholder(t.dtype.base_dtype, name=placeholder_name(t)) for t in view.inputs]
    reroute.reroute_inputs(SubGraphView(passthrough_ts=made), view)
    if control_inputs:
        detach_control_inputs(view)
    return view, made


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple[SubGraphView, list[Tensor]]:
    """Has what takes the outputs of a part of a graph take placeholders.

    Args:
      sgv: a view, or what makes one; a view is changed: it lists the outputs that were taken.
      control_outputs: a ``ControlOutputs``, if nothing is to wait for the part, too.

    Returns:
      A view of the part, and the placeholders.
    """
    view = subgraph.make_view(sgv)
    return _detach_outputs(view, [t.get_shape() for t in view.outputs], control_outputs)


def _detach_outputs(
    view: SubGraphView, shapes: list[Any], control_outputs: Any
) -> tuple[SubGraphView, list[Tensor]]:
    """As ``detach_outputs``, with the shapes of the placeholders."""
    taken = [i for i, t in enumerate(view.outputs) if t.consumers()]
    view.become(view.remap_outputs(taken))
    with _graph_of(view).as_default():
        made = [
            placeholder(t.dtype.base_dtype, shapes[i], name=placeholder_name(t))
            for i, t in zip(taken, view.outputs, strict=True)
        ]
    reroute.reroute_outputs(SubGraphView(passthrough_ts=made), view)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, made


def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Cuts a part of a graph off: placeholders are its inputs, and stand for its outputs.

    Args:
      sgv: a view, or what makes one; a view is changed with the graph.
      control_inputs, control_outputs, control_ios: which control edges are cut (``check_cios``).

    Returns:
      What was given; the placeholders that are its inputs; those that stand for its outputs.
    """
    control_inputs, control_outputs = select.check_cios(
        control_inputs, control_outputs, control_ios
    )
    view = subgraph.make_view(sgv)
    shapes = [t.get_shape() for t in view.outputs]  # which are not known of other inputs
    _, inputs = detach_inputs(view, control_inputs)
    _, outputs = _detach_outputs(view, shapes, control_outputs)
    return sgv, inputs, outputs


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Makes the outputs of one part of a graph the inputs of another.

    Args:
      sgv0: a view, or what makes one: its outputs.
      sgv1: the same: its inputs.
      disconnect_first: whether what takes the outputs now gets placeholders.

    Returns:
      The views.

    Raises:
      ValueError: their numbers differ, or a dtype or shape.
    """
    first, second = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    if disconnect_first:
        detach_outputs(first)
    given = SubGraphView(passthrough_ts=first.outputs)
    if len(given.inputs) == len(first.outputs):
        reroute.reroute_inputs(given, second)
    else:  # an output is listed more than once
        reroute.reroute_ts(first.outputs, second.inputs, can_modify=second.ops)
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Leaves a part of a graph out: what takes its outputs takes its inputs.

    Args:
      sgv: a view, or what makes one, with as many inputs as outputs; a view is changed.

    Returns:
      A view of the part, and the placeholders that are its inputs now.

    Raises:
      ValueError: numbers of inputs and outputs differ, or a dtype or shape.
    """
    view = subgraph.make_view(sgv)
    inputs = view.inputs
    _, made = detach_inputs(view)
    reroute.reroute_ts(inputs, view.outputs)
    return view, made
