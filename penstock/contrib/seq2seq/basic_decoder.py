"""``BasicDecoder``: a cell, a helper that says what to feed, and maybe a layer on the outputs."""

from __future__ import annotations

import collections
from typing import Any

from penstock.contrib.seq2seq.decoder import Decoder
from penstock.contrib.seq2seq.dense import is_layer
from penstock.contrib.seq2seq.helper import Helper
from penstock.foundation.base import shapes
from penstock.foundation.graph import nest, scopes
from penstock.library.recurrent.cell import assert_like_rnncell


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a step of ``BasicDecoder`` puts out: the outputs, and the ids that the helper drew."""

    __slots__ = ()


class BasicDecoder(Decoder):
    """Decodes with a cell.

    Args:
      cell: an RNN cell.
      helper: a ``Helper``.
      initial_state: state of the cell before the first step.
      output_layer: layer applied to the cell's outputs before ids are drawn and outputs kept: a
        callable with ``compute_output_shape``.

    Raises:
      TypeError: an argument is of the wrong kind.
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not is_layer(output_layer):
            raise TypeError(
                "output_layer must be a layer (callable, with compute_output_shape), received:"
                f" {type(output_layer)}"
            )
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """The helper's."""
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        """Sizes of outputs and ids."""
        return BasicDecoderOutput(
            rnn_output=output_size_of(self._cell, self._output_layer),
            sample_id=self._helper.sample_ids_shape,
        )

    @property
    def output_dtype(self) -> Any:
        """Outputs are of the type of the first part of the state."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        sizes = output_size_of(self._cell, self._output_layer)
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, sizes), self._helper.sample_ids_dtype
        )

    def initialize(self, name: str | None = None) -> Any:
        """Returns the helper's (finished, first inputs), and the initial state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Calls the cell, and asks the helper."""
        with scopes.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished


def output_size_of(cell: Any, output_layer: Any) -> Any:
    """Size of a cell's outputs after a layer, without the batch."""
    size = cell.output_size
    if output_layer is None:
        return size
    batched = nest.map_structure(
        lambda one: shapes.TensorShape([None]).concatenate(
            one if isinstance(one, shapes.TensorShape) else [one]
        ),
        size,
    )
    found = output_layer.compute_output_shape(batched)
    if isinstance(found, tuple | list) and all(isinstance(d, int | None) for d in found):
        found = shapes.TensorShape(found)
    return nest.map_structure(lambda one: shapes.as_shape(one)[1:], found)
