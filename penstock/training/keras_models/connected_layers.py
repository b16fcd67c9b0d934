"""The layers and calls between given inputs and outputs, in the order in which they must run."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.foundation.graph import nest
from penstock.library.layer_base import tensors


class Found(NamedTuple):
    """Layers by depth, those of the inputs first; calls likewise."""

    layers: list[Any]
    nodes: list[Any]


def origin(tensor: Any) -> Any:
    """The call that made a tensor.

    Raises:
      ValueError: no layer made it.
    """
    history = tensors.history_of(tensor)
    if history is None:
        raise ValueError(
            "Output tensors to a Model must be the output of a TensorFlow `Layer` (thus holding"
            f" past layer metadata). Found: {tensor}"
        )
    return history.layer.inbound_nodes[history.node_index]


def source_inputs(tensor: Any) -> list[Any]:
    """The tensors of ``tf.keras.Input`` that a layer's output was made of.

    Raises:
      ValueError: no layer made it.
    """
    found, seen, waiting = [], set(), [origin(tensor)]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        before = _before(node)
        if not before:
            found += [one for one in nest.flatten(node.input_tensors) if one not in found]
        waiting += reversed(before)
    return found


def between(inputs: list[Any], outputs: list[Any]) -> Found:
    """What stands between inputs and outputs.

    Args:
      inputs: tensors from ``Input``.
      outputs: tensors that layers made of them.

    Raises:
      ValueError: something needs an input that is not given, or there is a cycle.
    """
    order: list[Any] = []
    seen: dict[int, int] = {}
    _visit([origin(one) for one in outputs], order, seen)
    depths: dict[int, int] = {}
    layer_depths: dict[int, int] = {}
    layers: dict[int, Any] = {}
    for node in reversed(order):
        layer = node.outbound_layer
        depth = max(depths.get(id(node), 0), layer_depths.get(id(layer), 0))
        layer_depths[id(layer)] = depths[id(node)] = depth
        layers[id(layer)] = layer
        for before in _before(node):
            depths[id(before)] = max(depth + 1, depths.get(id(before), 0))
    given = {id(one) for one in inputs}
    for one in inputs:
        layer = origin(one).outbound_layer
        if id(layer) not in layers:
            layers[id(layer)], layer_depths[id(layer)] = layer, 0
            seen.setdefault(id(layer), -1)
            order.append(origin(one))
            depths[id(order[-1])] = 0
    ordered = sorted(layers.values(), key=lambda x: (-layer_depths[id(x)], seen[id(x)]))
    nodes = sorted(order, key=lambda x: -depths[id(x)])
    _check(nodes, given)
    return Found(ordered, nodes)


def _before(node: Any) -> list[Any]:
    return [
        history.layer.inbound_nodes[history.node_index]
        for history in node.origins if history is not None
    ]  # fmt: skip


def _visit(roots: list[Any], order: list[Any], seen: dict[int, int]) -> None:
    """Calls after those that they need; ``seen`` numbers layers as they are met."""
    done: set[int] = set()
    open_: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(one, False) for one in reversed(roots)]
    while waiting:
        node, left = waiting.pop()
        if left:
            open_.discard(id(node))
            done.add(id(node))
            order.append(node)
            continue
        if id(node) in done:
            continue
        if id(node) in open_:
            name = node.outbound_layer.name
            raise ValueError(f"The tensors at layer {name!r} are part of a cycle.")
        seen.setdefault(id(node.outbound_layer), len(seen))
        open_.add(id(node))
        waiting.append((node, True))
        waiting += [(one, False) for one in reversed(_before(node))]


def _check(nodes: list[Any], given: set[int]) -> None:
    known = set(given)
    before: list[str] = []
    for node in nodes:
        layer = node.outbound_layer
        for tensor in node.sources:
            if id(tensor) not in known:
                raise ValueError(
                    f"Graph disconnected: cannot obtain value for tensor {tensor} at layer"
                    f' "{layer.name}". The following previous layers were accessed without issue:'
                    f" {before}"
                )
        known.update(id(one) for one in nest.flatten(node.output_tensors))
        before.append(layer.name)
