"""``tf.ragged``: ragged tensors; explicit re-exports, no logic."""

from penstock.library.ragged_tensors.constants import (
    constant as constant,
    constant_value as constant_value,
    placeholder as placeholder,
)
from penstock.library.ragged_tensors.gathering import boolean_mask as boolean_mask
from penstock.library.ragged_tensors.joining import stack as stack
from penstock.library.ragged_tensors.mapping import (
    map_flat_values as map_flat_values,
    range_ as _range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from penstock.library.ragged_tensors.value import RaggedTensorValue as RaggedTensorValue

range = _range
