"""``AttentionWrapper``: a cell that looks at memories, and its state."""

from __future__ import annotations

import collections
from typing import Any

from penstock.contrib.seq2seq.attention import AttentionMechanism, dim_of
from penstock.contrib.seq2seq.dense import Dense
from penstock.contrib.seq2seq.same_shape import with_same_shape
from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.recurrent.cell import RNNCell, assert_like_rnncell, zeros_of
from penstock.ops.array import fill, join, nodes, onehot, reshape, shape, squeeze
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul
from penstock.ops.math import argmax


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """One at the largest of each row, zeros elsewhere.

    Args:
      logits: [..., size] tensor.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     sess.run(tf.contrib.seq2seq.hardmax([[1.0, 3.0, 2.0]])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    with scopes.name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth: Any = dimension.dimension_value(logits.get_shape()[-1])
        if depth is None:
            depth = nodes.element(shape.shape(logits), -1)
        return onehot.one_hot(argmax.argmax(logits, -1), depth, dtype=logits.dtype)


class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "time",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """State of an ``AttentionWrapper``.

    ``cell_state`` is the cell's, ``attention`` [batch, size] what was attended to last, ``time`` an
    int32 scalar; ``alignments``, ``alignment_history`` (a TensorArray, or ``()``) and
    ``attention_state`` are one for the mechanism, or a tuple with one for each.
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with other parts, which must have the shapes of those they replace.

        Raises:
          ValueError: the shape of a part differs.
        """
        changed = super()._replace(**kwargs)
        return nest.map_structure(with_same_shape, self, changed)  # type: ignore[no-any-return]


class AttentionWrapper(RNNCell):
    """A cell whose input is joined with what it attended to in the step before.

    Args:
      cell: a cell.
      attention_mechanism: an ``AttentionMechanism`` or a list of several.
      attention_layer_size: size of the attention, made by a layer of output and context; a list
        for several mechanisms.  None: the attention is the context.
      alignment_history: whether the state keeps the alignments of all steps.
      cell_input_fn: from (inputs, attention) to the cell's input; default joins them.
      output_attention: whether the output is the attention, or the cell's output.
      initial_cell_state: what ``zero_state`` gives as the cell's.
      name: name of the variable scope.
      attention_layer: the layer itself, instead of its size; a list for several mechanisms.
      attention_fn: from (mechanism, cell output, its state, its layer) to (attention,
        alignments, next state); default the mechanism's alignments and the layer.
      dtype: element type of variables.

    Raises:
      TypeError: an argument is of the wrong kind.
      ValueError: layers do not fit the mechanisms.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Any = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: Any = None,
        attention_layer: Any = None,
        attention_fn: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        mechanisms = attention_mechanism if self._is_multi else (attention_mechanism,)
        for one in mechanisms:
            if not isinstance(one, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must be an AttentionMechanism or a list of those, saw"
                    f" type: {type(one).__name__}"
                )
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell, self._attention_mechanisms = cell, mechanisms
        self._cell_input_fn = cell_input_fn or (
            lambda inputs, attention: join.concat([inputs, attention], -1)
        )
        self._attention_fn = attention_fn or _attend
        self._output_attention, self._alignment_history = output_attention, alignment_history
        self._attention_layers: Any = None
        self._attention_layer_size = self._layers_for(attention_layer_size, attention_layer)
        with scopes.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = self._checked_initial(initial_cell_state)

    def _layers_for(self, sizes: Any, layers: Any) -> int:
        """Sets the layers; returns the size of the attention."""
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if sizes is not None:
            sizes = tuple(sizes if isinstance(sizes, list | tuple) else (sizes,))
            _check_count("attention_layer_size", sizes, mechanisms)
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=one.dtype)
                for size, one in zip(sizes, mechanisms, strict=True)
            )
            return sum(sizes)
        widths = [dimension.dimension_value(one.values.get_shape()[-1]) for one in mechanisms]
        if layers is None:
            return sum(widths)
        layers = tuple(layers if isinstance(layers, list | tuple) else (layers,))
        _check_count("attention_layer", layers, mechanisms)
        self._attention_layers = layers
        return sum(
            dimension.dimension_value(
                shapes.as_shape(layer.compute_output_shape([None, self._cell.output_size + width]))[
                    -1
                ]
            )
            for layer, width in zip(layers, widths, strict=True)
        )

    def _checked_initial(self, state: Any) -> Any:
        if state is None:
            return None
        last = nest.flatten(state)[-1]
        message = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes"
            " between the memory (encoder output) and initial_cell_state."
        ) + _TILING
        with scopes.control_dependencies(self._batch_size_checks(dim_of(last, 0), message)):
            return nest.map_structure(
                lambda one: control.identity(one, name="check_initial_cell_state"), state
            )

    def _batch_size_checks(self, batch_size: Any, message: str) -> list[Any]:
        return [
            check.assert_equal(batch_size, one.batch_size, message=message)
            for one in self._attention_mechanisms
        ]

    def _item_or_tuple(self, parts: Any) -> Any:
        found = tuple(parts)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Any:
        """Size of the attention, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        """Sizes of the parts of the state."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=shapes.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(one.alignments_size for one in mechanisms),
            attention_state=self._item_or_tuple(one.state_size for one in mechanisms),
            alignment_history=self._item_or_tuple(
                one.alignments_size if self._alignment_history else () for one in mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state before the first step.

        Args:
          batch_size: int or scalar tensor; that of the memories (checked in the run).
          dtype: element type.
        """
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            else:
                cell_state = self._cell.zero_state(batch_size, dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching"
                " batch sizes between the memory (encoder output) and the requested batch size."
            ) + _TILING
            with scopes.control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(
                    lambda one: control.identity(one, name="checked_cell_state"), cell_state
                )
            mechanisms = self._attention_mechanisms
            alignments = [one.initial_alignments(batch_size, dtype) for one in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=fill.zeros([], dtype=dtypes.int32),
                attention=zeros_of(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    one.initial_state(batch_size, dtype) for one in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=one.get_shape())
                    if self._alignment_history
                    else ()
                    for one in alignments
                ),
            )

    def call(self, inputs: Any, state: Any) -> Any:
        """One step.

        Raises:
          TypeError: the state is no ``AttentionWrapperState``.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type"
                f" {type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(cell_inputs, state.cell_state)
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the"
            " memory (encoder output) and the query (decoder output)."
        ) + _TILING
        with scopes.control_dependencies(self._batch_size_checks(dim_of(output, 0), message)):
            output = control.identity(output, name="checked_cell_output")
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        attended, alignments, next_states, next_histories = [], [], [], []
        for index, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[index] if self._attention_layers else None
            attention, aligned, next_state = self._attention_fn(
                mechanism, output, states[index], layer
            )
            history = ()
            if self._alignment_history:
                history = histories[index].write(state.time, aligned)
            attended.append(attention)
            alignments.append(aligned)
            next_states.append(next_state)
            next_histories.append(history)
        attention = join.concat(attended, 1)
        following = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(next_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(next_histories),
        )
        return (attention if self._output_attention else output), following


_TILING = (
    "  Are you using the BeamSearchDecoder?  You may need to tile your memory input via the"
    " tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
)


def _check_count(which: str, given: tuple[Any, ...], mechanisms: Any) -> None:
    if len(given) != len(mechanisms):
        raise ValueError(
            f"If provided, {which} must contain exactly one integer or layer per"
            f" attention_mechanism, saw: {len(given)} vs {len(mechanisms)}"
        )


def _attend(mechanism: Any, cell_output: Tensor, state: Any, layer: Any) -> Any:
    """The attention, the alignments and the next state of one mechanism."""
    alignments, next_state = mechanism(cell_output, state=state)
    context = matmul.matmul(reshape.expand_dims(alignments, 1), mechanism.values)
    context = squeeze.squeeze(context, [1])
    if layer is None:
        return context, alignments, next_state
    return layer(join.concat([cell_output, context], 1)), alignments, next_state
