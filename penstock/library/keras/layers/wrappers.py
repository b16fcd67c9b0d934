"""Layers around a layer: every step of a sequence, and both directions of one."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import scopes
from penstock.library.keras.layers.given_states import TakesStates
from penstock.library.keras.layers.recurrent import RNN
from penstock.library.keras.layers.serialization import deserialize
from penstock.library.layer_base import configs
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import join, nodes, reshape, transpose


class Wrapper(Layer):
    """A layer around another.

    Args:
      layer: the layer inside.
      **kwargs: as of a layer.
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layer = layer

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one; the layer inside as a configuration."""
        return super().get_config() | {"layer": configs.serialized(self.layer)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """The layer that ``get_config`` describes."""
        given = dict(config)
        return cls(deserialize(given.pop("layer"), custom_objects), **given)

    def build(self, input_shape: Any) -> None:
        """Builds the layer inside."""
        if not self.layer.built:
            self.layer.build(input_shape)
        self.built = True


class TimeDistributed(Wrapper):
    """A layer on every step of a sequence.

    Args:
      layer: the layer.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))
      ...     layer(tf.zeros([2, 5, 3])).shape.as_list()
      [2, 5, 4]
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `TimeDistributed` layer with a `Layer` instance. You passed:"
                f" {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Builds the layer for one step."""
        dims = shapes.as_shape(input_shape).as_list()
        if len(dims) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3"
                f" dimensions, received: {dims}"
            )
        self.input_spec = InputSpec(shape=(None, *dims[1:]))
        if not self.layer.built:
            self.layer.build(shapes.TensorShape([dims[0], *dims[2:]]))
            self.layer.built = True
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The layer's outputs for all steps."""
        more: dict[str, Any] = {}
        if "training" in self.layer.call_arguments:
            more["training"] = training
        return self._folded(inputs, more)

    def _folded(self, inputs: Any, more: dict[str, Any]) -> Any:
        """The steps as more examples of the batch."""
        dims = inputs.shape.as_list()
        length = dims[1]
        if length is None:
            length = nodes.element(nodes.shape(inputs), 1)
        flat = reshape.reshape(inputs, (-1, *self._inner(inputs, 2)))
        made = self.layer(flat, **more)
        wanted = self.compute_output_shape(inputs.shape)
        outputs = reshape.reshape(made, (-1, length, *wanted.as_list()[2:]))
        return outputs

    def _inner(self, inputs: Any, start: int) -> tuple[Any, ...]:
        dims = inputs.shape.as_list()[start:]
        if None not in dims:
            return tuple(dims)
        known = nodes.shape(inputs)
        return tuple(
            nodes.element(known, start + i) if d is None else d for i, d in enumerate(dims)
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        made = self.layer.compute_output_shape(shapes.TensorShape([dims[0], *dims[2:]]))
        one = shapes.as_shape(made).as_list()
        return shapes.TensorShape([one[0], dims[1], *one[1:]])


class Bidirectional(TakesStates, Wrapper):
    """A recurrent layer and its like, which goes backwards.

    Args:
      layer: the recurrent layer.
      merge_mode: how the outputs are merged: "sum", "mul", "concat", "ave", or None for a list.
      weights: first values of the variables, both layers'.
      backward_layer: the layer that goes backwards; default one like ``layer``.
      **kwargs: as of a layer.

    Raises:
      ValueError: another ``merge_mode``, or layers that do not go together.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: Any = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(layer, RNN):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `Layer` instance. You passed:"
                f" {layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat",'
                " None}"
            )
        super().__init__(layer, **kwargs)
        # Both are made anew from the layer's configuration, under names of their own.
        self.forward_layer = _again(layer, name="forward_" + layer.name)
        self._has_given_layer = backward_layer is not None
        if backward_layer is None:
            back = not layer.go_backwards
            backward_layer = _again(layer, name="backward_" + layer.name, go_backwards=back)
        self.backward_layer = backward_layer
        self.__dict__["_layers"] = [self.forward_layer, self.backward_layer]
        _refuse_unlike(self.forward_layer, self.backward_layer)
        self.merge_mode = merge_mode
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec
        if weights:
            half = len(weights) // 2
            self.forward_layer.__dict__["_initial_weights"] = weights[:half]
            self.backward_layer.__dict__["_initial_weights"] = weights[half:]

    def build(self, input_shape: Any) -> None:
        """Builds both layers, each under its name."""
        for layer in (self.forward_layer, self.backward_layer):
            with scopes.name_scope(layer.name):
                layer.build(input_shape)
        self.built = True

    def call(
        self, inputs: Any, training: Any = None, mask: Any = None, initial_state: Any = None,
        constants: Any = None,
    ) -> Any:  # fmt: skip
        """The merged outputs; with the states, if they are asked for.

        Raises:
          ValueError: first states, those of the first layer and of the other, are no equal halves.
        """
        if initial_state and len(initial_state) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list"
                f" containing the states of the underlying RNNs. Found: {initial_state}"
            )
        half = len(initial_state) // 2 if initial_state else 0
        given: list[dict[str, Any]] = [{}, {}]
        if half:
            given = [
                {"initial_state": initial_state[:half]},
                {"initial_state": initial_state[half:]},
            ]
        named = (("training", training), ("mask", mask), ("constants", constants))
        more = {key: value for key, value in named if value is not None}
        first = self.forward_layer(inputs, **given[0], **more)
        second = self.backward_layer(inputs, **given[1], **more)
        states: list[Any] = []
        if self.return_state:
            states = [*first[1:], *second[1:]]
            first, second = first[0], second[0]
        if self.return_sequences:
            second = transpose.reverse(second, [1])
        output = self._merged(first, second)
        if not self.return_state:
            return output
        return [*(output if self.merge_mode is None else [output]), *states]

    def _merged(self, first: Any, second: Any) -> Any:
        if self.merge_mode == "concat":
            return join.concat([first, second], first.shape.ndims - 1)
        if self.merge_mode == "sum":
            return first + second
        if self.merge_mode == "ave":
            return (first + second) / 2
        return first * second if self.merge_mode == "mul" else [first, second]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the input for all outputs."""
        if isinstance(mask, list):
            mask = mask[0]
        one = mask if self.return_sequences else None
        found = one if self.merge_mode else [one, one]
        # The states come after, without masks.
        return found

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one; layers as configurations."""
        own: dict[str, Any] = {"merge_mode": self.merge_mode}
        if self._has_given_layer:
            own["backward_layer"] = configs.serialized(self.backward_layer)
        return super().get_config() | own

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """The layer that ``get_config`` describes."""
        given = dict(config)
        constants = given.pop("num_constants", 0)
        if "backward_layer" in given:
            given["backward_layer"] = deserialize(given["backward_layer"], custom_objects)
        made = super().from_config(given, custom_objects)
        made.num_constants = constants
        return made


def _again(layer: Any, **changes: Any) -> Any:
    """A layer like another, but for some arguments; its cells may be of the program's classes."""
    cell = getattr(layer, "cell", None)
    classes = {type(one).__name__: type(one) for one in (cell, *getattr(cell, "cells", ()))}
    with configs.custom_object_scope(classes):
        return type(layer).from_config(layer.get_config() | changes)


def _refuse_unlike(forward: Any, backward: Any) -> None:
    """Refuses two layers that do not go opposite ways, or give other things.

    Raises:
      ValueError: says what is unlike.
    """
    if forward.go_backwards == backward.go_backwards:
        raise ValueError(
            "Forward layer and backward layer should have different `go_backwards` value."
        )
    for name in ("stateful", "return_sequences", "return_state"):
        one, other = getattr(forward, name), getattr(backward, name)
        if one != other:
            raise ValueError(
                "Forward layer and backward layer are expected to have the same value for"
                f" attribute {name}, got {one} and {other}"
            )
