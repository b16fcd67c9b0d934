"""The state that goes through branches and rounds: what of it tensors carry, and what stays.

A part of the state is a value of any nesting.  Tensors, numbers, strings and what else becomes a
tensor are carried; other objects (a list of layers, None) must be the same object on every way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import nest
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autograph.undefined import is_undefined
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.variables.variable import Variable

_CARRIED = (
    Tensor, Variable, TensorArray, SparseTensor, IndexedSlices, np.ndarray, np.generic, bool, int,
    float, complex, str, bytes,
)  # fmt: skip
_NUMBERS = (np.ndarray, np.generic, bool, int, float, complex, str, bytes)


def is_carried(value: Any) -> bool:
    """Whether tensors can stand for a part of the state."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(isinstance(leaf, _CARRIED) for leaf in leaves)


def as_tensors(value: Any) -> Any:
    """A part of the state, its numbers as tensors."""
    return nest.map_structure(
        lambda leaf: convert_to_tensor(leaf) if isinstance(leaf, (*_NUMBERS, Variable)) else leaf,
        value,
    )


def undefined_names(names: Sequence[str], values: Sequence[Any]) -> tuple[str, ...]:
    """The names of the parts that have no value."""
    return tuple(n for n, v in zip(names, values, strict=False) if is_undefined(v))


def same(one: Any, other: Any) -> bool:
    """Whether two parts that are not carried are the same."""
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # what an object's own comparison raises is no answer
        return False
