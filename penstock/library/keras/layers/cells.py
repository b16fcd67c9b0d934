"""Cells of recurrent layers: ``SimpleRNNCell``, ``LSTMCell``, ``GRUCell``, and stacks of cells."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, shapes
from penstock.foundation.graph import nest
from penstock.library.control_flow.cond import smart_cond
from penstock.library.keras.layers.cell_states import initial_state
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base import activations, initializers, phase
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import join, nodes, split
from penstock.ops.linalg import matmul
from penstock.ops.nn import bias as biases, dropout

WEIGHTS = ("kernel", "recurrent", "bias")


class WithGates:
    """What makes the weights of a cell, or of a layer without one, by their arguments."""

    add_weight: Any
    kernel_initializer: Any

    def _weight(self, name: str, weight: str, shape: Any) -> Any:
        return self.add_weight(
            shape=shape, name=name, initializer=self._initializer_of(weight),
            regularizer=getattr(self, f"{weight}_regularizer"),
            constraint=getattr(self, f"{weight}_constraint"),
        )  # fmt: skip

    def _initializer_of(self, weight: str) -> Any:
        return getattr(self, f"{weight}_initializer")


class Cell(WithGates, Layer):
    """What the cells share; ``_gates`` says how many parts their weights have.

    Args:
      units: size of output and state.
      activation: function or its name.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: of the weights.
      kernel_constraint, recurrent_constraint, bias_constraint: of the weights.
      dropout: which part of the input is dropped while training.
      recurrent_dropout: which part of the state is dropped while training.
      **kwargs: as of a layer.
    """

    _gates = 1
    kernel: Any
    recurrent_kernel: Any

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        set_weight_arguments(self, WEIGHTS, {
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer, "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
        })  # fmt: skip
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.__dict__["_masks"] = {}

    @property
    def state_size(self) -> Any:
        """The size of the state, or of each."""
        return self.units

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self.units

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, ``recurrent_kernel`` and ``bias``."""
        size = dimension.dimension_value(shapes.as_shape(input_shape)[-1])
        wide = self._gates * self.units
        for name, weight, rows in (
            ("kernel", "kernel", size), ("recurrent_kernel", "recurrent", self.units),
        ):  # fmt: skip
            made = self._weight(name, weight, (rows, wide))
            setattr(self, name, made)
        self.bias = self._weight("bias", "bias", self._bias_shape) if self.use_bias else None
        self.built = True

    @property
    def _bias_shape(self) -> Any:
        return (self._gates * self.units,)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Zeros as a state."""
        return initial_state(self, inputs, batch_size, dtype)

    # ---- dropout -------------------------------------------------------------------------------

    def reset_masks(self) -> None:
        """The next call draws masks anew."""
        self.__dict__["_masks"] = {}

    def _dropped(self, tensor: Any, which: str, training: Any, count: int) -> list[Any]:
        """The tensor for each gate, with a mask of its own that all steps share."""
        rate = getattr(self, which)
        if rate == 0:
            return [tensor] * count
        if which not in self.__dict__["_masks"]:
            ones = nodes.ones_like(tensor)
            chosen = phase.learning_phase() if training is None else training
            self.__dict__["_masks"][which] = [
                smart_cond(chosen, lambda: dropout.dropout(ones, rate=rate), lambda: ones)
                for _ in range(count)
            ]
        return [tensor * mask for mask in self.__dict__["_masks"][which]]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "units": self.units, "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias, **weight_config(self, WEIGHTS), "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
        }  # fmt: skip


class SimpleRNNCell(Cell):
    """``activation(input @ kernel + bias + state @ recurrent_kernel)``."""

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """One step: output and new state are the same."""
        (previous,) = nest.flatten(states)
        (inputs,) = self._dropped(inputs, "dropout", training, 1)
        (previous,) = self._dropped(previous, "recurrent_dropout", training, 1)
        h = matmul.matmul(inputs, self.kernel)
        if self.bias is not None:
            h = biases.bias_add(h, self.bias)
        output = h + matmul.matmul(previous, self.recurrent_kernel)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]


class _Gated(Cell):
    """What cells with gates have besides.

    Args:
      recurrent_activation: of the gates.
      implementation: 1: a product for each gate; 2: one product for all.
    """

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True, **kwargs: Any,
    ) -> None:  # fmt: skip
        self.__dict__["_implementation"] = kwargs.pop("implementation", 1)
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)

    @property
    def implementation(self) -> int:
        """1: a product for each gate; 2: one product for all."""
        return 1 if self.dropout or self.recurrent_dropout else self.__dict__["_implementation"]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "implementation": self.__dict__["_implementation"],
        }  # fmt: skip


def with_ones(found: Any, before: int, after: int, units: int) -> Any:
    """An initializer with ones for one gate, and so many gates' numbers of another around them."""

    def initial(_: Any, *args: Any, **kwargs: Any) -> Any:
        return join.concat([
            found((units * before,), *args, **kwargs),
            initializers.get("ones")((units,), *args, **kwargs),
            found((units * after,), *args, **kwargs),
        ], 0)  # fmt: skip

    return initial


class LSTMCell(_Gated):
    """Long short-term memory; the state is the output and the memory.

    Args:
      unit_forget_bias: whether the forget gate's bias is 1 at first.

    Source: Hochreiter and Schmidhuber 1997.
    """

    _gates = 4

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True, unit_forget_bias: bool = True, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, **kwargs)
        self.unit_forget_bias = unit_forget_bias

    @property
    def state_size(self) -> Any:
        """The sizes of output and memory."""
        return [self.units, self.units]

    def _initializer_of(self, weight: str) -> Any:
        found = super()._initializer_of(weight)
        if weight != "bias" or not self.unit_forget_bias:
            return found

        return with_ones(found, 1, 2, self.units)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """One step."""
        previous, memory = nest.flatten(states)
        xs = self._dropped(inputs, "dropout", training, 4)
        hs = self._dropped(previous, "recurrent_dropout", training, 4)
        if self.implementation == 1:
            c, o = self._by_gate(xs, hs, memory)
        else:
            z = matmul.matmul(inputs, self.kernel)
            z = z + matmul.matmul(previous, self.recurrent_kernel)
            if self.bias is not None:
                z = biases.bias_add(z, self.bias)
            i, f, g, o = split.split(value=z, num_or_size_splits=4, axis=1)
            i = self.recurrent_activation(self._peeped(i, "input", memory))
            f = self.recurrent_activation(self._peeped(f, "forget", memory))
            c = f * memory + i * self.activation(g)
            o = self.recurrent_activation(self._peeped(o, "output", c))
        h = o * self.activation(c)
        return h, [h, c]

    def _by_gate(self, xs: Any, hs: Any, memory: Any) -> tuple[Any, Any]:
        kernels = split.split(value=self.kernel, num_or_size_splits=4, axis=1)
        products = [matmul.matmul(x, k) for x, k in zip(xs, kernels, strict=True)]
        if self.bias is not None:
            parts = split.split(value=self.bias, num_or_size_splits=4, axis=0)
            products = [biases.bias_add(x, b) for x, b in zip(products, parts, strict=True)]
        units, recurrent = self.units, self.recurrent_kernel

        def total(gate: int) -> Any:
            part = recurrent[:, gate * units : (gate + 1) * units] if gate not in (0, 3) else (
                recurrent[:, :units] if gate == 0 else recurrent[:, units * 3 :])  # fmt: skip
            return products[gate] + matmul.matmul(hs[gate], part)

        i = self.recurrent_activation(self._peeped(total(0), "input", memory))
        f = self.recurrent_activation(self._peeped(total(1), "forget", memory))
        # TensorFlow's order of nodes: the kept memory comes before the candidate.
        kept = f * memory
        c = kept + i * self.activation(total(2))
        return c, self.recurrent_activation(self._peeped(total(3), "output", c))

    def _peeped(self, gate: Any, name: str, memory: Any) -> Any:
        """A gate before its activation, with what it sees of the memory: here nothing."""
        return gate

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {"unit_forget_bias": self.unit_forget_bias}


class PeepholeLSTMCell(LSTMCell):
    """``LSTMCell`` whose gates see the memory as well, each unit its own.

    Input and forget gate see the memory before the step, the output gate that after it; three
    weights [units] say how much. Arguments as of ``LSTMCell``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     cells = [tf.keras.experimental.PeepholeLSTMCell(size) for size in (4, 2)]
      ...     tf.keras.layers.RNN(cells)(tf.zeros([3, 5, 1])).shape.as_list()
      [3, 2]

    Source: Gers, Schraudolph and Schmidhuber 2002; Sak, Senior and Beaufays 2014.
    """

    def build(self, input_shape: Any) -> None:
        """Makes the weights of ``LSTMCell`` and one for each gate."""
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            made = self.add_weight(
                shape=(self.units,), name=name, initializer=self.kernel_initializer
            )
            setattr(self, name, made)

    def _peeped(self, gate: Any, name: str, memory: Any) -> Any:
        return gate + getattr(self, f"{name}_gate_peephole_weights") * memory


class GRUCell(_Gated):
    """Gated recurrent unit.

    Args:
      reset_after: whether the reset gate acts after the product with the recurrent kernel.

    Source: Cho et al. 2014.
    """

    _gates = 3

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True, reset_after: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, **kwargs)
        self.reset_after = reset_after

    @property
    def _bias_shape(self) -> Any:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """One step."""
        (previous,) = nest.flatten(states)
        xs = self._dropped(inputs, "dropout", training, 3)
        hs = self._dropped(previous, "recurrent_dropout", training, 3)
        first, second = self._biases()
        units, recurrent = self.units, self.recurrent_kernel
        slices = [slice(None, units), slice(units, units * 2), slice(units * 2, None)]
        x = [matmul.matmul(one, self.kernel[:, part]) for one, part in zip(xs, slices, strict=True)]
        if first is not None:
            x = [biases.bias_add(a, first[part]) for a, part in zip(x, slices, strict=True)]
        gates = [matmul.matmul(h, recurrent[:, part]) for h, part in zip(hs[:2], slices[:2],
                                                                        strict=True)]  # fmt: skip
        if self.reset_after and second is not None:
            gates = [biases.bias_add(a, second[p]) for a, p in zip(gates, slices[:2], strict=True)]
        z = self.recurrent_activation(x[0] + gates[0])
        r = self.recurrent_activation(x[1] + gates[1])
        if self.reset_after:
            candidate = matmul.matmul(hs[2], recurrent[:, slices[2]])
            if second is not None:
                candidate = biases.bias_add(candidate, second[slices[2]])
            candidate = r * candidate
        else:
            candidate = matmul.matmul(r * hs[2], recurrent[:, slices[2]])
        hidden = self.activation(x[2] + candidate)
        h = z * previous + (1 - z) * hidden
        return h, [h]

    def _biases(self) -> tuple[Any, Any]:
        if self.bias is None:
            return None, None
        if not self.reset_after:
            return self.bias, None
        first, second = split.unstack(self.bias)
        return first, second

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {"reset_after": self.reset_after}
