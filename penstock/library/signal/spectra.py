"""Spectra of short times: the transforms of a signal's frames, and the way back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.signal.frames import frame, overlap_and_add, scalar
from penstock.library.signal.windows import hann_window
from penstock.ops.array import (
    cast,
    fill,
    join,
    pad,
    ranks,
    reshape,
    shape as shapes,
    tile,
)
from penstock.ops.math import reduction
from penstock.ops.signal import fft

_Window = Callable[..., Tensor]


def stft(
    signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: _Window | None = hann_window, pad_end: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Short-time Fourier transform.

    Args:
      signals: float32 [..., samples].
      frame_length: samples of a frame, an integer scalar.
      frame_step: samples from one frame to the next.
      fft_length: what a frame is filled up to; None for the next power of two.
      window_fn: makes the window from a length and a ``dtype``; None for none.
      pad_end: whether to fill up what the last frames lack with zeros.

    Returns:
      complex64 [..., frames, fft_length / 2 + 1].

    Raises:
      ValueError: ``signals`` has no dim, or a length is no scalar.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        size = _transform_size(fft_length, length)
        framed: Any = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            framed *= window_fn(length, dtype=framed.dtype)
        made: Tensor = fft.rfft(framed, [size])
        return made


def _transform_size(fft_length: Any, frame_length: Any) -> Any:
    """``fft_length``, or the next power of two, as a scalar tensor."""
    if fft_length is not None:
        return convert_to_tensor(fft_length, name="fft_length")
    known = static.constant_value(frame_length)
    if known is not None:
        return constant(2 ** math.ceil(math.log2(known)), frame_length.dtype)
    exponent = make("Log", cast.cast(frame_length, dtypes.float32)) / make("Log", 2.0)
    return cast.cast(make("Pow", 2.0, make("Ceil", exponent)), frame_length.dtype)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: _Window = hann_window, name: str | None = None
) -> _Window:
    """The window with which ``inverse_stft`` undoes ``stft``, where frames overlap enough.

    Args:
      frame_step: samples from one frame to the next.
      forward_window_fn: the window of ``stft``.

    Returns:
      A function of a frame's length and ``dtype`` that makes the window.
    """

    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = scalar(frame_step, "frame_step")

    def window_fn(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = scalar(frame_length, "frame_length")
            forward: Any = forward_window_fn(length, dtype=dtype)
            # What the squared windows of all frames add up to, sample by sample.
            power = make("Square", forward)
            count = -(-length // step)
            power = pad.pad(power, [(0, count * step - length)])
            power = reshape.reshape(power, [count, step])
            power = reduction.reduce_sum(power, 0, keepdims=True)
            power = tile.tile(power, [count, 1])
            whole: Any = reshape.reshape(power, [count * step])
            made: Tensor = forward / whole[:length]
            return made

    return window_fn


def inverse_stft(
    stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: _Window | None = hann_window, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A signal from its short-time Fourier transform.

    Args:
      stfts: complex64 [..., frames, fft_length / 2 + 1].
      frame_length: samples of a frame, an integer scalar.
      frame_step: samples from one frame to the next.
      fft_length: what was transformed of each frame; None for the next power of two.
      window_fn: as for ``stft``; ``inverse_stft_window_fn(frame_step)`` gives back the signal that
        was transformed.

    Returns:
      float32 [..., samples].

    Raises:
      ValueError: ``stfts`` has fewer than two dims, or a length is no scalar.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        size = _transform_size(fft_length, length)
        frames = _of_length(fft.irfft(stfts, [size]), length)
        if window_fn is not None:
            frames *= window_fn(length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, step)


def _of_length(frames: Any, length: Any) -> Any:
    """Frames cut, or filled up with zeros, to ``length``."""
    known, dims = static.constant_value(length), frames.sizes
    if known is None or dims is None or dims[-1] is None:
        frames = frames[..., :length]
        rank: Any = ranks.rank(frames)
        size: Any = shapes.shape(frames)
        outer = fill.zeros([rank - 1, 2], dtype=length.dtype)
        missing = [[0, make("Maximum", 0, length - size[-1])]]
        frames = pad.pad(frames, join.concat([outer, missing], 0))
    elif dims[-1] > known:
        frames = frames[..., : int(known)]
    elif dims[-1] < known:
        frames = pad.pad(frames, [[0, 0]] * (len(dims) - 1) + [[0, int(known) - dims[-1]]])
    if known is not None and dims is not None:
        frames.set_shape([None] * (len(dims) - 1) + [int(known)])
    return frames
