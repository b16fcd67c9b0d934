"""Weights in several variables, and the width of an input, for the cells of this package."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension
from penstock.foundation.graph import collecting
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.ops.array import join

_CONCATENATED = "concatenated_variables"


def sharded(name: str, shape: list[int], dtype: Any, count: int) -> Any:
    """A variable in ``count`` shards of rows, ``name_0`` and so on, joined to a tensor.

    One shard is the variable itself.
    """
    size, rest = divmod(shape[0], count)
    shards = [
        get_variable(f"{name}_{i}", [size + (i < rest), *shape[1:]], dtype=dtype)
        for i in range(count)
    ]
    if len(shards) == 1:
        return shards[0]
    full = f"{get_variable_scope().name}/{name}/concat:0"
    for known in collecting.get_collection(_CONCATENATED):
        if known.name == full:
            return known
    joined = join.concat(shards, 0, name=f"{name}/concat")
    collecting.add_to_collection(_CONCATENATED, joined)
    return joined


def input_size(inputs: Any) -> int:
    """The width of a cell's input.

    Raises:
      ValueError: it is not known.
    """
    width = dimension.dimension_value(inputs.get_shape().with_rank(2)[1])
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return int(width)
