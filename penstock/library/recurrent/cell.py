"""The base classes of cells, zero states, and the state of an LSTM.

A cell maps (input, state) to (output, new state).  ``state_size`` and ``output_size`` are ints,
TensorShapes without the batch dim, or nestings of those; a state has the nesting of its size.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.scoped import Layer
from penstock.library.variables import listing
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, join, nodes, reshape, shape
from penstock.ops.math import elementwise
from penstock.ops.nn import activation as activations

_StatePair = collections.namedtuple("_StatePair", ["c", "h"])


class LSTMStateTuple(_StatePair):
    """State of an LSTM cell: the memory ``c`` and the output ``h``, each [batch, units].

    >>> tf.nn.rnn_cell.LSTMStateTuple(1, 2)
    LSTMStateTuple(c=1, h=2)
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """Element type of both parts.

        Raises:
          TypeError: the types of the parts differ.
        """
        c, h = self
        if c.dtype is not h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype!r} vs {h.dtype!r}")
        return c.dtype


# ---- shapes and zeros ----------------------------------------------------------------------------


def _vector(part: Any) -> Tensor | None:
    """A size as a vector: dims are a constant if all are known; None if not."""
    if isinstance(part, Tensor):
        rank = part.get_shape().ndims
        if rank == 0:
            return reshape.expand_dims(part, 0)
        if rank != 1:
            raise ValueError(f"prefix and suffix must be a scalar or a vector; found {part!r}")
        return part
    dims = _dims(part)
    if dims is None or None in dims:
        return None
    return constant(np.array(dims, np.int32), dtypes.int32)


def _dims(part: Any) -> shapes.Static:
    """The statically known dims of a size."""
    if isinstance(part, Tensor):
        value = static.constant_value(part)
        return None if value is None else tuple(int(d) for d in np.atleast_1d(value))
    if part is None:
        return None
    return shapes.as_shape([part] if isinstance(part, int | dimension.Dimension) else part).sizes


def joined_shape(prefix: Any, suffix: Any) -> Tensor:
    """``prefix`` and ``suffix`` as one shape vector; each a tensor, an int, a shape or dims.

    Raises:
      ValueError: dims of one are not known.
    """
    # The order of the nodes: both vectors, then what joins them.
    first, second = _vector(prefix), _vector(suffix)
    if first is None or second is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return join.concat((first, second), 0)


def joined_static(prefix: Any, suffix: Any) -> shapes.TensorShape:
    """What is known of ``joined_shape`` while the graph is built.

    Its nodes are not needed; TensorFlow 1.15 makes them, and later names count them.
    """
    for part in (prefix, suffix):
        _vector(part)
    first, second = _dims(prefix), _dims(suffix)
    if first is None or second is None:
        return shapes.unknown_shape()
    return shapes.TensorShape([*first, *second])


def zeros_of(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros of [batch_size, *size] for each leaf of ``size``."""

    def one(leaf: Any) -> Tensor:
        made = fill.zeros(joined_shape(batch_size, leaf), dtype=dtype)
        made.set_shape(joined_static(batch_size, leaf))
        return made

    return nest.map_structure(one, size)


# ---- the classes ---------------------------------------------------------------------------------


class RNNCell(Layer):
    """A cell: ``output, new_state = cell(input, state)``.

    Subclasses give ``state_size``, ``output_size`` and ``call(inputs, state)``, or override
    ``__call__(inputs, state, scope=None)``.  Variables that ``call`` gets with ``tf.get_variable``
    are the cell's.

    Args:
      trainable, name, dtype: as of a layer.
    """

    # Rank that the input must have; None does not say.
    _input_rank: int | None = None

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True
        if self._input_rank is not None:
            self.input_spec = InputSpec(ndim=self._input_rank)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step.

        Args:
          inputs: [batch, input size], or a nesting of such.
          state: a nesting as ``state_size`` of [batch, size].
          scope: variable scope; default the class's name in snake case.

        Returns:
          The output, [batch, output size], and the new state.
        """
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as entered:
                return super().__call__(inputs, state, scope=entered)
        found = self.__dict__.get("_outer_scope")
        if found is None:
            found = variable_scope(get_variable_scope(), custom_getter=self._rnn_get_variable)
            self._outer_scope = found
        with found:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        first = variable
        if isinstance(variable, PartitionedVariable):
            first = list(variable)[0]
        trainable = any(v is first for v in listing.trainable_variables())
        known = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(v is variable for v in known):
            known.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """Size of the state: an int, a TensorShape, or a nesting of those."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """Size of the output: an int or a TensorShape."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Nothing to do before the first call; a subclass may make variables here."""

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The zero state.

        Args:
          inputs: a tensor [batch, ...] to take batch size and type from.
          batch_size: int or scalar tensor.
          dtype: element type.

        Raises:
          ValueError: batch size or type are given neither way, or differently.
        """
        if inputs is not None:
            batch_size, dtype = _of_inputs(inputs, batch_size, dtype)
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state:"
                f" batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros as a state.

        Args:
          batch_size: int or scalar tensor.
          dtype: element type.

        Returns:
          A nesting as ``state_size`` of zeros [batch_size, size].
        """
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zeros_of(self.state_size, batch_size, dtype)


def _of_inputs(inputs: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    inputs = convert_to_tensor(inputs, name="inputs")
    known = dimension.dimension_value(inputs.get_shape()[0])
    if batch_size is not None:
        given = batch_size
        if isinstance(given, Tensor):
            given = static.constant_value(given)
        if given is not None and known is not None and int(given) != known:
            raise ValueError(f"batch size from input tensor is {known}; batch_size is {given}")
    if dtype is not None and inputs.dtype.base_dtype is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(
            f"dtype from input tensor is {inputs.dtype.name}; dtype is"
            f" {dtypes.as_dtype(dtype).name}"
        )
    return (known or nodes.element(shape.shape(inputs), 0)), inputs.dtype


class LayerRNNCell(RNNCell):
    """A cell whose variables are made by ``build`` with ``add_variable``."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """One step; see ``RNNCell``."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)


def cell_of(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The cell that ``{"class_name": ..., "config": ...}`` describes.

    Args:
      config: class name and configuration.
      custom_objects: classes by name, which come before those that exist.

    Raises:
      ValueError: no class of cells has that name.
    """
    name = config["class_name"]
    found = (custom_objects or {}).get(name)
    waiting = [RNNCell]
    while found is None and waiting:
        one = waiting.pop()
        found = one if one.__name__ == name else None
        waiting += one.__subclasses__()
    if found is None:
        raise ValueError(f"Unknown layer: {name}; give it in custom_objects")
    return found.from_config(config["config"])


# ---- checks --------------------------------------------------------------------------------------


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Refuses what cannot be called as a cell.

    Raises:
      TypeError: which says everything that is missing.
    """
    missing = [
        f"{name!r} property is missing"
        for name in ("output_size", "state_size")
        if not _has(cell, name)
    ]
    if not _has(cell, "zero_state") and not _has(cell, "get_initial_state"):
        missing.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}."
        )


def _has(cell: Any, name: str) -> bool:
    try:
        return hasattr(cell, name)
    except NotImplementedError:
        return False


def check_floating(tensors: Any) -> None:
    """Refuses inputs and states that are neither floating nor complex.

    Raises:
      ValueError: naming the type.
    """
    for tensor in nest.flatten(tensors):
        check_dtype(tensor.dtype)


def check_dtype(dtype: Any) -> None:
    """Refuses a type that is neither floating nor complex; None is not known yet."""
    if dtype is None:
        return
    found = dtypes.as_dtype(dtype)
    if not (found.is_floating or found.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {found!r}")


def input_depth(inputs_shape: Any) -> int:
    """The last dim of a cell's input.

    Raises:
      ValueError: it is not known.
    """
    dims = shapes.as_shape(inputs_shape).as_list()
    if dims[-1] is None:
        raise ValueError(
            f"Expected inputs.shape[-1] to be known, saw shape: {shapes.as_shape(inputs_shape)}"
        )
    return dims[-1]


_ACTIVATIONS: dict[str, Any] = {
    "linear": lambda x: x,
    "sigmoid": elementwise.sigmoid,
    "tanh": elementwise.tanh,
    "exponential": elementwise.exp,
    **{n: getattr(activations, n) for n in ("relu", "elu", "selu", "softplus", "softsign")},
}


def activation(given: Any, default: Any) -> Any:
    """An activation function, given itself, by name, or not at all."""
    if not given:
        return default
    if isinstance(given, str):
        if given not in _ACTIVATIONS:
            raise ValueError(
                f"Unknown activation function:{given}; known are {sorted(_ACTIVATIONS)}"
            )
        return _ACTIVATIONS[given]
    return given


class SizedByUnits:
    """A cell of which state and output have ``num_units`` numbers each."""

    _num_units: int

    @property
    def state_size(self) -> Any:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units


class PairOfUnits(SizedByUnits):
    """A cell of which the state is an ``LSTMStateTuple`` of ``num_units`` each."""

    @property
    def state_size(self) -> Any:
        """Sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)
