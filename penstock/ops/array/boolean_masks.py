"""``boolean_mask`` with the order of arguments of TensorFlow 2."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.slicing import boolean_mask


def boolean_mask_v2(
    tensor: Any, mask: Any, axis: int | None = None, name: str | None = "boolean_mask"
) -> Tensor:
    """The entries of ``tensor`` where ``mask`` is true; arguments as of ``boolean_mask``."""
    return boolean_mask(tensor, mask, name, axis)
