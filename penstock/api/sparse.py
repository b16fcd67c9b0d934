"""``tf.sparse``: sparse tensors; explicit re-exports, no logic."""

from penstock.foundation.graph.composite import SparseTensor as SparseTensor
from penstock.ops.sparse.sparse import sparse_tensor_to_dense as _to_dense
from penstock.ops.sparse.sparse_compose import (
    sparse_expand_dims as _expand_dims,
    sparse_eye as _eye,
    sparse_from_dense as _from_dense,
    sparse_mask as _mask,
    sparse_merge as _merge,
    sparse_placeholder as _placeholder,
    sparse_reset_shape as _reset_shape,
    sparse_retain as _retain,
    sparse_to_indicator as _to_indicator,
    sparse_transpose as _transpose,
)
from penstock.ops.sparse.sparse_cross import (
    sparse_cross as _cross,
    sparse_cross_hashed as _cross_hashed,
)
from penstock.ops.sparse.sparse_functions import (
    sparse_add as _add,
    sparse_concat as _concat,
    sparse_fill_empty_rows as _fill_empty_rows,
    sparse_maximum as _maximum,
    sparse_minimum as _minimum,
    sparse_reduce_max as _reduce_max,
    sparse_reduce_max_sparse as _reduce_max_sparse,
    sparse_reduce_sum as _reduce_sum,
    sparse_reduce_sum_sparse as _reduce_sum_sparse,
    sparse_reorder as _reorder,
    sparse_reshape as _reshape,
    sparse_slice as _slice,
    sparse_softmax as _softmax,
    sparse_split as _split,
    sparse_tensor_dense_matmul as _matmul,
    sparse_tensor_dense_matmul as _sparse_dense_matmul,
)
from penstock.ops.sparse.sparse_segment import (
    sparse_segment_mean as _segment_mean,
    sparse_segment_sqrt_n as _segment_sqrt_n,
    sparse_segment_sum as _segment_sum,
)
from penstock.training.data.accumulators import (
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)

add = _add
concat = _concat
cross = _cross
cross_hashed = _cross_hashed
expand_dims = _expand_dims
eye = _eye
fill_empty_rows = _fill_empty_rows
from_dense = _from_dense
mask = _mask
matmul = _matmul
maximum = _maximum
merge = _merge
minimum = _minimum
placeholder = _placeholder
reduce_max = _reduce_max
reduce_max_sparse = _reduce_max_sparse
reduce_sum = _reduce_sum
reduce_sum_sparse = _reduce_sum_sparse
reorder = _reorder
reset_shape = _reset_shape
reshape = _reshape
retain = _retain
segment_mean = _segment_mean
segment_sqrt_n = _segment_sqrt_n
segment_sum = _segment_sum
slice = _slice
softmax = _softmax
sparse_dense_matmul = _sparse_dense_matmul
split = _split
to_dense = _to_dense
to_indicator = _to_indicator
transpose = _transpose
