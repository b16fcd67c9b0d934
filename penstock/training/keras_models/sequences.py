"""Lists of different lengths as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def pad_sequences(
    sequences: Sequence[Any], maxlen: int | None = None, dtype: Any = "int32",
    padding: str = "pre", truncating: str = "pre", value: Any = 0.0,
) -> Any:  # fmt: skip
    """Sequences as rows of one array, filled or cut to one length.

    Args:
      sequences: lists of numbers or of equally shaped arrays.
      maxlen: the length; default the longest's.
      dtype: of the result.
      padding, truncating: ``"pre"`` or ``"post"``: where to fill, where to cut.
      value: what to fill with.

    Returns:
      [sequences, maxlen, ...].

    Raises:
      ValueError: an element has no length, or a place is unknown.

    Example:
      >>> import penstock as tf
      >>> tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3]]).tolist()
      [[0, 1], [2, 3]]
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for one in sequences:
        if not hasattr(one, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {one}")
    for what, found in (("Truncating", truncating), ("Padding", padding)):
        if found not in ("pre", "post"):
            raise ValueError(f'{what} type "{found}" not understood; it is "pre" or "post"')
    length = max(map(len, sequences), default=0) if maxlen is None else maxlen
    inner = next((np.shape(one)[1:] for one in sequences if len(one)), ())
    made = np.full((len(sequences), length, *inner), value, dtype)
    for row, one in zip(made, sequences, strict=True):
        kept = np.asarray(one[-length:] if truncating == "pre" else one[:length], dtype)
        if not len(kept) or not length:
            continue
        if padding == "post":
            row[: len(kept)] = kept
        else:
            row[-len(kept) :] = kept
    return made
