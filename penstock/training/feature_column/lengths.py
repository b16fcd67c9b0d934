"""How long the sequences of a sparse tensor are."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.array import fill, join, shape as shaping
from penstock.ops.array.cast import cast
from penstock.ops.math import elementwise
from penstock.ops.math.segment import segment_max


def sequence_length(sparse: Any, num_elements: int = 1) -> Any:
    """How many steps each row has.

    Args:
      sparse: SparseTensor [batch, steps * num_elements, ...].
      num_elements: how many columns make a step.

    Returns:
      int64 tensor [batch].
    """
    with name_scope(None, "sequence_length") as scope:
        rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
        columns += elementwise.ones_like(columns)
        found: Any = segment_max(columns, segment_ids=rows)
        found = cast(elementwise.ceil(found / num_elements), dtypes.int64)
        whole: Any = shaping.shape(sparse)
        whole = whole[:1]
        part: Any = shaping.shape(found)
        padding = fill.zeros(whole - part[:1], dtype=found.dtype)
        return join.concat([found, padding], axis=0, name=scope)
