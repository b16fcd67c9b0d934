"""A signal cut into frames that overlap, and frames added up to a signal.

Both work on pieces that are as long as steps and frames have in common, so that a frame is a few
rows of a matrix, and neither needs a row for each sample.
"""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array import (
    fill,
    gather,
    join,
    pad,
    ranges,
    ranks,
    reshape,
    shape as shapes,
    slicing,
    split,
    transpose as movement,
)
from penstock.ops.math import elementwise, reduction


def scalar(value: Any, name: str) -> Any:
    """``value`` as a scalar tensor.

    Raises:
      ValueError: it has dims.
    """
    made = convert_to_tensor(value, name=name)
    made.shape.assert_has_rank(0)
    return made


# ---- frames of a signal --------------------------------------------------------------------------


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0,
    axis: int = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Cuts one dim into frames, which may overlap or leave gaps.

    Args:
      signal: [..., samples, ...] of rank 1 at least.
      frame_length: samples of a frame, an integer scalar.
      frame_step: samples from one frame's start to the next one's.
      pad_end: whether frames go on until the last begins at the end; what is missing is filled.
      pad_value: what it is filled with.
      axis: the dim that is cut.

    Returns:
      [..., frames, frame_length, ...] of the type of ``signal``.

    Raises:
      IndexError: an axis that ``signal`` has not.
      ValueError: a length or step that is no scalar.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.signal.frame([1, 2, 3, 4, 5], 3, 2)).tolist()
      [[1, 2, 3], [3, 4, 5]]
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(1)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        place = scalar(axis, "axis")
        if not place.dtype.is_integer:
            raise TypeError(f"axis must be an integer; found {place.dtype.name}")
        known = _static_frames(signal, length, step, pad_end, place)
        made: Tensor = _frame(signal, length, step, pad_end, pad_value, place)
        if known is not None:
            made.set_shape(known)
        return made


def _static_frames(signal: Any, length: Any, step: Any, pad_end: bool, axis: Any) -> Any:
    """The static dims of the frames, or None."""
    dims = signal.sizes
    axis = static.constant_value(axis)
    if dims is None or axis is None:
        return None if dims is None else [None] * (len(dims) + 1)
    if not -len(dims) <= axis < len(dims):
        raise IndexError(
            f"list index out of range: axis {int(axis)} is none of the {len(dims)} dims of signal"
        )
    place = range(len(dims))[int(axis)]
    size, step = static.constant_value(length), static.constant_value(step)
    count, samples = None, dims[place]
    if None not in (size, step, samples):
        count = -(-samples // step) if pad_end else max(0, (samples - size + step) // step)
    return [
        *dims[:place],
        None if count is None else int(count),
        None if size is None else int(size),
        *dims[place + 1 :],
    ]


def _frame(signal: Any, length: Any, step: Any, pad_end: bool, pad_value: Any, axis: Any) -> Any:
    rank: Any = ranks.rank(signal)
    every: Any = ranges.range_(rank)
    axis = every[axis]
    dims: Any = shapes.shape(signal)
    outer, samples, inner = split.split(dims, [axis, 1, rank - 1 - axis])
    samples = reshape.reshape(samples, [])
    around = [ranks.size(part) for part in (outer, inner)]
    if pad_end:
        pad_value = convert_to_tensor(pad_value, signal.dtype)
        count = -(-samples // step)
        missing = make("Maximum", 0, length + step * (count - 1) - samples)
        ends = [fill.zeros([count_of, 2], missing.dtype) for count_of in around]
        amounts = join.concat([ends[0], [[0, missing]], ends[1]], 0)
        signal = pad.pad(signal, amounts, constant_values=pad_value)
        dims = shapes.shape(signal)
        samples = dims[axis]
    else:
        count = make("Maximum", 0, 1 + (samples - length) // step)
    piece = _common_divisor(length, step)
    in_frame, in_step, pieces = length // piece, step // piece, samples // piece
    used = join.concat([outer, [pieces * piece], inner], 0)
    shaped = join.concat([outer, [pieces, piece], inner], 0)
    signal = slicing.strided_slice(signal, elementwise.zeros_like(dims), used)
    signal = reshape.reshape(signal, shaped)
    starts = reshape.reshape(ranges.range_(count) * in_step, [count, 1])
    offsets = reshape.reshape(ranges.range_(in_frame), [1, in_frame])
    chosen = gather.gather(signal, starts + offsets, axis=axis)
    return reshape.reshape(chosen, join.concat([outer, [count, length], inner], 0))


def _common_divisor(a: Any, b: Any) -> Any:
    """The greatest common divisor of two integer scalars, by Euclid's loop where unknown."""
    with name_scope(None, "gcd", [a, b]):
        known = static.constant_value(a), static.constant_value(b)
        if known[0] is not None and known[1] is not None:
            first, second = int(known[0]), int(known[1])
            # Of the sign of the second, as Euclid's loop over remainders leaves it.
            sign = -1 if (second or first) < 0 else 1
            return convert_to_tensor(sign * math.gcd(first, second))
        found = while_loop(
            lambda _, b: make("Greater", b, elementwise.zeros_like(b)),
            lambda a, b: [b, make("FloorMod", a, b)],
            [a, b],
            back_prop=False,
        )
        return found[0]


# ---- a signal of frames --------------------------------------------------------------------------


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Adds up frames, each moved by a step from the one before.

    Args:
      signal: [..., frames, frame_length].
      frame_step: samples from one frame's start to the next one's, an integer scalar.

    Returns:
      [..., frame_length + (frames - 1) * frame_step] of the type of ``signal``.

    Raises:
      ValueError: fewer than two dims, or a step that is no integer scalar.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2)).tolist()
      [1, 2, 13, 20, 30]
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = scalar(frame_step, "frame_step")
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype!r}")
        known = _static_samples(signal, step)
        made: Tensor = _sum(signal, step)
        made.set_shape(known)
        return made


def _static_samples(signal: Any, step: Any) -> Any:
    dims, step = signal.sizes, static.constant_value(step)
    if dims is None:
        return None
    known = None if None in (step, *dims[-2:]) else dims[-1] + (dims[-2] - 1) * int(step)
    return [*dims[:-2], known]


def _sum(signal: Any, step: Any) -> Any:
    dims: Any = shapes.shape(signal)
    outer = dims[:-2]
    rank = ranks.size(outer)
    length, count = dims[-1], dims[-2]
    samples = length + step * (count - 1)
    if _equal(length, step):
        return reshape.reshape(signal, join.concat([outer, [samples]], 0), name="fast_path")
    # Of each frame, as many pieces as steps; a piece is moved by a step for each one before it.
    pieces = -(-length // step)
    amounts = [[0, pieces], [0, pieces * step - length]]
    outside = fill.zeros([rank, 2], dtypes.int32)
    signal = pad.pad(signal, join.concat([outside, amounts], 0))

    def shaped(x: Any, sizes: list[Any]) -> Any:
        return reshape.reshape(x, join.concat([outer, sizes], 0))

    signal = shaped(signal, [count + pieces, pieces, step])
    kept: Any = ranges.range_(rank)
    signal = movement.transpose(signal, join.concat([kept, rank + [1, 0, 2]], 0))
    signal = shaped(signal, [(count + pieces) * pieces, step])
    signal = signal[..., : (count + pieces - 1) * pieces, :]
    signal = shaped(signal, [pieces, count + pieces - 1, step])
    added = reduction.reduce_sum(signal, -3)
    return shaped(added, [(count + pieces - 1) * step])[..., :samples]


def _equal(length: Any, step: Any) -> bool:
    known = static.constant_value(length), static.constant_value(step)
    return known[0] is not None and known[1] is not None and int(known[0]) == int(known[1])
