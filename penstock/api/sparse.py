"""``tf.sparse``: sparse tensors; explicit re-exports, no logic."""

from penstock.graph.composite import SparseTensor
from penstock.ops.sparse import sparse_tensor_to_dense as to_dense
from penstock.ops.sparse_segment import (
    sparse_segment_mean as segment_mean,
)
from penstock.ops.sparse_segment import (
    sparse_segment_sqrt_n as segment_sqrt_n,
)
from penstock.ops.sparse_segment import (
    sparse_segment_sum as segment_sum,
)

__all__ = [
    "SparseTensor",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "to_dense",
]
