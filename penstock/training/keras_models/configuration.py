"""Models as configurations: layers, and which calls they are connected by."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.graph import nest
from penstock.library.keras.layers.serialization import deserialize
from penstock.library.layer_base import tensors


def plain(value: Any) -> Any:
    """What JSON writes for a value that it does not know."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if hasattr(value, "as_list"):
        return value.as_list()
    if hasattr(value, "name"):
        return value.name
    raise TypeError("Not JSON Serializable:", value)


def _kept(network: Any) -> dict[int, list[int]]:
    """The numbers of each layer's calls that are of the network, by the layer's identity."""
    of_network = {id(node) for node in network._network_nodes}
    return {
        id(layer): [n for n, node in enumerate(layer.inbound_nodes) if id(node) in of_network]
        for layer in network.layers
    }


def _place(tensor: Any, kept: dict[int, list[int]]) -> list[Any]:
    history = tensors.history_of(tensor)
    number = kept[id(history.layer)].index(history.node_index)
    return [history.layer.name, number + _own_calls(history.layer), history.tensor_index]


def _own_calls(layer: Any) -> int:
    """How many calls Keras counts before a layer's first: a model inside counts its making."""
    return 1 if hasattr(layer, "is_graph") else 0


def of_network(network: Any) -> dict[str, Any]:
    """The configuration of a model that was made from tensors."""
    kept = _kept(network)
    described = []
    for layer in network.layers:
        calls = []
        for number in kept[id(layer)]:
            node = layer.inbound_nodes[number]
            if not node.inbound_layers:
                continue
            calls.append(_described(node, lambda tensor: _place(tensor, kept)))
        described.append(
            {
                "name": layer.name, "class_name": type(layer).__name__,
                "config": layer.get_config(), "inbound_nodes": calls,
            }
        )  # fmt: skip
    return {
        "name": network.name, "layers": described,
        "input_layers": [_place(one, kept) for one in network.inputs],
        "output_layers": [_place(one, kept) for one in network.outputs],
    }  # fmt: skip


def _described(node: Any, place: Callable[[Any], list[Any]]) -> list[Any]:
    """A call: the places of its inputs, nested as they are, each with the other arguments."""

    def argument(value: Any) -> Any:
        return value if tensors.history_of(value) is None else place(value)

    given = {name: nest.map_structure(argument, v) for name, v in node.arguments.items()}
    arguments = {name: value for name, value in given.items() if _is_plain(value)}

    def of(inputs: Any) -> Any:
        if isinstance(inputs, list | tuple):
            return [of(one) for one in inputs]
        return [*place(inputs), arguments]

    inputs = node.input_tensors
    if not isinstance(inputs, list | tuple):  # a tensor, or a dict of them
        inputs = nest.flatten(inputs)
    return [of(one) for one in inputs]


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


class _NotYetMade(Exception):
    """A call needs what another has still to make."""


def _with_tensors(value: Any, made: dict[str, Any], tensor: Callable[[Any], Any]) -> Any:
    """A part of a configuration, tensors in it where places stand: a layer's name, two numbers."""
    if isinstance(value, dict):
        return {key: _with_tensors(one, made, tensor) for key, one in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) >= 3 and isinstance(value[0], str) and value[0] in made:
        return tensor(value)
    return [_with_tensors(one, made, tensor) for one in value]


def _arguments(call: Any) -> dict[str, Any]:
    """What a call is given beside its inputs: it stands behind the place of each."""
    first = call
    while first and not isinstance(first[0], str):
        first = first[0]
    return first[3] if first[3:] else {}


def network_from(cls: Any, config: dict[str, Any], custom_objects: Any) -> Any:
    """A model of that configuration; its layers are made anew."""
    made: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    for one in config["layers"]:
        layer = made[one["name"]] = deserialize(one, custom_objects)
        waiting += [(layer, call) for call in one["inbound_nodes"]]

    def tensor(place: Any) -> Any:
        name, number, index = place[:3]
        known = made[name].inbound_nodes
        number = max(0, number - _own_calls(made[name]))
        if number >= len(known):
            raise _NotYetMade
        return nest.flatten(known[number].output_tensors)[index]

    while waiting:
        left = []
        blocked: set[int] = set()
        for layer, call in waiting:
            # Calls of one layer keep their order, by which they are numbered.
            try:
                if id(layer) in blocked:
                    raise _NotYetMade
                given = _with_tensors(call, made, tensor)
                more = _with_tensors(_arguments(call), made, tensor)
            except _NotYetMade:
                blocked.add(id(layer))
                left.append((layer, call))
            else:
                layer(given[0] if len(given) == 1 else given, **more)
        if len(left) == len(waiting):
            raise ValueError(f"Improper config format: calls wait for each other: {left}")
        waiting = left
    inputs = [tensor(place) for place in config["input_layers"]]
    outputs = [tensor(place) for place in config["output_layers"]]
    single = [one[0] if len(one) == 1 else one for one in (inputs, outputs)]
    return cls(inputs=single[0], outputs=single[1], name=config.get("name"))
