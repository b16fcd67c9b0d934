"""The states of a recurrent layer that go on from one batch to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.library.keras.layers.cell_states import sizes_of
from penstock.library.layer_base import initializers, sessions
from penstock.library.layer_base.weights import make_variable


class KeptStates:
    """What ``stateful=True`` gives a recurrent layer: its states as variables, of a known batch.

    They are no weights; a layer's updates set them, in training and in ``predict`` alike.
    """

    cell: Any
    name: str
    stateful: bool
    dtype: Any
    time_major: bool

    @property
    def states(self) -> list[Any]:
        """The variables, or a None for each before the first call."""
        kept: list[Any] | None = self.__dict__.get("_kept")
        return [None for _ in nest.flatten(self.cell.state_size)] if kept is None else kept

    def _kept_states(self, inputs: Any) -> list[Any]:
        """The variables, made by the shape of the first inputs.

        Raises:
          ValueError: the batch is not known.
        """
        if "_kept" not in self.__dict__:
            wanted = self._state_shapes(inputs)
            if any(None in shape for shape in wanted):
                raise ValueError(
                    "If a RNN is stateful, it needs to know its batch size. Specify the batch size"
                    " of your input tensors: with a Sequential model by `batch_input_shape` of the"
                    " first layer, with tf.keras.Input by `batch_shape`."
                )
            self.__dict__["_kept"] = [_variable(shape, inputs.dtype) for shape in wanted]
        return self.states

    def _state_shapes(self, inputs: Any) -> list[list[Any]]:
        """The shapes of the states for such inputs."""
        batch = inputs.shape.as_list()[1 if self.time_major else 0]
        return [[batch, *sizes_of(size)] for size in nest.flatten(self.cell.state_size)]

    def reset_states(self, states: Any = None) -> None:
        """Sets the states for the next batch.

        Args:
          states: arrays; default zeros.

        Raises:
          AttributeError: the layer is not stateful.
          ValueError: it was not called yet, or the states are others in number or shape.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if "_kept" not in self.__dict__:
            if states is None:
                return  # they begin with zeros
            raise ValueError(f"layer {self.name} was not called yet, so that it has no states")
        kept = self.states
        given = [np.zeros(one.shape.as_list()) for one in kept]
        if states is not None:
            given = [np.asarray(one) for one in nest.flatten(states)]
        if len(given) != len(kept):
            raise ValueError(
                f"Layer {self.name} expects {len(kept)} states, but it received {len(given)} state"
                f" values. Input received: {states}"
            )
        for number, (one, value) in enumerate(zip(kept, given, strict=True)):
            if value.shape != tuple(one.shape.as_list()):
                raise ValueError(
                    f"State {number} is incompatible with layer {self.name}: expected"
                    f" shape={tuple(one.shape.as_list())}, found shape={value.shape}"
                )
        sessions.set_values(list(zip(kept, given, strict=True)))


def _variable(shape: list[int], dtype: Any) -> Any:
    zeros = initializers.get("zeros")
    made = make_variable("state", shape, dtypes.as_dtype(dtype), zeros, False, collections=[])
    sessions.track_variable(made)
    return made
