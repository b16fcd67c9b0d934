"""``tf.sparse``: sparse tensors; explicit re-exports, no logic."""

from penstock.data.accumulators import SparseConditionalAccumulator
from penstock.graph.composite import SparseTensor
from penstock.ops.sparse import sparse_tensor_to_dense as to_dense
from penstock.ops.sparse_compose import sparse_expand_dims as expand_dims
from penstock.ops.sparse_compose import sparse_eye as eye
from penstock.ops.sparse_compose import sparse_from_dense as from_dense
from penstock.ops.sparse_compose import sparse_mask as mask
from penstock.ops.sparse_compose import sparse_merge as merge
from penstock.ops.sparse_compose import sparse_placeholder as placeholder
from penstock.ops.sparse_compose import sparse_reset_shape as reset_shape
from penstock.ops.sparse_compose import sparse_retain as retain
from penstock.ops.sparse_compose import sparse_to_indicator as to_indicator
from penstock.ops.sparse_compose import sparse_transpose as transpose
from penstock.ops.sparse_cross import sparse_cross as cross
from penstock.ops.sparse_cross import sparse_cross_hashed as cross_hashed
from penstock.ops.sparse_functions import sparse_add as add
from penstock.ops.sparse_functions import sparse_concat as concat
from penstock.ops.sparse_functions import sparse_fill_empty_rows as fill_empty_rows
from penstock.ops.sparse_functions import sparse_maximum as maximum
from penstock.ops.sparse_functions import sparse_minimum as minimum
from penstock.ops.sparse_functions import sparse_reduce_max as reduce_max
from penstock.ops.sparse_functions import sparse_reduce_max_sparse as reduce_max_sparse
from penstock.ops.sparse_functions import sparse_reduce_sum as reduce_sum
from penstock.ops.sparse_functions import sparse_reduce_sum_sparse as reduce_sum_sparse
from penstock.ops.sparse_functions import sparse_reorder as reorder
from penstock.ops.sparse_functions import sparse_reshape as reshape
from penstock.ops.sparse_functions import sparse_slice as slice
from penstock.ops.sparse_functions import sparse_softmax as softmax
from penstock.ops.sparse_functions import sparse_split as split
from penstock.ops.sparse_functions import sparse_tensor_dense_matmul as matmul
from penstock.ops.sparse_functions import sparse_tensor_dense_matmul as sparse_dense_matmul
from penstock.ops.sparse_segment import sparse_segment_mean as segment_mean
from penstock.ops.sparse_segment import sparse_segment_sqrt_n as segment_sqrt_n
from penstock.ops.sparse_segment import sparse_segment_sum as segment_sum

__all__ = [
    "SparseConditionalAccumulator",
    "SparseTensor",
    "add",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
