"""Weights in HDF5 as Keras lays them out: a group a layer, a data set a weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.formats import hdf5
from penstock.library.layer_base import sessions

KERAS_VERSION, BACKEND = "2.2.4-tf", "tensorflow"


def write(group: Any, layers: list[Any]) -> None:
    """Writes the weights of layers into a group."""
    hdf5.write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = BACKEND.encode()
    group.attrs["keras_version"] = KERAS_VERSION.encode()
    for layer in sorted(layers, key=lambda each: str(each.name)):
        write_weights(group.create_group(layer.name), _weights(layer))


def write_weights(group: Any, weights: list[Any]) -> None:
    """Writes variables into a group, by their names."""
    values = sessions.values_of(weights)
    hdf5.write_names(group, "weight_names", [str(weight.name) for weight in weights])
    for weight, value in zip(weights, values, strict=True):
        group.create_dataset(weight.name, data=np.asarray(value))


def read_weights(group: Any) -> list[Any]:
    """The arrays of a group, in their order."""
    return [np.asarray(group[name]) for name in hdf5.read_names(group, "weight_names")]


def _weights(layer: Any) -> list[Any]:
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _check_version(group: Any) -> None:
    version = hdf5.text_of(group, "keras_version") or "1"
    if version.startswith("1"):
        raise NotImplementedError(
            f"the file was written by Keras {version}; weights of Keras 2 can be read: load and"
            " save it once with Keras 2"
        )


def load(group: Any, layers: list[Any]) -> None:
    """Gives layers the weights of a file, in order.

    Raises:
      ValueError: the file has another number of layers, or of weights of one.
    """
    _check_version(group)
    held = [layer for layer in layers if _weights(layer)]
    names = [
        name
        for name in hdf5.read_names(group, "layer_names")
        if hdf5.read_names(group[name], "weight_names")
    ]
    if len(names) != len(held):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model"
            f" with {len(held)} layers."
        )
    pairs: list[tuple[Any, Any]] = []
    for number, (name, layer) in enumerate(zip(names, held, strict=True)):
        values, weights = read_weights(group[name]), _weights(layer)
        if len(values) != len(weights):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to'
                f" correspond to layer {name} in the save file. However the new layer {layer.name}"
                f" expects {len(weights)} weights, but the saved weights have {len(values)}"
                " elements."
            )
        pairs += zip(weights, values, strict=True)
    _check_shapes(pairs)
    sessions.set_values(pairs)


def load_by_name(group: Any, layers: list[Any]) -> None:
    """Gives layers the weights that a file has under their names.

    Raises:
      ValueError: the numbers or shapes of a layer's weights are others.
    """
    _check_version(group)
    pairs: list[tuple[Any, Any]] = []
    for number, name in enumerate(hdf5.read_names(group, "layer_names")):
        values = read_weights(group[name])
        for layer in (each for each in layers if each.name == name):
            weights = _weights(layer)
            if len(values) != len(weights):
                raise ValueError(
                    f'Layer #{number} (named "{layer.name}") expects {len(weights)} weight(s), but'
                    f" the saved weights have {len(values)} element(s)."
                )
            for weight, value in zip(weights, values, strict=True):
                if tuple(weight.shape.as_list()) != value.shape:
                    raise ValueError(
                        f'Layer #{number} (named "{layer.name}"), weight {weight} has shape'
                        f" {tuple(weight.shape.as_list())}, but the saved weight has shape"
                        f" {value.shape}."
                    )
                pairs.append((weight, value))
    sessions.set_values(pairs)


def _check_shapes(pairs: list[tuple[Any, Any]]) -> None:
    for weight, value in pairs:
        if not weight.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot assign to variable {weight.name} of shape {weight.shape} a value of shape"
                f" {value.shape}: Shapes {weight.shape} and {value.shape} are incompatible"
            )
