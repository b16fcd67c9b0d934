"""What ``summary`` prints: a table of a model's layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def print_summary(
    model: Any, line_length: int | None = None, positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:  # fmt: skip
    """Prints a model's layers; see ``Network.summary``."""
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or"
            " calling `fit()` with some data, or specify an `input_shape` argument in the first"
            " layer(s) for automatic build."
        )
    say = print_fn or print
    simple = not model.is_graph or _is_chain(model)
    width = line_length or (65 if simple else 98)
    parts = positions or ((0.45, 0.85, 1.0) if simple else (0.33, 0.55, 0.67, 1.0))
    ends = [int(width * part) if part <= 1 else int(part) for part in parts]
    heads = ["Layer (type)", "Output Shape", "Param #"]
    if not simple:
        heads.append("Connected to")
    say(f'Model: "{model.name}"')
    say("_" * width)
    say(_row(heads, ends))
    say("=" * width)
    for number, layer in enumerate(model.layers, 1):
        for line in _lines(model, layer, simple):
            say(_row(line, ends))
        say(("=" if number == len(model.layers) else "_") * width)
    trainable, frozen = _size(model.trainable_weights), _size(model.non_trainable_weights)
    say(f"Total params: {trainable + frozen:,}")
    say(f"Trainable params: {trainable:,}")
    say(f"Non-trainable params: {frozen:,}")
    say("_" * width)


def _is_chain(model: Any) -> bool:
    """Whether each layer is called once, on the one before."""
    depths = [len(node.inbound_layers) for node in model._network_nodes]
    if any(count > 1 for count in depths) or len(model.inputs) > 1:
        return False
    of_network = {id(node) for node in model._network_nodes}
    for layer in model.layers:
        if sum(id(node) in of_network for node in layer.inbound_nodes) > 1:
            return False
        if sum(id(node) in of_network for node in layer.outbound_nodes) > 1:
            return False
    return True


def _row(fields: Sequence[Any], ends: Sequence[int]) -> str:
    line = ""
    for number, (text, end) in enumerate(zip(fields, ends, strict=False)):
        line = f"{line[:-1]} " if number else line
        line = (line + str(text))[:end].ljust(end)
    return line


def _lines(model: Any, layer: Any, simple: bool) -> list[list[Any]]:
    try:
        shape = layer.output_shape
    except AttributeError:
        shape = "multiple"
    if type(layer).__name__ == "InputLayer":
        shape = [shape]
    count = layer.count_params() if layer.built else 0
    first = [f"{layer.name} ({type(layer).__name__})", shape, count]
    if simple:
        return [first]
    of_network = {id(node) for node in model._network_nodes}
    before = []
    for node in layer.inbound_nodes:
        if id(node) not in of_network:
            continue
        for one in node.origins:
            if one is not None:
                before.append(f"{one.layer.name}[{one.node_index}][{one.tensor_index}]")
    rest = [["", "", "", one] for one in before[1:]]
    return [[*first, before[0] if before else ""], *rest]


def _size(weights: Sequence[Any]) -> int:
    return int(sum(np.prod(w.shape.as_list(), dtype=np.int64) for w in weights))
