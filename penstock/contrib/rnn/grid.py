"""LSTMs over time and frequency: a cell runs over windows of the features, from one to the next.

``TimeFreqLSTMCell`` (Li et al., 2015), ``GridLSTMCell`` and ``BidirectionalGridLSTMCell``
(Kalchbrenner et al., 2015; Li et al., 2016).
"""

from __future__ import annotations

import collections
from typing import Any

from penstock.contrib.rnn.linear import sharded
from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.tensor import Tensor
from penstock.library.recurrent.cell import RNNCell
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, join, nodes, pad, shape, slicing, split
from penstock.ops.linalg import matmul
from penstock.ops.math import clip, elementwise
from penstock.ops.nn import bias


def _width(inputs: Any) -> int:
    width = inputs.get_shape().with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return int(width)


def _clipped(value: Any, limit: float | None) -> Any:
    return value if limit is None else clip.clip_by_value(value, -limit, limit)


def _zero_bias(name: str, size: int, dtype: Any) -> Any:
    return get_variable(
        name, shape=[size], initializer=initializers.zeros_initializer(), dtype=dtype
    )


class TimeFreqLSTMCell(RNNCell):
    """LSTM that runs over windows of the features, each with its own state.

    The state holds c and m of all windows: [batch, 2 units windows].

    Args:
      num_units: units a window.
      use_peepholes: whether the gates see the memory.
      cell_clip: the memory is clipped to [-cell_clip, cell_clip].
      initializer: not used, as in TensorFlow 1.15.
      num_unit_shards: into how many variables the weights are cut.
      forget_bias: added to the forget gate's.
      feature_size: size of a window.
      frequency_skip: distance of the windows.
      reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._num_unit_shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip

    @property
    def state_size(self) -> Any:
        """Twice the number of units: the state of one window."""
        return 2 * self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units: the output of one window."""
        return self._num_units

    def _windows(self, inputs: Any) -> list[Tensor]:
        size, skip = self._feature_size or 0, self._frequency_skip
        count = int((_width(inputs) - size) / skip) + 1
        return [slicing.slice_(inputs, [0, f * skip], [-1, size]) for f in range(count)]

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        units, sigmoid, tanh = self._num_units, elementwise.sigmoid, elementwise.tanh
        windows, dtype = self._windows(inputs), inputs.dtype
        rows = (self._feature_size or 0) + 2 * units
        kernel = sharded("W", [rows, 4 * units], dtype, self._num_unit_shards)
        biases = _zero_bias("B", 4 * units, dtype)
        w_f: Any = None
        w_i: Any = None
        w_o: Any = None
        if self._use_peepholes:
            w_f, w_i, w_o = (
                get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO"
            )
        batch = dimension.dimension_value(inputs.get_shape()[0])
        m_before = fill.zeros([batch, units], dtype)
        states: list[Any] = []
        outputs: list[Any] = []
        for index, window in enumerate(windows):
            c_prev = slicing.slice_(state, [0, 2 * index * units], [-1, units])
            m_prev = slicing.slice_(state, [0, (2 * index + 1) * units], [-1, units])
            joined = join.concat([window, m_prev, m_before], 1)
            gates = bias.bias_add(matmul.matmul(joined, kernel), biases)
            i, j, f, o = split.split(value=gates, num_or_size_splits=4, axis=1)
            f = f + self._forget_bias
            if w_f is not None:
                kept = sigmoid(f + w_f * c_prev) * c_prev
                c = kept + sigmoid(i + w_i * c_prev) * tanh(j)
            else:
                c = sigmoid(f) * c_prev + sigmoid(i) * tanh(j)
            c = _clipped(c, self._cell_clip)
            m = sigmoid(o if w_o is None else o + w_o * c) * tanh(c)
            m_before = m
            if index == 0:
                states, outputs = [join.concat([c, m], 1)], [m]
            else:
                states = [join.concat([states[0], c, m], 1)]
                outputs = [join.concat([outputs[0], m], 1)]
        return outputs[0], states[0]


class _Weights:
    """The variables of one block of windows, and the gates that they make.

    ``freq`` and ``time`` are the two LSTMs: over the windows of a step, and over steps.
    """

    def __init__(self, cell: GridLSTMCell, block: int, width: int, dtype: Any) -> None:
        self._cell = cell
        units, self._gates = cell._num_units, 3 if cell._couple else 4
        size = self._gates * units
        names = ["f"] if cell._share else ["f", "t"]
        self._kernels = []
        for name in names:
            kernel = sharded(
                f"W_{name}_{block}", [width + 2 * units, size], dtype, cell._num_unit_shards
            )
            self._kernels.append((kernel, _zero_bias(f"B_{name}_{block}", size, dtype)))
        self._diagonals: dict[str, Any] = {}
        if cell._use_peepholes:
            for kind in ["freq"] if cell._share else ["freq", "time"]:
                for gate in "IO" if cell._couple else "FIO":
                    for of in "ft":
                        key = f"{gate}_diag_{kind}{of}"
                        self._diagonals[key] = get_variable(
                            f"W_{key}_{block}", shape=[units], dtype=dtype
                        )

    def split(self, joined: Tensor, time: bool) -> list[Any]:
        """The gates i, j, f (None if coupled) and o."""
        kernel, biases = self._kernels[-1 if time else 0]
        gates = bias.bias_add(matmul.matmul(joined, kernel), biases)
        parts = split.split(value=gates, num_or_size_splits=self._gates, axis=1)
        return [parts[0], parts[1], None, parts[2]] if self._cell._couple else parts

    def seen(self, gate: str, value: Any, time: bool, c_freq: Any, c_time: Any) -> Any:
        """A gate that sees the two memories, if there are peepholes."""
        if not self._cell._use_peepholes:
            return elementwise.sigmoid(value)
        kind = "time" if time and not self._cell._share else "freq"
        of_f = self._diagonals[f"{gate}_diag_{kind}f"]
        of_t = self._diagonals[f"{gate}_diag_{kind}t"]
        return elementwise.sigmoid(value + of_f * c_freq + of_t * c_time)


class GridLSTMCell(RNNCell):
    """LSTM over time and over windows of the features, both with weights.

    Args:
      num_units: units a window.
      use_peepholes: whether the gates see the memories.
      share_time_frequency_weights: whether both directions have the same weights.
      cell_clip: memories are clipped to [-cell_clip, cell_clip].
      initializer: not used, as in TensorFlow 1.15.
      num_unit_shards: into how many variables the weights are cut.
      forget_bias: added to the forget gates'.
      feature_size: size of a window.
      frequency_skip: distance of the windows.
      num_frequency_blocks: list, one a block, of how many windows it has.
      start_freqindex_list, end_freqindex_list: where the blocks begin and end; None is one block
        of the whole input.
      couple_input_forget_gates: whether the forget gate is one minus the input gate.
      state_is_tuple: whether the state is a namedtuple of c and m of each window.
      reuse: whether the variables exist already.

    Raises:
      ValueError: ``num_frequency_blocks`` is missing, or does not fit the input (when called).
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("num_frequency_blocks must be given: one number of windows a block")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._share, self._couple = share_time_frequency_weights, couple_input_forget_gates
        self._num_unit_shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._skip = feature_size or 0, frequency_skip or 1
        self._blocks = list(num_frequency_blocks)
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._state_is_tuple = state_is_tuple
        self._tuple = self._named_states("GridLSTMStateTuple", [""]) if state_is_tuple else None

    def _named_states(self, name: str, prefixes: list[str]) -> Any:
        fields = [
            f"{prefix}state_f{freq:02d}_b{block:02d}_{part}"
            for prefix in prefixes
            for block, count in enumerate(self._blocks)
            for freq in range(count)
            for part in "cm"
        ]
        return collections.namedtuple(name, fields)

    @property
    def state_size(self) -> Any:
        """A namedtuple of sizes; their sum if the state is no tuple."""
        if self._tuple is None:
            return self.output_size
        return self._tuple(*[self._num_units] * len(self._tuple._fields))

    @property
    def output_size(self) -> Any:
        """Both outputs of all windows."""
        return 2 * self._num_units * sum(self._blocks)

    @property
    def state_tuple_type(self) -> Any:
        """The namedtuple of states."""
        return self._tuple

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        batch = _batch_size(inputs)
        outputs: list[Any] = []
        states: list[Any] = []
        for block, windows in enumerate(self._windows(inputs)):
            m, new = self._compute(windows, block, state, batch, "")
            outputs += m
            states += new
        new_state = join.concat(states, 1) if self._tuple is None else self._tuple(*states)
        return join.concat(outputs, 1), new_state

    def _windows(self, inputs: Any, offset: int = 0) -> list[list[Tensor]]:
        """The windows of each block, shifted by ``offset`` features."""
        width, size, skip = _width(inputs), self._feature_size, self._skip
        if offset:
            before, after = max(-offset, 0), max(offset, 0)
            paddings = constant([[0, 0], [before, after]], dtypes.int32)
            inputs, offset = pad.pad(inputs, paddings, "CONSTANT"), max(offset, 0)
        if not self._starts:
            if len(self._blocks) != 1:
                raise ValueError(
                    f"Length of num_frequency_blocks is not 1, but instead is {len(self._blocks)}"
                )
            bounds = [(0, width)]
        else:
            if len(self._starts) != len(self._ends):
                raise ValueError(
                    "Length of start and end freqindex_list does not match:"
                    f" {len(self._starts)}, {len(self._ends)}"
                )
            if len(self._blocks) != len(self._starts):
                raise ValueError(
                    "Length of num_frequency_blocks is not equal to start_freqindex_list:"
                    f" {len(self._blocks)}, {len(self._starts)}"
                )
            bounds = list(zip(self._starts, self._ends, strict=True))
        blocks = []
        for block, (start, end) in enumerate(bounds):
            count = int((end - start - size) / skip) + 1
            if count != self._blocks[block]:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets"
                    f" {self._blocks[block]}, please check the input size and filter config are"
                    " correct."
                )
            begins = [start + offset + f * skip for f in range(count)]
            blocks.append([slicing.slice_(inputs, [0, b], [-1, size]) for b in begins])
        return blocks

    def _compute(
        self, windows: list[Any], block: int, state: Any, batch: Any, prefix: str
    ) -> tuple[list[Any], list[Any]]:
        """Outputs and new states of the windows of a block."""
        units, dtype = self._num_units, windows[0].dtype
        weights = _Weights(self, block, windows[0].get_shape().as_list()[1], dtype)
        m_freq = fill.zeros([batch, units], dtype)
        c_freq = fill.zeros([batch, units], dtype)
        outputs, states = [], []
        for index, window in enumerate(windows):
            if self._state_is_tuple:
                name = f"{prefix}state_f{index:02d}_b{block:02d}"
                c_time, m_time = getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
            else:
                c_time = slicing.slice_(state, [0, 2 * index * units], [-1, units])
                m_time = slicing.slice_(state, [0, (2 * index + 1) * units], [-1, units])
            joined = join.concat([window, m_time, m_freq], 1)
            m_freq, c_freq, m_time, c_time = self._both(weights, joined, c_freq, c_time)
            outputs += [m_time, m_freq]
            states += [c_time, m_time]
        return outputs, states

    def _both(self, weights: _Weights, joined: Any, c_freq: Any, c_time: Any) -> Any:
        """One window in both directions; returns m and c over frequency, then over time."""
        freq = weights.split(joined, False)
        time = freq if self._share else weights.split(joined, True)
        new = []
        for gates, is_time, own in ((freq, False, c_freq), (time, True, c_time)):
            i, j, f, _ = gates
            i = weights.seen("I", i, is_time, c_freq, c_time)
            if f is None:
                f = 1.0 - i
            else:
                f = weights.seen("F", f + self._forget_bias, is_time, c_freq, c_time)
            new.append(_clipped(f * own + i * elementwise.tanh(j), self._cell_clip))
        m_freq = weights.seen("O", freq[3], False, *new) * elementwise.tanh(new[0])
        m_time = weights.seen("O", time[3], True, *new) * elementwise.tanh(new[1])
        return m_freq, new[0], m_time, new[1]


class BidirectionalGridLSTMCell(GridLSTMCell):
    """``GridLSTMCell`` that runs over the windows in both directions.

    Args:
      backward_slice_offset: by how many features the windows of the backward direction are
        shifted.
      num_units and the others: as of ``GridLSTMCell``.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
            num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
            start_freqindex_list, end_freqindex_list, couple_input_forget_gates, True, reuse,
        )  # fmt: skip
        self._offset = backward_slice_offset
        self._tuple = self._named_states("BidirectionalGridLSTMStateTuple", ["fwd_", "bwd_"])

    @property
    def output_size(self) -> Any:
        """Both outputs of all windows, in both directions."""
        return 2 * super().output_size

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        batch = _batch_size(inputs)
        forward = self._windows(inputs)
        backward = self._windows(inputs, self._offset) if self._offset else forward
        outputs: list[Any] = []
        states: list[Any] = []
        for direction, blocks in (("fwd", forward), ("bwd", backward)):
            with variable_scope(direction):
                for block, windows in enumerate(blocks):
                    if direction == "bwd":
                        windows = windows[::-1]
                    m, new = self._compute(windows, block, state, batch, f"{direction}_")
                    outputs += m
                    states += new
        assert self._tuple is not None
        return join.concat(outputs, 1), self._tuple(*states)


def _batch_size(inputs: Any) -> Any:
    known = dimension.dimension_value(inputs.get_shape()[0])
    return nodes.element(shape.shape(inputs), 0) if known is None else known
