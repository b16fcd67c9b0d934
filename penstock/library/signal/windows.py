"""Windows that fade frames of a signal in and out: raised cosines."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.cond import cond
from penstock.ops.array import cast, constant, fill, ranges


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """A Hann window: ``0.5 - 0.5 cos(2 pi i / n)``.

    Args:
      window_length: int32 scalar, its number of elements.
      periodic: whether its period is the window length, as spectra want it where that is even;
        else it is symmetric.
      dtype: a floating type.

    Returns:
      A vector of ``window_length`` elements.

    Raises:
      ValueError: ``dtype`` is no floating type, or the length no scalar.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """A Hamming window: ``0.54 - 0.46 cos(2 pi i / n)``; arguments as for ``hann_window``."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54)


def _raised_cosine(
    name: str | None, default: str, window_length: Any, periodic: Any, dtype: Any, middle: float
) -> Tensor:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    with name_scope(name, default, [window_length, periodic]):
        length: Any = convert_to_tensor(window_length, dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = static.constant_value(length)
        if known == 1:
            return fill.ones([1], dtype)
        whether = convert_to_tensor(periodic, dtypes.bool, name="periodic")
        whole: Any = cast.cast(whether, dtypes.int32)
        whole.shape.assert_has_rank(0)
        # A periodic window is the symmetric one of one more element, without its last.
        even = 1 - make("FloorMod", length, 2)
        period = cast.cast(length + whole * even - 1, dtype)
        places = cast.cast(ranges.range_(length), dtype)
        angles = constant.constant(2 * math.pi, dtype) * places / period

        def raised() -> Tensor:
            made: Tensor = cast.cast(middle - (1 - middle) * make("Cos", angles), dtype)
            return made

        if known is not None:
            return raised()
        one = make("Equal", length, 1)
        found: Tensor = cond(one, lambda: fill.ones([1], dtype), raised)
        return found
