"""The first states of recurrent cells, and what a cell of one's own is derived from."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import fill, nodes


def sizes_of(size: Any) -> list[Any]:
    """The dims of a state besides the batch: a cell gives a number or a shape."""
    return shapes.TensorShape(size).as_list()


def output_size_of(cell: Any) -> Any:
    """The size of a cell's output: that of its first state, if it does not say."""
    size = getattr(cell, "output_size", None)
    return nest.flatten(cell.state_size)[0] if size is None else size


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for each size, which is a number or a shape."""
    return nest.map_structure(
        lambda size: fill.zeros([batch_size, *sizes_of(size)], dtype=dtype),
        state_size,
    )


def first_states(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """The first states: zeros, or what the cell says."""
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return zero_states(cell.state_size, batch_size, dtype)


def initial_state(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros as a cell's state, for inputs or for a batch and a type.

    Raises:
      ValueError: neither is given.
    """
    if inputs is not None:
        batch_size, dtype = nodes.element(nodes.shape(inputs), 0), inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )
    return zero_states(cell.state_size, batch_size, dtype)


class AbstractRNNCell(Layer):
    """What a cell of one's own may be derived from.

    A subclass has ``call(inputs, states)``, which returns the output and the new states, and the
    properties ``state_size`` and ``output_size``: numbers, shapes, or of the former nestings.

    Args:
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> class Sums(tf.keras.layers.AbstractRNNCell):
      ...     state_size = output_size = 2
      ...     def call(self, inputs, states):
      ...         return inputs + states[0], [inputs + states[0]]
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.keras.layers.RNN(Sums())(tf.ones([1, 3, 2])))
      array([[3., 3.]], dtype=float32)
    """

    def call(self, inputs: Any, states: Any) -> Any:
        """One step: the output and the new states; a subclass says it."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Any:
        """The size of the state, or a nesting of such; a subclass says it."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output; a subclass says it."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Zeros as a state.

        Args:
          inputs: [batch, ...], whose batch and type are taken.
          batch_size, dtype: else these.

        Raises:
          ValueError: neither is given.
        """
        return initial_state(self, inputs, batch_size, dtype)
