"""Discrete cosine transforms of types 1, 2 and 3, by Fourier transforms of twice the length."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, join, pad, ranges, reshape, shape as shapes
from penstock.ops.math import complex as numbers
from penstock.ops.signal import fft


def dct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Discrete cosine transform of the last dim.

    Args:
      input: float32 [..., samples].
      type: 1, 2 or 3.
      n: samples that are transformed: the first ones, or all and zeros; None for all.
      axis: -1.
      norm: None or "ortho", which makes the matrix of the transform (type 2 or 3) orthogonal.

    Returns:
      float32 of the shape of ``input``, or with ``n`` samples.

    Raises:
      NotImplementedError: another axis.
      ValueError: another type or norm, or ``n`` below 1.
    """
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct"):
        x: Any = convert_to_tensor(input, dtypes.float32)
        before = _length(x)
        if n is not None:
            x = _resized(x, before, n)
        length = _length(x)
        size: Any = cast.cast(length, dtypes.float32)
        if type == 1:
            mirrored = join.concat([x, x[..., -2:0:-1]], axis=-1)
            return numbers.real(fft.rfft(mirrored))
        return (_second if type == 2 else _third)(x, length, size, norm)


def idct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Inverse of ``dct``, up to a factor where ``norm`` is None: type 2 undoes 3, and 3 undoes 2.

    Arguments and errors are those of ``dct``; ``type`` is that of the transform to undo.
    """
    _check(input, type, n, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2}[type], n, axis, norm, name)


def _check(input: Any, type: Any, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None; found {n}")
    if type not in (1, 2, 3):
        raise ValueError(f"Only Types I, II and III (I)DCT are supported; found {type}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        dims = convert_to_tensor(input).sizes if not isinstance(input, Tensor) else input.sizes
        if dims is not None and dims[-1] is not None and dims[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")


def _length(x: Any) -> Any:
    """The size of the last dim, as an int where it is known."""
    known = None if x.sizes is None else x.sizes[-1]
    return shapes.shape(x)[-1] if known is None else known


def _resized(x: Any, length: Any, n: int) -> Any:
    if n <= length:
        return x[..., :n]
    amounts = [[0, 0]] * (len(x.sizes) - 1) + [[0, n - length]]
    return pad.pad(x, convert_to_tensor(amounts))


def _rotation(size: Any, sign: int) -> Any:
    """``2 exp(i sign pi k / (2 size))`` for each k."""
    places: Any = ranges.range_(size)
    angles = (-places if sign < 0 else places) * math.pi * 0.5 / size
    return 2.0 * make("Exp", numbers.complex_(0.0, angles))


def _weights(first: Any, others: Any, length: Any) -> Any:
    """A vector of ``length`` factors, of which the first is another."""
    return pad.pad(reshape.expand_dims(first, 0), [[0, length - 1]], constant_values=others)


def _second(x: Any, length: Any, size: Any, norm: str | None) -> Tensor:
    scale = _rotation(size, -1)
    spectrum: Any = fft.rfft(x, fft_length=[2 * length])
    made: Any = numbers.real(spectrum[..., :length] * scale)
    if norm == "ortho":
        first = 0.5 * make("Rsqrt", size)
        made *= _weights(first, first * make("Sqrt", 2.0), length)
    return made  # type: ignore[no-any-return]


def _third(x: Any, length: Any, size: Any, norm: str | None) -> Tensor:
    if norm == "ortho":
        first = make("Sqrt", size)
        x *= _weights(first, first * make("Sqrt", 0.5), length)
    else:
        x *= size
    scale = _rotation(size, 1)
    made: Any = fft.irfft(scale * numbers.complex_(x, 0.0), fft_length=[2 * length])
    return made[..., :length]  # type: ignore[no-any-return]
