"""Cells with variables of their own around another cell: projections and an embedding."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.scopes import name_scope
from penstock.library.recurrent.cell import RNNCell, assert_like_rnncell
from penstock.library.recurrent.linear import Linear
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.ops.array import reshape
from penstock.ops.nn import embedding


class Around(RNNCell):
    """A cell with variables of its own around another one."""

    def __init__(self, cell: Any, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """That of the cell."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The cell's."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(Around):
    """Looks up ids in an embedding before they go to a cell.

    Args:
      cell: a cell.
      embedding_classes: how many ids there are.
      embedding_size: size of their vectors.
      initializer: of the embedding; default that of the variable scope, else uniform with
        variance 1.
      reuse: whether the variables exist already.

    Raises:
      TypeError: ``cell`` is no cell.
      ValueError: a number that is not positive.
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0:"
                f" {embedding_classes}, {embedding_size}."
            )
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, of ids [batch]."""
        with scopes.device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                bound = math.sqrt(3)
                initializer = initializers.random_uniform_initializer(-bound, bound)
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            table = get_variable("embedding", self._shape, initializer=initializer, dtype=dtype)
            found = embedding.embedding_lookup(table, reshape.reshape(inputs, [-1]))
            return self._cell(found, state)


class InputProjectionWrapper(Around):
    """Projects the input of a cell.

    Args:
      cell: a cell.
      num_proj: size of the cell's input.
      activation: of the projection, or None.
      input_size: not used any more.
      reuse: whether the variables exist already.
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation
        self._linear: Linear | None = None

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


class OutputProjectionWrapper(Around):
    """Projects the output of a cell.

    Args:
      cell: a cell.
      output_size: size of the output.
      activation: of the projection, or None.
      reuse: whether the variables exist already.

    Raises:
      ValueError: ``output_size`` is not positive.
    """

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation
        self._linear: Linear | None = None

    @property
    def output_size(self) -> Any:
        """The size given."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        if self._activation:
            projected = self._activation(projected)
        return projected, new_state
