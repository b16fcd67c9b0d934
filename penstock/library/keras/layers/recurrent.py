"""Recurrent layers: ``RNN`` runs any cell over the steps of a sequence."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest
from penstock.library.keras.layers import cells, steps
from penstock.library.keras.layers.cell_states import first_states, output_size_of, sizes_of
from penstock.library.keras.layers.given_states import TakesStates
from penstock.library.keras.layers.kept_states import KeptStates
from penstock.library.layer_base import configs, regularizers
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import nodes


class StackedRNNCells(Layer):
    """Several cells as one: the output of each is the input of the next.

    Args:
      cells: the cells, first to last.
      **kwargs: as of a layer.
    """

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise ValueError(
                    f"All cells must have a `call` method and a `state_size`. received cells:"
                    f" {cells}"
                )
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        """The sizes of the cells' states."""
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return output_size_of(self.cells[-1])

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The cells' first states."""
        if inputs is not None:
            batch_size, dtype = nodes.element(nodes.shape(inputs), 0), inputs.dtype
        return tuple(first_states(cell, batch_size, dtype) for cell in self.cells)

    def build(self, input_shape: Any) -> None:
        """Builds the cells."""
        batch = shapes.as_shape(input_shape).as_list()[0]
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = shapes.TensorShape([batch, *sizes_of(output_size_of(cell))])
        self.built = True

    def call(self, inputs: Any, states: Any, constants: Any = None, **kwargs: Any) -> Any:
        """One step of every cell; ``constants`` are for those that take them."""
        states = nest.pack_sequence_as(self.state_size, nest.flatten(states))
        made = []
        for cell, state in zip(self.cells, states, strict=True):
            more = {"constants": constants} if _takes(cell, "constants") else {}
            inputs, new = cell.call(inputs, nest.flatten(state), **more, **kwargs)
            made.append(new)
        return inputs, nest.flatten(made)

    def reset_masks(self) -> None:
        """The next call draws masks of dropout anew."""
        for cell in self.cells:
            if hasattr(cell, "reset_masks"):
                cell.reset_masks()

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a stack like this one."""
        return super().get_config() | {"cells": [configs.serialized(c) for c in self.cells]}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """The stack that ``get_config`` describes."""
        given = dict(config)
        described = given.pop("cells")
        cells_ = [configs.made_from(one, _CELLS, "layer", custom_objects) for one in described]
        return cls(cells_, **given)


class RNN(KeptStates, TakesStates):
    """A cell run over the steps of a sequence.

    Args:
      cell: a cell, or a list of cells: ``call(input, states)`` returns output and new states;
        ``state_size``.
      return_sequences: whether all outputs are returned, not the last alone.
      return_state: whether the last states are returned as well.
      go_backwards: whether the last step comes first.
      stateful: whether a batch goes on where the last one ended; its size must be known.
      unroll: whether the steps are laid out, not looped; their number must be known.
      time_major: whether time comes before the batch.
      **kwargs: as of a layer.

    Raises:
      ValueError: what is no cell.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     cell = tf.keras.layers.LSTMCell(4)
      ...     tf.keras.layers.RNN(cell)(tf.zeros([2, 5, 3])).shape.as_list()
      [2, 4]
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, list | tuple):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
            raise ValueError(
                f"`cell` should have a `call` method and a `state_size`. The RNN was passed: {cell}"
            )
        self_zero = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None),
                                     kwargs.pop("input_dim", None))  # fmt: skip
        super().__init__(**kwargs)
        self.zero_output_for_mask = self_zero
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.unroll, self.time_major = go_backwards, unroll, time_major
        self.stateful, self.supports_masking = stateful, True
        self.input_spec = [InputSpec(ndim=3)]

    def build(self, input_shape: Any) -> None:
        """Builds the cell for one step."""
        dims = shapes.as_shape(input_shape).as_list()
        self.input_spec = [InputSpec(shape=(None, None, *dims[2:]))]
        batch = dims[1] if self.time_major else dims[0]
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(shapes.TensorShape([batch, *dims[2:]]))
            self.cell.__dict__["_dtype"] = self.cell.dtype or self.dtype
            self.cell.built = True
        self.built = True

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """The first states: zeros, or what the cell says."""
        batch = nodes.element(nodes.shape(inputs), 1 if self.time_major else 0)
        return nest.flatten(first_states(self.cell, batch, inputs.dtype))

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None,
        constants: Any = None,
    ) -> Any:  # fmt: skip
        """The last output or all; with the states, if they are asked for."""
        if hasattr(self.cell, "reset_masks"):
            self.cell.reset_masks()
        kept, states = self._first_states(inputs, initial_state)
        if isinstance(mask, list):
            mask = mask[0]
        time = inputs.shape.as_list()[0 if self.time_major else 1]
        if self.unroll and time is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. The shape of the input is"
                f" {inputs.shape}"
            )
        more = {"training": training} if _takes(self.cell, "training") else {}
        if constants is not None:
            if not _takes(self.cell, "constants"):
                raise ValueError("RNN cell does not support constants")
            more["constants"] = constants

        def step(current: Any, states: Any) -> Any:
            return self.cell.call(current, list(states), **more)

        last, outputs, states = steps.run_steps(
            step, inputs, states, mask=mask, go_backwards=self.go_backwards, unroll=self.unroll,
            time_major=self.time_major, zero_output_for_mask=self.zero_output_for_mask,
        )  # fmt: skip
        if kept:
            changes = zip(kept, states, strict=True)
            self.add_update([one.assign(state) for one, state in changes], inputs)
        output = outputs if self.return_sequences else last
        if not self.return_state:
            return output
        if isinstance(self.cell, StackedRNNCells):  # a cell of several states has a list of them
            states = [list(one) if isinstance(one, list | tuple) else one
                      for one in nest.pack_sequence_as(self.cell.state_size, states)]  # fmt: skip
        return [output, *states]

    def _first_states(self, inputs: Any, initial_state: Any) -> tuple[list[Any], list[Any]]:
        """The variables of states that go on, and the states that a call begins with.

        Raises:
          ValueError: another number of states than the cell has.
        """
        kept = self._kept_states(inputs) if self.stateful else []
        if initial_state is None and kept:
            initial_state = [one.read_value() for one in kept]
        elif initial_state is None:
            initial_state = self.get_initial_state(inputs)
        states = nest.flatten(initial_state)
        wanted = len(nest.flatten(self.cell.state_size))
        if len(states) != wanted:
            raise ValueError(
                f"Layer has {wanted} states but was passed {len(states)} initial states."
            )
        return kept, states

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the input for all outputs; none for the last one and the states."""
        if isinstance(mask, list):
            mask = mask[0]
        found = mask if self.return_sequences else None
        if not self.return_state:
            return found
        return [found, *(None for _ in nest.flatten(self.cell.state_size))]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        batch, time = (dims[1], dims[0]) if self.time_major else (dims[0], dims[1])
        size = output_size_of(self.cell)
        order = [batch]
        if self.return_sequences:
            order = [time, batch] if self.time_major else [batch, time]
        made = shapes.TensorShape([*order, *sizes_of(size)])
        if not self.return_state:
            return made
        states = nest.flatten(self.cell.state_size)
        return [made, *(shapes.TensorShape([batch, *sizes_of(one)]) for one in states)]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "return_sequences": self.return_sequences, "return_state": self.return_state,
            "go_backwards": self.go_backwards, "stateful": self.stateful, "unroll": self.unroll,
            "time_major": self.time_major, "cell": configs.serialized(self.cell),
        }  # fmt: skip

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """The layer that ``get_config`` describes."""
        config = dict(config)
        given = []
        if "cell" in config:  # else a layer that makes its cell
            given.append(configs.made_from(config.pop("cell"), _CELLS, "layer", custom_objects))
        constants = config.pop("num_constants", 0)
        made = cls(*given, **config)
        made.num_constants = constants
        return made


_CELLS: dict[str, Any] = {
    one.__name__: one
    for one in (
        cells.SimpleRNNCell,
        cells.LSTMCell,
        cells.GRUCell,
        cells.PeepholeLSTMCell,
        StackedRNNCells,
    )  # fmt: skip
}


def _takes(cell: Any, argument: str) -> bool:
    """Whether a step of a cell is given an argument; several cells only if all take training."""
    if isinstance(cell, StackedRNNCells) and argument == "training":
        return all(_takes(one, argument) for one in cell.cells)
    code = getattr(cell.call, "__code__", None)
    return code is not None and argument in code.co_varnames[: code.co_argcount]


class _OneCell(RNN):
    """A recurrent layer that makes its cell; subclasses say which.

    Args:
      units: size of the output.
      activity_regularizer: function of the output whose result is a loss.
      return_sequences, return_state, go_backwards, stateful, unroll, time_major: as of ``RNN``.
      **kwargs: of the cell, and as of a layer.
    """

    _cell_class: Any = cells.SimpleRNNCell
    _of_cell = (
        "activation", "use_bias", "dropout", "recurrent_dropout", "recurrent_activation",
        "implementation", "unit_forget_bias", "reset_after",
        *(f"{w}_{k}" for w in cells.WEIGHTS for k in ("initializer", "regularizer", "constraint")),
    )  # fmt: skip

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        *args: Any,
        activity_regularizer: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        given = {key: kwargs.pop(key) for key in self._of_cell if key in kwargs}
        if "dtype" in kwargs:
            given["dtype"] = kwargs["dtype"]
        cell = self._cell_class(units, activation, *args, **given)
        super().__init__(
            cell, return_sequences=return_sequences, return_state=return_state,
            go_backwards=go_backwards, stateful=stateful, unroll=unroll, **kwargs,
        )  # fmt: skip
        self.activity_regularizer = regularizers.get(activity_regularizer)

    @property
    def units(self) -> int:
        """Size of the output."""
        return int(self.cell.units)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config()
        del config["cell"]
        own = self.cell.get_config()
        for key in ("name", "trainable", "dtype"):
            del own[key]
        regularizer = regularizers.serialize(self.activity_regularizer)
        made: dict[str, Any] = config | own
        return made | {"activity_regularizer": regularizer}


class SimpleRNN(_OneCell):
    """``SimpleRNNCell`` over the steps of a sequence.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.SimpleRNN(4, return_sequences=True)
      ...     layer(tf.zeros([2, 5, 3])).shape.as_list()
      [2, 5, 4]
    """


class LSTM(_OneCell):
    """``LSTMCell`` over the steps of a sequence.

    Source: Hochreiter and Schmidhuber 1997.
    """

    _cell_class = cells.LSTMCell


class GRU(_OneCell):
    """``GRUCell`` over the steps of a sequence.

    Source: Cho et al. 2014.
    """

    _cell_class = cells.GRUCell
