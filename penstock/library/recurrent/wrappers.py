"""Cells around another cell: dropout, residual connections, a device."""

from __future__ import annotations

import hashlib
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.recurrent.cell import LSTMStateTuple, RNNCell, assert_like_rnncell, cell_of
from penstock.ops.array import join
from penstock.ops.nn import dropout
from penstock.ops.random import random


class CellWrapper(RNNCell):
    """A cell that calls another one; it has no scope and no variables of its own.

    Args:
      cell: the cell within.
    """

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        if hasattr(cell, "_checkpoint_dependencies"):
            self._checkpoint_dependencies.append(("cell", cell))

    @property
    def state_size(self) -> Any:
        """That of the cell."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The cell's."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step; ``scope`` is the cell's."""
        return self._call_wrapped_cell(inputs, state, self.cell.__call__, scope=scope)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """One step, by the cell's ``call``."""
        return self._call_wrapped_cell(inputs, state, self.cell.call, **kwargs)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The configuration of the cell, and the wrapper's own."""
        inner = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return super().get_config() | {"cell": inner}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The wrapper that ``get_config`` describes; ``custom_objects`` are classes by name."""
        return cls(cell_of(config["cell"], custom_objects), **{
            key: value for key, value in config.items() if key != "cell"
        })  # fmt: skip


class DropoutWrapper(CellWrapper):
    """Dropout of a cell's input, state and output.

    Args:
      cell: a cell.
      input_keep_prob, output_keep_prob, state_keep_prob: probability that an element is kept, a
        number or a scalar tensor.  Of an LSTM's state only ``h`` is dropped.
      variational_recurrent: whether one mask is drawn for all steps of a run (Gal and Ghahramani,
        2015).
      input_size: TensorShapes of the input, without the batch; needed for variational dropout of
        the input.
      dtype: element type of the masks; needed for variational dropout.
      seed: seed of the draws.
      dropout_state_filter_visitor: function of parts of the state that says, with a bool or a
        nesting of bools, where to drop; default all but the memory of LSTMs.

    Raises:
      TypeError: ``cell`` is no cell, or the filter is not callable.
      ValueError: a probability outside [0, 1]; what variational dropout needs is not given.

    Example:
      >>> import penstock as tf
      >>> cell = tf.nn.rnn_cell.DropoutWrapper(
      ...     tf.nn.rnn_cell.GRUCell(8), output_keep_prob=0.5
      ... )
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape.as_list(), state.shape.as_list()
      ([2, 8], [2, 8])
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _all_but_memory
        self._seed, self._variational = seed, variational_recurrent
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._draw_masks(input_size, dtype)

    def _draw_masks(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def draw(size: Any, what: str) -> Any:
            count = iter(range(len(nest.flatten(size))))

            def mask(one: Any) -> Tensor:
                dims = shapes.as_shape([one] if isinstance(one, int) else one).as_list()
                full = join.concat(([1], dims), 0)
                seed = self._seed_of(what, next(count))
                return random.random_uniform(full, seed=seed, dtype=dtype)

            return nest.map_structure(mask, size)

        if _drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown,"
                    " input_size must be provided"
                )
            self._noise["input"] = draw(input_size, "input")
        self._noise["state"] = draw(self.cell.state_size, "state")
        self._noise["output"] = draw(self.cell.output_size, "output")

    def _seed_of(self, what: str, index: int) -> int | None:
        """A seed for one tensor, from the wrapper's seed."""
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{what}_{index}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> Any:
        """The cell within."""
        return self.cell

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        if _drops(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob, inputs)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        if _drops(self._state_keep_prob):
            where = _visited(self._filter, new_state)
            new_state = self._dropped(new_state, "state", self._state_keep_prob, where)
        if _drops(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob, output)
        return output, new_state

    def _dropped(self, values: Any, what: str, keep: Any, where: Any) -> Any:
        """Dropout of the leaves of ``values`` where ``where`` does not say False."""
        count = iter(range(len(nest.flatten(where))))

        def one(flag: Any, value: Any, noise: Any) -> Any:
            index = next(count)
            if flag is False:
                return value
            if self._variational:
                return _masked(value, noise, keep)
            return dropout.dropout(value, rate=1.0 - keep, seed=self._seed_of(what, index))

        return nest.map_structure_up_to(where, one, where, values, self._noise.get(what, values))

    def get_config(self) -> dict[str, Any]:
        """The configuration of the cell, and the wrapper's own."""
        return super().get_config() | {
            "input_keep_prob": self._input_keep_prob,
            "output_keep_prob": self._output_keep_prob,
            "state_keep_prob": self._state_keep_prob,
            "variational_recurrent": self._variational,
            "seed": self._seed,
        }


def _probability(name: str, value: Any) -> Any:
    """A float where the value is known, else a tensor."""
    tensor = convert_to_tensor(value)
    known = static.constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= float(known) <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {float(known):g}")
    return float(known)


def _drops(keep: Any) -> bool:
    return not isinstance(keep, float) or keep < 1


def _all_but_memory(part: Any) -> Any:
    if isinstance(part, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    # An array of tensors is no tensor to drop elements of.
    return not hasattr(part, "unstack")


def _visited(visitor: Any, state: Any) -> Any:
    """What ``visitor`` says of the state; True of something nested means: of its parts."""
    said = visitor(state)
    if isinstance(said, bool):
        if not said or not nest.is_sequence(state):
            return said
        parts = nest.flatten_up_to(_one_level(state), state)
        return nest.like(state, [_visited(visitor, part) for part in parts])
    if nest.is_sequence(said):
        flags = nest.flatten_up_to(_one_level(said), said)
        parts = nest.flatten_up_to(_one_level(said), state)
        return nest.like(
            said,
            [
                _visited(visitor, part) if flag is True and nest.is_sequence(part) else flag
                for flag, part in zip(flags, parts, strict=True)
            ],
        )
    return said


def _one_level(value: Any) -> Any:
    return nest.like(value, [0] * len(value))


def _masked(value: Tensor, noise: Tensor, keep: Any) -> Tensor:
    """Dropout with a given uniform draw."""
    kept = make("Floor", keep + noise, name="Floor")
    made: Tensor = make("RealDiv", value, keep, name="div") * kept
    made.set_shape(value.get_shape())
    return made


class ResidualWrapper(CellWrapper):
    """Adds a cell's input to its output.

    Args:
      cell: a cell.
      residual_fn: function of (inputs, outputs); default their sum, of equal shapes.

    Raises:
      ValueError: shapes of inputs and outputs differ (when called).
    """

    def __init__(self, cell: Any, residual_fn: Any = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sum)(inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        """The configuration of the cell, and the function itself."""
        return super().get_config() | {"residual_fn": self._residual_fn}


def _sum(inputs: Any, outputs: Any) -> Any:
    def check(one: Any, other: Any) -> None:
        one.get_shape().assert_is_compatible_with(other.get_shape())

    nest.map_structure(check, inputs, outputs)
    return nest.map_structure(lambda one, other: one + other, inputs, outputs)


class DeviceWrapper(CellWrapper):
    """Puts a cell on a device.

    Args:
      cell: a cell.
      device: device name or function, as for ``tf.device``.
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The cell's, on the device."""
        with (
            name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]),
            scopes.device(self._device),
        ):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        with scopes.device(self._device):
            return cell_call_fn(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """The configuration of the cell, and the device."""
        return super().get_config() | {"device": self._device}
