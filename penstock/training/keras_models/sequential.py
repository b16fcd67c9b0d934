"""``Sequential``: layers one after another."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from penstock.foundation.graph import nest
from penstock.library.keras.layers import serialization
from penstock.library.layer_base import settings, tensors
from penstock.library.layer_base.layer import Layer
from penstock.training.keras_models import op_layers
from penstock.training.keras_models.input_layer import Input, InputLayer
from penstock.training.keras_models.model import Model


class Sequential(Model):
    """Layers one after another.

    Args:
      layers: the first layers, or None.
      name: default ``sequential`` and so on.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])
      ...     model.output_shape, [v.name for v in model.weights]
      ((None, 2), ['dense/kernel:0', 'dense/bias:0'])
    """

    _stack: list[Any]
    _layers_called: list[Any]

    def __init__(self, layers: Iterable[Any] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self.__dict__.update(_stack=[], supports_masking=True)
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """Its layers, less that of the input."""
        stack = list(self._stack)
        return stack[1:] if stack and isinstance(stack[0], InputLayer) else stack

    def add(self, layer: Any) -> None:
        """Adds a layer at the end.

        Raises:
          TypeError: it is no layer.
        """
        layer = _layer_of(layer)
        stack = self._stack
        if not stack and not isinstance(layer, InputLayer):
            shape = _first_shape(layer)
            if shape is not None:
                given = Input(
                    batch_shape=shape, dtype=getattr(layer, "dtype", None) or settings.floatx(),
                    name=f"{layer.name}_input",
                )  # fmt: skip
                stack.append(given_layer(given))
        if not stack and isinstance(layer, InputLayer):
            self.__dict__["_begins_with_input"] = True
        stack.append(layer)
        self._rebuild()

    def pop(self) -> None:
        """Takes the last layer away.

        Raises:
          TypeError: there is none.
        """
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._stack.pop()
        self._rebuild()

    def _rebuild(self) -> None:
        stack = self._stack
        self.__dict__.update(_layers=list(stack))
        if len(stack) < 2 or not isinstance(stack[0], InputLayer):
            self.__dict__.update(is_graph=False, built=False)
            self._depend()
            return
        grown = self.is_graph and len(self._layers_called) < len(stack)
        before = self.outputs[0] if grown else None
        if before is None:
            tensor = stack[0].inbound_nodes[0].output_tensors
            for layer in stack[1:]:
                at = [node for node in layer.inbound_nodes if node.input_tensors is tensor]
                tensor = at[-1].output_tensors if at else layer(tensor)
        else:
            tensor = stack[-1](before)
        if len(nest.flatten(tensor)) != 1:
            raise TypeError(
                "All layers in a Sequential model should have a single output tensor. For"
                " multi-output layers, use the functional API."
            )
        self._init_graph(stack[0].inbound_nodes[0].output_tensors, tensor)
        self.__dict__["_layers_called"] = list(stack)
        self.__dict__["_layers"] = list(stack)
        self._depend()

    def _depend(self) -> None:
        self._track(self.layers)

    def build(self, input_shape: Any = None) -> None:
        """Makes the weights for an input of that shape, batch included."""
        if self.is_graph or input_shape is None or not self._stack:
            self.__dict__["built"] = True
            return
        dims = input_shape.as_list() if hasattr(input_shape, "as_list") else input_shape
        given = Input(batch_shape=tuple(dims), name=f"{self._stack[0].name}_input")
        self._stack.insert(0, given_layer(given))
        self._rebuild()

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """What the layers make of the inputs, one after another."""
        if self.is_graph:
            return super().call(inputs, training=training, mask=mask)
        for layer in self._stack:
            passed = training is not None and "training" in layer.call_arguments
            inputs = layer(inputs, **({"training": training} if passed else {}))
        return inputs

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The same as ``predict``."""
        return self.predict(x, batch_size=batch_size, verbose=verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The likeliest class of each sample; above one half where there is one output."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        if found.shape[-1] > 1:
            return found.argmax(axis=-1)
        return (found > 0.5).astype("int32")

    def get_config(self) -> dict[str, Any]:
        """What makes a model like this one."""
        described = [
            {"class_name": type(layer).__name__, "config": layer.get_config()}
            for layer in self.layers
        ]
        config: dict[str, Any] = {"name": self.name, "layers": copy.deepcopy(described)}
        if self.is_graph and self.__dict__.get("_begins_with_input"):
            # The layer of the input is not described; the one after it has its shape.
            config["layers"][0]["config"].setdefault("batch_input_shape", self.input_shape)
        elif self.is_graph and "_batch_input_shape" not in self.layers[0].__dict__:
            config["build_input_shape"] = self.input_shape
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """The model that ``get_config`` describes, with new weights."""
        given = config if isinstance(config, dict) else {"layers": config}
        made = cls(name=given.get("name"))
        for one in given["layers"]:
            made.add(serialization.deserialize(one, custom_objects))
        if not made.is_graph and given.get("build_input_shape"):
            made.build(given["build_input_shape"])
        return made


def given_layer(tensor: Any) -> Any:
    """The layer of an input."""
    return tensors.history_of(tensor).layer


def _layer_of(layer: Any) -> Any:
    if hasattr(layer, "op") and tensors.history_of(layer) is not None:
        return given_layer(layer)
    if not isinstance(layer, Layer):
        raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
    return layer


def _first_shape(layer: Any) -> Any:
    """The shape that a layer, or the first layer inside it, was told of its input."""
    shape = layer.__dict__.get("_batch_input_shape")
    if shape is None and getattr(layer, "is_graph", False):
        return layer.input_shape
    return shape


serialization.CLASSES.update(
    InputLayer=InputLayer, Model=Model, Sequential=Sequential, AddLoss=op_layers.AddLoss,
    AddMetric=op_layers.AddMetric, TensorFlowOpLayer=op_layers.TensorFlowOpLayer,
)  # fmt: skip
