"""Long sequences in segments of one length, with a state that goes from segment to segment.

Each example enters a barrier as one element a segment, whose key says which of how many it is. An
element is whole, and can be taken, once its state is there: that of the first segment comes with
the example, every other when ``save_state`` is run for the segment before it. A queue beside it
counts the examples that are not done, so that no more than ``capacity`` come in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.ragged_tensors.dispatched import (
    as_string,
    cast,
    concat,
    expand_dims,
    gather,
    identity,
    logical_not,
    reduce_all,
    reduce_sum,
    squeeze,
    stack,
    string_join,
    tile,
    where,
)
from penstock.ops.array.fill import fill, ones
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.slicing import slice_
from penstock.ops.control.control import group
from penstock.ops.control.debug import Assert
from penstock.ops.math.binary import maximum, minimum
from penstock.ops.math.comparison import equal, greater_equal, less_equal
from penstock.ops.random.random import random_uniform
from penstock.storage.summary.build import scalar as scalar_summary
from penstock.training.data.barriers import Barrier
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue

Tensors = Mapping[str, Any]


def _checked(value: Any, condition: Any, *said: Any) -> Any:
    """The value, once a condition holds in the run."""
    with control_dependencies([Assert(condition, list(said))]):
        return identity(value)


def _sorted_tensors(given: Tensors, what: str) -> OrderedDict[str, Any]:
    """The tensors of a dict in the order of their names."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} must be a dict of tensors; found {type(given).__name__}")
    return OrderedDict((k, convert_to_tensor(given[k], name=f"convert_{k}")) for k in sorted(given))


class SequenceQueueingStateSaver:
    """Splits sequences into segments, batches these, and keeps a state of each example.

    Args:
      batch_size: segments of a batch; int or int32 scalar.
      num_unroll: steps of a segment.
      input_length: int32 scalar: steps of this example before padding.
      input_key: string scalar: a name that no other example has while this one is in.
      input_sequences: dict of tensors [steps, ...]; steps a multiple of ``num_unroll``.
      input_context: dict of tensors that all segments of the example get.
      initial_states: dict of the states of the first segment.
      capacity: how many examples are in at most; default any number.
      allow_small_batch: whether batches shrink when the last examples run out.
      name: name scope.

    Raises:
      TypeError: no dict where one is wanted.
      ValueError: shapes that are not known as far as they must be.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Tensors,
        input_context: Tensors,
        initial_states: Tensors,
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        if capacity is not None and isinstance(batch_size, int) and capacity < batch_size:
            raise ValueError(f"capacity must be >= batch_size; found {capacity} and {batch_size}")
        self._slots = FIFOQueue(
            capacity=-1 if capacity is None else capacity, dtypes=[dtypes.int32], shapes=[[]]
        )
        with name_scope(name, "InputQueueingStateSaver") as scope:
            self._scope = scope
            self._batch_size, self._num_unroll = batch_size, num_unroll
            self._allow_small_batch = allow_small_batch
            self._sequences = _sorted_tensors(input_sequences, "input_sequences")
            self._context = _sorted_tensors(input_context, "input_context")
            self._states = _sorted_tensors(initial_states, "initial_states")
            self._key = _scalar(input_key, dtypes.string, "input_key")
            length = _scalar(input_length, dtypes.int32, "input_length")
            self._length, self._padded = self._checked_lengths(length)
            self._barrier = Barrier(*self._components())
        ready = cast(self._barrier.ready_size(), dtypes.float32)
        scalar_summary(f"queue/{self._barrier.name}/ready_segment_batches_", ready)
        self._prefetch_op: Any = None
        self._next_batch: NextQueuedSequenceBatch | None = None

    def _checked_lengths(self, length: Any) -> tuple[Any, Any]:
        """The length, and the steps that all sequences have, once they fit."""
        steps = [(k, shape(v)[0]) for k, v in self._sequences.items()]
        if not steps:
            raise ValueError("input_sequences must have a sequence at least; found none")
        padded: Any = identity(steps[0][1], name="padded_length")
        padded = _checked(
            padded, equal(padded % self._num_unroll, 0),
            f"Dimension of padded_length should be a multiple of num_unroll {self._num_unroll}"
            ", but saw value: ", padded, " (did you pad?)",
        )  # fmt: skip
        for key, found in steps[1:]:
            padded = _checked(
                padded, equal(padded, found), f"Dimension 0 of tensor labeled {key} should be: ",
                padded, ", shape received: ", found,
            )  # fmt: skip
        length = _checked(
            length, less_equal(length, padded), "Input length should be <= than length from"
            " sequences: ", length, " vs. ", padded,
        )  # fmt: skip
        return length, padded

    def _components(self) -> tuple[list[Any], list[Any]]:
        """Types and shapes of the barrier's components."""
        kinds = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
        dims: list[Any] = [[]] * len(kinds)
        for key, tensor in self._sequences.items():
            kinds.append(tensor.dtype.base_dtype)
            dims.append([self._num_unroll, *_known_dims(key, tensor.get_shape()[1:])])
        for key, tensor in [*self._context.items(), *self._states.items()]:
            kinds.append(tensor.dtype.base_dtype)
            dims.append(_known_dims(key, tensor.get_shape()))
        return kinds, dims

    @property
    def name(self) -> str:
        """The name scope."""
        return self._scope

    @property
    def barrier(self) -> Any:
        """The barrier that segments wait in."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """Segments of a batch."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """Steps of a segment."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Any:
        """An operation that takes one example in; made at the first call."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._scope):
                self._prefetch_op = self._prefetch()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The batch of segments that a step takes; made at the first call."""
        if self._next_batch is None:
            with name_scope(None), name_scope(self._scope):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An operation after which no new example is taken in.

        Args:
          cancel_pending_enqueues: whether steps that wait to put one in fail.
          name: name scope; default "SQSSClose".
        """
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            closed = self._barrier.close(cancel_pending_enqueues, name="BarrierClose")
            slots = self._slots.close(cancel_pending_enqueues, name="FIFOClose")
            return group(closed, slots, name=scope)

    def _prefetch(self) -> Any:
        """Enters all segments of an example; then its place, then its first state."""
        steps = self._num_unroll
        count: Any = self._padded // steps
        alike = ones(expand_dims(count, 0), dtypes.int32)
        number: Any = range_(count)
        lengths = minimum(steps, maximum(0, self._length - steps * number))
        keys = string_join(
            [as_string(number, width=5, fill="0"), "_of_", as_string(count, width=5, fill="0"),
             ":", self._key],
            name="StringJoinCurrentKeys",
        )  # fmt: skip
        stop = string_join(["STOP:", self._key], name="StringJoinStop")
        following = concat(
            [slice_(keys, [1], [-1]), expand_dims(stop, 0)], 0, name="concat_next_keys"
        )
        rows = [lengths, self._length * alike, following, number, count * alike]
        rows += [self._segmented(count, v) for v in self._sequences.values()]
        rows += [self._repeated(count, v) for v in self._context.values()]
        entered = [self._barrier.insert_many(i, keys, row) for i, row in enumerate(rows)]
        with control_dependencies(entered):
            entered.append(self._slots.enqueue([0]))
            first: Any = stack([keys[0]])
            for index, state in enumerate(self._states.values(), len(rows)):
                entered.append(self._barrier.insert_many(index, first, stack([state])))
        return group(*entered, name="StateSaverPrefetchGroup")

    def _segmented(self, count: Any, sequence: Any) -> Any:
        dims = sequence.get_shape().as_list()[1:]
        return reshape(sequence, [count, self._num_unroll, *dims])

    def _repeated(self, count: Any, context: Any) -> Any:
        return tile(expand_dims(context, 0), [count] + [1] * context.get_shape().ndims)


def _scalar(value: Any, dtype: Any, what: str) -> Any:
    tensor = convert_to_tensor(value, dtype, name=what)
    tensor.get_shape().assert_is_compatible_with([])
    return tensor


def _known_dims(key: str, dims: Any) -> list[int]:
    if not dims.is_fully_defined():
        raise ValueError(
            f"Shape of {key} must be known, but for the steps of a sequence; found {dims}"
        )
    return list(dims.as_list())


class NextQueuedSequenceBatch:
    """The batch of segments that a step takes out of a ``SequenceQueueingStateSaver``.

    Made by its ``next_batch``. Each segment can be taken once the state of the one before it is
    saved; ``state`` and ``save_state`` make it the ``state_saver`` of ``static_state_saving_rnn``.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._saver = saver = state_saver
        taken = saver._barrier.take_many(
            saver._batch_size, saver._allow_small_batch, name="BarrierTakeMany"
        )
        self._insertion_index, self._keys, values = taken.indices, taken.keys, taken.values
        self._length, self._total_length, self._next_key, self._sequence, self._count = values[:5]
        self._batch_size: Any = squeeze(shape(self._length))
        rest = iter(values[5:])
        self._sequences = OrderedDict((k, next(rest)) for k in saver._sequences)
        self._context = OrderedDict((k, next(rest)) for k in saver._context)
        waiting = {k: next(rest) for k in saver._states}
        self._last = greater_equal(self._sequence + 1, self._count)
        # Those that end give their places back.
        ended = reduce_sum(cast(self._last, dtypes.int32))
        with control_dependencies([saver._slots.dequeue_many(ended)]):
            self._states = OrderedDict((k, identity(v)) for k, v in waiting.items())

    @property
    def batch_size(self) -> Any:
        """int32 scalar: how many segments there are."""
        return self._batch_size

    @property
    def total_length(self) -> Any:
        """int32 [batch]: steps of the whole example before padding."""
        return self._total_length

    @property
    def length(self) -> Any:
        """int32 [batch]: steps of this segment before padding."""
        return self._length

    @property
    def insertion_index(self) -> Any:
        """int64 [batch]: from -2^63 in the order in which examples came in."""
        return self._insertion_index

    @property
    def key(self) -> Any:
        """Strings [batch]: "00000_of_00003:" and the example's key."""
        return self._keys

    @property
    def next_key(self) -> Any:
        """Strings [batch]: the key of the following segment; "STOP:" and the key after the last."""
        return self._next_key

    @property
    def sequence(self) -> Any:
        """int32 [batch]: the number of the segment."""
        return self._sequence

    @property
    def sequence_count(self) -> Any:
        """int32 [batch]: how many segments the example has."""
        return self._count

    @property
    def context(self) -> OrderedDict[str, Any]:
        """What all segments of an example get, [batch, ...]."""
        return self._context

    @property
    def sequences(self) -> OrderedDict[str, Any]:
        """The segments, [batch, num_unroll, ...]."""
        return self._sequences

    def state(self, state_name: str) -> Any:
        """The state at the beginning of the segment, [batch, ...].

        Raises:
          KeyError: no such state.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}; there are {list(self._states)}")
        return self._states[state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Any:
        """An operation that gives the next segment its state.

        Args:
          state_name: one of ``initial_states``.
          value: [batch, ...]: the state at the end of this segment.
          name: name scope.

        Raises:
          KeyError: no such state.
          InvalidArgumentError: in the run, a value of another shape.
        """
        before = self.state(state_name)
        saver = self._saver
        index = (
            5 + len(saver._sequences) + len(saver._context) + list(self._states).index(state_name)
        )
        with name_scope(name, "InputQueueingStateSaver_SaveState"):
            goes_on = reshape(where(logical_not(self._last)), [-1])
            value = convert_to_tensor(value, before.dtype.base_dtype, name=f"convert_{state_name}")
            value = _checked(
                value, reduce_all(equal(shape(before), shape(value))),
                f"Tensor value {state_name} should have shape: ", shape(before),
                ", shape received: ", shape(value),
            )  # fmt: skip
            keys, rows = gather(self._next_key, goes_on), gather(value, goes_on)
            return saver._barrier.insert_many(
                index, keys, rows, name=f"BarrierInsertState_{state_name}"
            )


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: Tensors,
    input_context: Tensors,
    input_length: Any,
    initial_states: Tensors,
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of segments of sequences, with a queue runner that takes examples in.

    Args:
      input_key: string scalar: a name that no other example has while this one is in.
      input_sequences: dict of tensors [steps, ...].
      input_context: dict of tensors that all segments of the example get.
      input_length: int32 scalar: steps that count; None for all, which needs ``pad``.
      initial_states: dict of the states of the first segment.
      num_unroll: steps of a segment.
      batch_size: segments of a batch.
      num_threads: threads that take examples in.
      capacity: how many examples are in at most.
      allow_small_batch: whether batches shrink when the last examples run out.
      pad: whether sequences are filled up with zeros or "" to a multiple of ``num_unroll``.
      make_keys_unique: whether a number drawn at random is appended to the key.
      make_keys_unique_seed: op-level seed of that draw.
      name: name scope.

    Returns:
      A ``NextQueuedSequenceBatch``.

    Raises:
      ValueError: neither a length nor padding.
    """
    with name_scope(name, "batch_sequences_with_states", [input_key, input_length]):
        if not pad and input_length is None:
            raise ValueError("if pad is False, then input_length must be specified")
        given = _sorted_tensors(input_sequences, "input_sequences")
        if pad:
            found, given = _padded(given, num_unroll)
            input_length = found if input_length is None else input_length
        if make_keys_unique:
            drawn = random_uniform(
                [], maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed
            )
            input_key = string_join([input_key, as_string(drawn)])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length, input_key, given, input_context, initial_states,
            capacity=capacity, allow_small_batch=allow_small_batch,
        )  # fmt: skip
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads))
        return saver.next_batch


def _padded(given: Tensors, multiple: int) -> tuple[Any, OrderedDict[str, Any]]:
    """The steps before padding, and the sequences padded."""
    length: Any = None
    padded = OrderedDict()
    for key, tensor in given.items():
        steps: Any = shape(tensor)[0]
        if length is None:
            length = steps
        steps = _checked(
            steps, equal(steps, length), f"Tensor {key} must have the first dim of the others: ",
            length, ", found ", steps,
        )  # fmt: skip
        missing: Any = -steps % multiple
        rest = concat([expand_dims(missing, 0), shape(tensor)[1:]], 0)
        empty = "" if tensor.dtype == dtypes.string else 0
        made = concat([tensor, fill(rest, convert_to_tensor(empty, tensor.dtype))], 0)
        made.set_shape([None, *tensor.get_shape().as_list()[1:]])
        padded[key] = made
    return length, padded
