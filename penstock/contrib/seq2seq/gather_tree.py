"""Whole beams: ``gather_tree`` of ids, ``gather_tree_from_array`` of anything a step gave."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph.build import make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import (
    cast,
    gather,
    join,
    nodes,
    onehot,
    ranges,
    reshape,
    shape,
    tile,
    transpose,
)
from penstock.ops.math import reductions, select


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Tensor:
    """The beams that the last step of a beam search ends with.

    Args:
      step_ids: int32 [time, batch, beam], the id that each beam was given in each step.
      parent_ids: the same shape: which beam of the step before it continues.
      max_sequence_lengths: int32 [batch], how many steps count.
      end_token: int32 scalar; after the first one in a beam there are only end tokens.

    Returns:
      int32 [time, batch, beam]; ``end_token`` after the end.

    Raises:
      InvalidArgumentError: a parent id that is no beam (in the run).

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     beams = tf.contrib.seq2seq.gather_tree(
    ...         [[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]], [2], end_token=9)
    ...     sess.run(beams).tolist()
    [[[2, 1]], [[3, 4]]]
    """
    return make_tensor(
        "GatherTree", step_ids, parent_ids, max_sequence_lengths, end_token, name=name
    )


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Tensor:
    """What belongs to each final beam, of what each step gave for each of its beams.

    Args:
      t: [time, batch * beam, ...] or [time, batch, beam, ...].
      parent_ids: int32 [time, batch, beam].
      sequence_length: [batch, beam].

    Returns:
      A tensor as ``t``.
    """
    max_time, batch_size, beam_width = (_dim(parent_ids, axis) for axis in range(3))
    beam_ids = reshape.expand_dims(reshape.expand_dims(ranges.range_(beam_width), 0), 0)
    beam_ids = tile.tile(beam_ids, [max_time, batch_size, 1])
    longest = cast.cast(reductions.reduce_max(sequence_length, axis=1), dtypes.int32)
    sorted_ids = gather_tree(beam_ids, parent_ids, longest, end_token=beam_width + 1)
    # After the end of a sequence every beam is its own.
    within = onehot.sequence_mask(sequence_length, maxlen=max_time)
    within = transpose.transpose(within, perm=[2, 0, 1])
    sorted_ids = select.where(within, x=sorted_ids, y=beam_ids)
    times = tile.tile(
        reshape.reshape(ranges.range_(max_time), [-1, 1, 1]), [1, batch_size, beam_width]
    )
    examples = tile.tile(
        reshape.reshape(ranges.range_(batch_size), [-1, 1, 1]), [1, max_time, beam_width]
    )
    examples = transpose.transpose(examples, perm=[1, 0, 2])
    indices = join.stack([times, examples, sorted_ids], -1)
    dims = shape.shape(t)
    flat = reshape.reshape(t, [max_time, batch_size, beam_width, -1])
    return reshape.reshape(gather.gather_nd(flat, indices), dims)


def _dim(tensor: Any, axis: int) -> Any:
    known = dimension.dimension_value(tensor.get_shape()[axis])
    return known or nodes.element(shape.shape(tensor), axis)
