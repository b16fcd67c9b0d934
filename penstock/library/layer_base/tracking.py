"""What a layer tracks of its attributes: variables, other layers, and what checkpoints save.

A list or dict is noted itself, so that what is put into it later counts as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.graph import nest
from penstock.library.layer_base import sessions
from penstock.library.variables.tracked import is_trackable
from penstock.library.variables.variable import Variable


def is_layer(item: Any) -> bool:
    """Whether an object has weights as layers and models have."""
    kind = type(item)  # a model whose weights are still to be made refuses to tell them
    return hasattr(kind, "trainable_weights") and hasattr(kind, "_all_updates")


def layers_in(items: Iterable[Any]) -> list[Any]:
    """The layers among ``items`` and in their lists and dicts, each once."""
    found: dict[int, Any] = {}
    for item in nest.flatten(list(items)):
        if is_layer(item):
            found.setdefault(id(item), item)
    return list(found.values())


def give_resources(items: Iterable[Any]) -> None:
    """Has the layers of ``tf.layers`` among ``items``, and in their lists, make resource variables.

    What a layer of Keras holds does so, as in TensorFlow; it is asked again when that one is
    called, for what a list was given meanwhile.
    """
    for layer in layers_in(items):
        if "_use_resource_variables" in layer.__dict__:
            layer.__dict__["_use_resource_variables"] = True


def track_attribute(layer: Any, name: str, value: Any) -> None:
    """Notes what is being assigned to an attribute of a layer."""
    state = layer.__dict__
    if "_layers" not in state:
        return  # a subclass sets attributes before it has called the constructor
    if isinstance(getattr(type(layer), name, None), property):
        return
    if is_layer(value) or isinstance(value, list | dict):
        if not any(known is value for known in state["_layers"]):
            state["_layers"].append(value)
        give_resources([value])
    for one in nest.flatten(value) if isinstance(value, list | tuple | dict) else [value]:
        if isinstance(one, Variable):
            _add_weight(state, one, one.trainable)
    if is_trackable(value) and not isinstance(value, tuple):
        _depend_on(state, name, value)


def forget_attribute(layer: Any, name: str) -> None:
    """Forgets what is being deleted from a layer."""
    state = layer.__dict__
    value = state.get(name)
    for key in ("_trainable_weights", "_non_trainable_weights", "_layers"):
        state[key] = [known for known in state.get(key, ()) if known is not value]
    known = state.get("_checkpoint_dependencies", ())
    state["_checkpoint_dependencies"] = [pair for pair in known if pair[0] != name]


def track_weight(layer: Any, name: str | None, variable: Any, trainable: bool) -> None:
    """Notes a variable that a layer has made, under its name in the layer."""
    state = layer.__dict__
    _add_weight(state, variable, trainable)
    if isinstance(variable, Variable) and name is not None:
        _depend_on(state, name, variable)


def _add_weight(state: dict[str, Any], variable: Any, trainable: bool) -> None:
    known = [*state["_trainable_weights"], *state["_non_trainable_weights"]]
    if any(one is variable for one in known):
        return
    state["_trainable_weights" if trainable else "_non_trainable_weights"].append(variable)
    for part in variable if hasattr(variable, "_get_variable_list") else [variable]:
        sessions.track_variable(part)


def _depend_on(state: dict[str, Any], name: str, value: Any) -> None:
    known = state["_checkpoint_dependencies"]
    for index, (other, _) in enumerate(known):
        if other == name:
            known[index] = (name, value)
            return
    known.append((name, value))
