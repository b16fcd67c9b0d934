"""Sparse tensors and sets."""

from __future__ import annotations

from tests.differential.args import SP, A, B, D, I, L, M, O, R, S, Z, call, each

HALVES = O(False, True)

CALLS = [
    call("sparse.add", SP(2, 3), SP(2, 3), M(O(0.5, 0, -1))),
    call("sparse_add", SP(2, 3), R(2, 3)),
    call("sparse.concat", A(1), L(SP(2, 3), SP(2, 3)), expand_nonconcat_dim=HALVES),
    call("sparse.expand_dims", SP(2, 3), A(1)),
    call("sparse.eye", S(3), M(S(2)), D("float32", "int32", "bool")),
    call("sparse.fill_empty_rows", SP(3, 3), R()),
    call("sparse.from_dense", Z(2, 3)),
    call("sparse.sparse_dense_matmul", SP(2, 3), R(3, 4), HALVES, HALVES),
    *each("sparse.maximum sparse.minimum", SP(2, 3), SP(2, 3)),
    call("sparse.merge", SP(2, 3, dtype="int64"), SP(2, 3), S(7)),
    *each(
        "sparse.reduce_sum sparse.reduce_max sparse.reduce_sum_sparse sparse.reduce_max_sparse",
        SP(2, 3),
        M(A(1)),
        keepdims=O(None, True, False),
    ),
    call("sparse.reorder", SP(2, 3)),
    call("sparse.reset_shape", SP(2, 3), M(S([3, 4]))),
    call("sparse.reshape", SP(2, 3), S([3, 2])),
    call("sparse.retain", SP(2, 2), B(2)),
    call("sparse.slice", SP(3, 4), S([0, 1]), S([2, 2])),
    call("sparse.softmax", SP(2, 3)),
    call("sparse.split", sp_input=SP(2, 4), num_split=O(2, 3, 1, 0, 5), axis=A(1)),
    call("sparse.to_dense", SP(2, 3), M(R()), validate_indices=O(True, False)),
    call("sparse.to_indicator", SP(2, 3, dtype="int64"), S(6)),
    call("sparse.transpose", SP(2, 3), M(A([1, 0]))),
    call("sparse_to_dense", I([[0, 1], [1, 2]]), S([2, 3]), R(2), R(), O(True, False)),
    call("sparse.cross", L(SP(2, 3, dtype="int64"), SP(2, 3, dtype="int64"))),
    call(
        "sparse.cross_hashed", L(SP(2, 3, dtype="int64"), SP(2, 3, dtype="int64")), O(10, 0, 1000)
    ),
    *each(
        "sets.intersection sets.union sets.difference",
        SP(2, 3, dtype="int32"),
        SP(2, 3, dtype="int32"),
        validate_indices=O(True, False),
    ),
    call("sets.set_union", Z(2, 3), Z(2, 3)),
    call("sets.size", SP(2, 3, dtype="int32"), O(True, False)),
    call("edit_distance", SP(2, 3, dtype="int64"), SP(2, 3, dtype="int64"), O(True, False)),
    call("serialize_sparse", SP(2, 3)),
    call("serialize_many_sparse", SP(2, 3)),
    call("sparse.segment_sum", R(4, 2), I([0, 3, 1]), I([0, 0, 1])),
    call("SparseTensor", I([[0, 1], [1, 2]], "int64"), R(2), S([2, 3])),
    call("IndexedSlices", R(2, 3), I([0, 3]), M(S([4, 3]))),
    call("convert_to_tensor_or_sparse_tensor", SP(2, 3)),
    call("sparse_tensor_dense_matmul", SP(2, 3), R(3, 4)),
]
