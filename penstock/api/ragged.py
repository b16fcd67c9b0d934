"""``tf.ragged``: ragged tensors; explicit re-exports, no logic."""

from penstock.ragged_tensors.constants import constant, constant_value, placeholder
from penstock.ragged_tensors.gathering import boolean_mask
from penstock.ragged_tensors.joining import stack
from penstock.ragged_tensors.mapping import (
    map_flat_values,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack_dynamic_partitions,
)
from penstock.ragged_tensors.mapping import range_ as range
from penstock.ragged_tensors.value import RaggedTensorValue

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "map_flat_values",
    "placeholder", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]  # fmt: skip
