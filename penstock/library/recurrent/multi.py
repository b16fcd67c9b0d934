"""``MultiRNNCell``: cells on top of one another."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.scopes import name_scope
from penstock.library.recurrent.cell import RNNCell, assert_like_rnncell, cell_of
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, slicing


class MultiRNNCell(RNNCell):
    """Several cells in a row: the output of each is the input of the next.

    Args:
      cells: list of cells, the first one nearest to the input.
      state_is_tuple: whether the state is the tuple of the cells' states; else these side by side.

    Raises:
      ValueError: no cells, or tuple states although ``state_is_tuple`` is False.
      TypeError: ``cells`` is no list of cells.

    Example:
      >>> import penstock as tf
      >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in (8, 4)])
      >>> outputs, states = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
      >>> outputs.shape.as_list(), [state.shape.as_list() for state in states]
      ([2, 5, 4], [[2, 8], [2, 4]])
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, list | tuple):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        for index, cell in enumerate(cells):
            assert_like_rnncell(f"cells[{index}]", cell)
        sizes = [cell.state_size for cell in cells]
        if not state_is_tuple and any(nest.is_sequence(size) for size in sizes):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set. "
                f" State sizes are: {sizes}"
            )
        self._cells, self._state_is_tuple = cells, state_is_tuple
        self._checkpoint_dependencies += [
            (f"cell-{i}", c) for i, c in enumerate(cells) if hasattr(c, "_checkpoint_dependencies")
        ]

    @property
    def state_size(self) -> Any:
        """The cells' sizes as a tuple; their sum if the state is no tuple."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """That of the last cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros as a state."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        """The cells' trainable variables."""
        if not self.trainable:
            return []
        return [w for cell in self._cells if _is_layer(cell) for w in cell.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The cells' other variables; all of them if this cell is not trainable."""
        layers = [cell for cell in self._cells if _is_layer(cell)]
        others = [w for cell in layers for w in cell.non_trainable_weights]
        if self.trainable:
            return others
        return [*(w for cell in layers for w in cell.trainable_weights), *others]

    def call(self, inputs: Any, state: Any) -> Any:
        """One step of all cells."""
        position, current, states = 0, inputs, []
        for index, cell in enumerate(self._cells):
            with variable_scope(f"cell_{index}"):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but"
                            f" received: {state}"
                        )
                    own = state[index]
                else:
                    own = slicing.slice_(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                current, new = cell(current, own)
                states.append(new)
        return current, tuple(states) if self._state_is_tuple else join.concat(states, 1)

    def get_config(self) -> dict[str, Any]:
        """The configurations of the cells."""
        return {
            "cells": [
                {"class_name": type(c).__name__, "config": c.get_config()} for c in self._cells
            ]
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The cell that ``get_config`` describes; ``custom_objects`` are classes by name."""
        return cls([cell_of(one, custom_objects) for one in config["cells"]])


def _is_layer(cell: Any) -> bool:
    return hasattr(cell, "trainable_weights")
