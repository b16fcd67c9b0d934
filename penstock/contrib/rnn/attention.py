"""``AttentionCellWrapper``: attention over a cell's own last outputs."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn import conv
from penstock.library.recurrent.cell import RNNCell, assert_like_rnncell
from penstock.library.recurrent.linear import Linear
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, reshape, slicing
from penstock.ops.math import elementwise, reduction
from penstock.ops.nn import softmax


class AttentionCellWrapper(RNNCell):
    """Attends over the last outputs of a cell (Cheng et al., 2016).

    Args:
      cell: a cell.
      attn_length: over how many outputs.
      attn_size: size of the output; default the cell's.
      attn_vec_size: size of the compared features; default ``attn_size``.
      input_size: size of the cell's input; default that of the wrapper's.
      state_is_tuple: whether the state is a tuple (cell state, attention, kept outputs).
      reuse: whether the variables exist already.

    Raises:
      TypeError: ``cell`` is no cell.
      ValueError: ``attn_length`` is not positive; a tuple state although the flag is not set.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size"
                f" is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell, self._length, self._input_size = cell, attn_length, input_size
        self._size: int = cell.output_size if attn_size is None else attn_size
        self._vec_size = self._size if attn_vec_size is None else attn_vec_size
        self._state_is_tuple = state_is_tuple
        self._linears: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        """Sizes of the cell's state, of the attention, and of the kept outputs."""
        size = (self._cell.state_size, self._size, self._size * self._length)
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self) -> Any:
        """The attention's size."""
        return self._size

    def _linear(self, key: str, args: Any, size: int) -> Tensor:
        if key not in self._linears:
            self._linears[key] = Linear(args, size, True)
        return self._linears[key](args)

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        first, second = self._cell.state_size, self._cell.state_size + self._size
        return (
            slicing.slice_(state, [0, 0], [-1, first]),
            slicing.slice_(state, [0, first], [-1, self._size]),
            slicing.slice_(state, [0, second], [-1, self._size * self._length]),
        )

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        own, attended, kept = self._parts(state)
        kept = reshape.reshape(kept, [-1, self._length, self._size])
        width = self._input_size
        if width is None:
            width = inputs.get_shape().as_list()[1]
        inputs = self._linear("input", [inputs, attended], width)
        output, own = self._cell(inputs, own)
        query = join.concat(nest.flatten(own), 1) if self._state_is_tuple else own
        attended, kept = self._attention(query, kept)
        with variable_scope("attn_output_projection"):
            output = self._linear("output", [output, attended], self._size)
        kept = join.concat([kept, reshape.expand_dims(output, 1)], 1)
        kept = reshape.reshape(kept, [-1, self._length * self._size])
        new = (own, attended, kept)
        return output, new if self._state_is_tuple else join.concat(list(new), 1)

    def _attention(self, query: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        """What is attended to, and the kept outputs without the oldest."""
        size, length, features = self._size, self._length, self._vec_size
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, size, features])
            vector = get_variable("attn_v", [features])
            hidden: Any = reshape.reshape(kept, [-1, length, 1, size])
            compared: Any = conv.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = reshape.reshape(self._linear("query", query, features), [-1, 1, 1, features])
            scores = reduction.reduce_sum(vector * elementwise.tanh(compared + y), [2, 3])
            weights: Any = reshape.reshape(softmax.softmax(scores), [-1, length, 1, 1])
            found = reduction.reduce_sum(weights * hidden, [1, 2])
            return (
                reshape.reshape(found, [-1, size]),
                slicing.slice_(kept, [0, 1, 0], [-1, -1, -1]),
            )
