"""The nodes behind ``Dataset.list_files``: names that match, and an error where none does."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.shape import shape
from penstock.ops.control.debug import Assert


def _first_dim(tensor: Tensor, kind: dtypes.DType) -> Any:
    dims: Any = shape(tensor, out_type=kind)
    return dims[0]


def matching(pattern: Tensor) -> Tensor:
    """The names of the files that match; running it fails where there is none."""
    files = make("MatchingFiles", pattern)
    found = make("Greater", _first_dim(files, dtypes.int32), 0, name="match_not_empty")
    with name_scope("message"):
        said = "No files matched pattern: "
    check = Assert(found, [said, pattern], summarize=1, name="assert_not_empty")
    with control_dependencies([check]):
        return make_tensor("Identity", files)


def at_least_one(files: Tensor) -> Tensor:
    """How many there are, as the size of a shuffle's buffer."""
    return make_tensor("Maximum", _first_dim(files, dtypes.int64), 1)
