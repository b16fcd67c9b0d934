"""Wrong use fails where it fails in TensorFlow 1.15, with its class and its words.

Each row was run in TensorFlow 1.15.  ``C`` makes an operand: a constant, or a placeholder of
unknown shape that is fed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.base import errors

_M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
_V = [1.0, 2.0, 3.0]
_BOTH = ("const", "fed")
_RUN = errors.InvalidArgumentError


class Case(NamedTuple):
    """A wrong call: how operands are made, what it raises there, and whether only as it runs."""

    words: str
    make: Callable[[Any], Any]
    operands: tuple[str, ...] = _BOTH
    error: type[Exception] = _RUN
    at_run: bool = True


def _sparse(indices: Any, values: Any, shape: Any) -> Any:
    return tf.SparseTensor(np.array(indices, np.int64), values, np.array(shape, np.int64))


def _entries() -> Any:
    return _sparse([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])


def _array(**options: Any) -> Any:
    return tf.TensorArray(tf.float32, 3, **options)


def _segments(function: Callable[..., Any]) -> list[Case]:
    sizes = "segment_ids should be the same size as dimension 0 of input"
    return [
        Case(sizes, lambda C: function(C(_M), C([0, 1, 2]))),
        Case(sizes, lambda C: function(C(_M), C([0]))),
        Case("segment ids are not increasing", lambda C: function(C(_M), C([1, 0]))),
    ]


def _running(function: Callable[..., Any]) -> list[Case]:
    axis = r"ScanOp: Expected scan axis in the range \[-2, 2\), but got "
    return [
        Case(f"{axis}2", lambda C: function(C(_M), C(2))),
        Case(f"{axis}-3", lambda C: function(C(_M), -3)),
        Case(r"ScanOp: axis must be a scalar, not \[1\]", lambda C: function(C(_M), [0])),
        Case(r"scan axis in the range \[0, 0\), but got 0", lambda C: function(C(1.0))),
    ]


def _softmaxes(function: Callable[..., Any]) -> list[Case]:
    words = r"Dimension \({}\) must be in the range \[-2, 2\) where 2 is the number of dimensions"
    return [
        Case(words.format(axis), lambda C, axis=axis: function(C(_M), axis=axis), ("const",),
             at_run=False)
        for axis in (100, 2, -3)
    ]  # fmt: skip


def _sparse_sums(function: Callable[..., Any]) -> list[Case]:
    words = "Invalid reduction dimension {}, for input with 2 dimensions"
    cases = [
        Case(words.format(bad), lambda C, given=given: function(_entries(), given), ("const",))
        for bad, given in ((2, 2), (-3, -3), (2, [0, 1, 2]))
    ]
    many = "Expected reduction_axes to be a scalar or a vector"
    return [*cases, Case(many, lambda C: function(_entries(), [[0]]), ("const",))]


def _orders() -> list[Case]:
    outside = r"-1 is out of range \[0 .. 2\)"
    return [
        Case("1 is missing from {0,0}", lambda C: tf.transpose(C(_M), [0, 0])),
        Case("1 is missing from {0,0}", lambda C: tf.transpose(C(_M), C([0, 0]))),
        Case(outside, lambda C: tf.transpose(C(_M), [-1, 0])),
        Case("transpose expects a vector of size 2",
             lambda C: tf.transpose(C(_M), C([0])), ("fed",)),
        Case("0 is duplicated in the input", lambda C: tf.invert_permutation(C([0, 0]))),
        Case("5 is not between 0 and 2", lambda C: tf.invert_permutation(C([0, 5]))),
        Case("-1 is not between 0 and 2", lambda C: tf.invert_permutation(C([0, -1]))),
        Case("axis 0 specified more than once", lambda C: tf.reverse(C(_M), C([0, 0])), ("fed",)),
    ]  # fmt: skip


def _rolls() -> list[Case]:
    equal = "Shapes must be equal"
    return [
        Case(equal, lambda C: tf.roll(C(_M), [1], 0), error=ValueError, at_run=False),
        Case(equal, lambda C: tf.roll(C(_M), [1, 1], [0]), error=ValueError, at_run=False),
        Case("Shape must be at most rank 1 but is rank 2",
             lambda C: tf.roll(C(_M), [[1]], [[0]]), error=ValueError, at_run=False),
        Case("axis 5 is out of range", lambda C: tf.roll(C(_M), C(1), C(5))),
    ]  # fmt: skip


def _to_dense() -> list[Case]:
    places = [[0, 0], [1, 2]]
    return [
        Case("default_value should be a scalar",
             lambda C: tf.sparse_to_dense(C(places), [2, 3], [1.0, 2.0], C([0.0]))),
        Case("sparse_indices should be a scalar, vector, or matrix",
             lambda C: tf.sparse_to_dense([[[0]]], [2, 3], [1.0]), ("const",)),
        Case("output_shape has incorrect number of elements: 2 should be: 3",
             lambda C: tf.sparse_to_dense(C([[0, 0, 0]]), [2, 3], [1.0])),
        Case(r"indices\[1\] = \[1,7\] is out of bounds: need 0 <= index < \[2,3\]",
             lambda C: tf.sparse_to_dense(C([[0, 0], [1, 7]]), [2, 3], [1.0, 2.0])),
        Case(r"indices\[1\] = \[0,0\] is out of order",
             lambda C: tf.sparse_to_dense(C([[1, 0], [0, 0]]), [2, 3], [1.0, 2.0])),
        Case(r"indices\[1\] = \[0,0\] is repeated",
             lambda C: tf.sparse_to_dense(C([[0, 0], [0, 0]]), [2, 3], [1.0, 2.0])),
    ]  # fmt: skip


def _sparse_tensors() -> list[Case]:
    def two(function: Callable[..., Any], shape: list[int]) -> Any:
        return function(_sparse([[0]], [1.0], [3]), _sparse([[0] * len(shape)], [1.0], shape))

    def packed(C: Any, dtype: Any) -> Any:
        return tf.deserialize_many_sparse(tf.serialize_many_sparse(_entries()), dtype, 2)

    ranks = "Operands do not have the same ranks"
    only = ("const",)
    build: dict[str, Any] = {"error": ValueError, "at_run": False}
    return [
        Case(ranks, lambda C: two(tf.sparse_maximum, [3, 1]), only),
        Case(ranks, lambda C: two(tf.sparse_minimum, [3, 1]), only),
        Case("Input should have rank >= 2",
             lambda C: tf.sparse_softmax(_sparse([[0]], [1.0], [2])), only),
        Case("Requested SparseTensor of type int32 but SparseTensor.0..values.dtype.. == float",
             lambda C: packed(C, tf.int32), only),
        Case("Requested SparseTensor of type string", lambda C: packed(C, tf.string), only),
        Case("Could not parse serialized proto",
             lambda C: tf.deserialize_many_sparse(C([["a", "b", "c"]]), tf.float32)),
        Case("Dimension must be 3 but is 2",
             lambda C: tf.deserialize_many_sparse(C([["a", "b"]]), tf.float32), only, **build),
        Case("Dimensions 1 and 2 are not compatible",
             lambda C: tf.SparseTensor([[0, 0]], [1.0, 2.0], [2, 3]), only, **build),
        Case("Dimensions 2 and 1 are not compatible",
             lambda C: tf.SparseTensor([[0, 0]], [1.0], [2]), only, **build),
    ]  # fmt: skip


def _slices() -> list[Case]:
    return [
        Case(r"Expected size\[0\] in \[0, 2\], but got 3",
             lambda C: tf.slice(C(_M), C([0, 0]), C([3, 1]))),
        Case(r"Expected begin\[0\] in \[0, 2\], but got -1",
             lambda C: tf.slice(C(_M), [-1, 0], [1, 1])),
        Case("slice index 5 of dimension 0 out of bounds", lambda C: C(_M)[C(5)], ("fed",)),
        Case("Requires start <= limit when delta > 0: 0/-1",
             lambda C: tf.matrix_transpose(C(_V)), ("fed",)),
    ]  # fmt: skip


def _splits() -> list[Case]:
    row = np.zeros((1, 10), np.float32)
    words = r"can't split axis of size 10 into pieces of size \[4\]"
    build: dict[str, Any] = {"error": ValueError, "at_run": False}
    return [
        Case(words, lambda C: tf.split(C(row), [4], 1), ("const",), **build),
        Case("is not in", lambda C: tf.split(C(row), [10], 5), ("const",), **build),
        Case(r"pieces of size \[4,4\]", lambda C: tf.split(C(row), [4, 4], 1), ("fed",)),
    ]


def _arrays() -> list[Case]:
    words = "TensorArray dtype is float but Op is trying to write dtype {}"
    return [
        Case(words.format("string"), lambda C: _array().write(0, "a").flow, ("const",)),
        Case(words.format("int32"), lambda C: _array().write(0, C(1)).flow),
        Case(words.format("int32"),
             lambda C: tf.map_fn(lambda x: tf.cast(x, tf.int32), C(_V))),
        Case("Tried to write to index 3 but array is not resizeable and size is: 3",
             lambda C: _array().write(C(3), 1.0).flow),
        Case("Could not write to TensorArray index 0 because it has already been written to",
             lambda C: _array().write(0, 1.0).write(0, 2.0).flow, ("const",)),
        Case("Tried to read from index 3 but array size is: 3", lambda C: _array().read(C(3))),
        Case("Expected value to be at least a vector",
             lambda C: _array().split(C(1.0), [1]).flow),
        Case("Expected sum of lengths to be equal to values.shape.0.",
             lambda C: _array().split(C(_V), C([1, 1, 2])).flow),
    ]  # fmt: skip


def _hot_and_bands() -> list[Case]:
    return [
        Case(r"Expected axis to be -1 or between \[0, 2\)\.  But received: 2",
             lambda C: tf.one_hot(C([0]), 3, axis=2)),
        Case(r"on_value must be a scalar, but got: \[1\]",
             lambda C: tf.one_hot(C([0]), 3, on_value=[1.0])),
        Case(r"num_lower must be scalar, got shape \[1\]",
             lambda C: tf.matrix_band_part(C(_M), C(np.array([1])), C(np.array(0)))),
        Case(r"input must be at least 2-dim, received shape: \[3\]",
             lambda C: tf.matrix_band_part(C(_V), 0, 0)),
        Case("num_lower must be negative or less or equal to number of rows .2. got: 5",
             lambda C: tf.matrix_band_part(C(_M), 5, 0)),
        Case("unique expects a 1D vector", lambda C: tf.unique_with_counts(C(_M))),
        Case("Expected `serialized` to be a scalar, got shape: .1.",
             lambda C: tf.parse_tensor(C(["x"]), tf.float32)),
        Case("Need k >= 0, got -7", lambda C: tf.nn.top_k(C(_M), C(-7)), ("fed",)),
        Case("input must have at least k columns. Had 3, needed 4",
             lambda C: tf.nn.top_k(C(_M), C(4)), ("fed",)),
    ]  # fmt: skip


def _shape_values() -> list[Case]:
    words = "Invalid value in tensor used for shape: -2"
    build: dict[str, Any] = {"error": ValueError, "at_run": False}
    empty = "Indices and updates specified for empty output shape"
    return [
        Case(words, lambda C: tf.random_gamma([-2], 1.0), ("const",), **build),
        Case(words, lambda C: tf.random_poisson(1.0, [-2]), ("const",), **build),
        Case(words, lambda C: tf.random.stateless_uniform([-2], [1, 2]), ("const",), **build),
        Case(words, lambda C: tf.scatter_nd(C([[0]]), C([1.0]), [-2]), **build),
        Case("Input num_segments == -2 must not be negative",
             lambda C: tf.unsorted_segment_sum(C(_M), C([0, 1]), -2), ("fed",)),
        Case(empty, lambda C: tf.scatter_nd(C([[0]]), C([1.0]), [0]), ("const",), **build),
        Case(empty, lambda C: tf.scatter_nd(C([[0]]), C([[1.0]]), C([0, 1])), ("const",), **build),
        Case("All shapes must have a defined rank",
             lambda C: tf.PaddingFIFOQueue(5, [tf.float32], shapes=[tf.TensorShape(None)]),
             ("const",), **build),
        Case("passed list of length 0 less than minimum 1",
             lambda C: tf.identity_n([]), ("const",), **build),
        Case("passed list of length 0 less than minimum 1",
             lambda C: tf.Assert(C(False), []), **build),
    ]  # fmt: skip


def _patches() -> list[Case]:
    image = np.zeros((1, 4, 4, 3), np.float32)

    def patches(C: Any, ksizes: list[int], strides: list[int]) -> Any:
        return tf.extract_image_patches(C(image), ksizes, strides, [1, 1, 1, 1], "SAME")

    return [
        Case("Only support ksizes across space",
             lambda C: patches(C, [2, 2, 2, 1], [1, 1, 1, 1]), error=errors.UnimplementedError),
        Case("Only support strides across space",
             lambda C: patches(C, [1, 2, 2, 1], [1, 1, 1, 2]), error=errors.UnimplementedError),
        Case("must be > 0, but got", lambda C: patches(C, [1, 2, 2, 1], [1, 0, 1, 1]), ("const",),
             ValueError, False),
    ]  # fmt: skip


def _types() -> list[Case]:
    build: dict[str, Any] = {"error": TypeError, "at_run": False}
    return [
        Case("Input 'b' of 'MatMul' Op has type int32 that does not match type float32 of"
             " argument 'a'", lambda C: tf.matmul(C(_M), C([[1], [2], [3]])), ("const",), **build),
        Case("Input 'input' of 'Any' Op has type float32 that does not match expected type of"
             " bool", lambda C: tf.reduce_any(C(_V)), **build),
        Case("Value passed to parameter 'logits' has DataType int32 not in list of allowed values",
             lambda C: tf.nn.softmax(C([1, 2])), **build),
        Case("Expected int32, got 'a' of type 'str' instead",
             lambda C: tf.constant("a", tf.int32), ("const",), **build),
        Case("Tensor conversion requested dtype int32 for Tensor with dtype float32",
             lambda C: tf.convert_to_tensor(C(1.0), tf.int32), error=ValueError, at_run=False),
    ]  # fmt: skip


def _ranges() -> list[Case]:
    build: dict[str, Any] = {"error": ValueError, "at_run": False}
    return [
        Case(r"indices\[0,1\] = 7 is not in \[0, 2\)", lambda C: tf.gather(C(_M), C([[0, 7]]))),
        Case(r"indices\[0\] = \[2, 0\] does not index into param shape \[2,3\]",
             lambda C: tf.gather_nd(C(_M), C([[2, 0]]))),
        Case(r"segment_ids\[1\] = 5 is out of range \[0, 2\)",
             lambda C: tf.unsorted_segment_sum(C(_M), C([0, 5]), 2)),
        Case("segment ids must be >= 0", lambda C: tf.segment_sum(C(_M), C([-1, 0]))),
        Case(r"Bad: indices\[1\] == 7 out of range \[0, 2\)",
             lambda C: tf.sparse_segment_sum(C(_M), C([0, 7]), C([0, 1]))),
        Case(r"partitions\[1\] = 5 is not in \[0, 2\)",
             lambda C: tf.dynamic_partition(C(_M), C([0, 5]), 2)),
        Case("indices is out of range", lambda C: tf.dynamic_stitch([C([0, -1])], [C([1.0, 2.0])])),
        Case("Shape must be rank 2 but is rank 1", lambda C: tf.matmul(C(_M), C(_V)), ("const",),
             **build),
        Case("Shape must be at least rank 2 but is rank 1", lambda C: tf.cholesky(C(_V)),
             ("const",), **build),
        Case("Dimensions must be equal, but are 3 and 2", lambda C: C(_M) + C([1.0, 2.0]),
             ("const",), **build),
        Case(r"Incompatible shapes: \[2,3\] vs. \[2\]", lambda C: C(_M) + C([1.0, 2.0]), ("fed",)),
        Case("Shapes must be equal rank, but are 2 and 1", lambda C: tf.concat([C(_M), C(_V)], 0),
             ("const",), **build),
        Case("Shape must be rank 0 but is rank 1", lambda C: tf.gather(C(_M), C([0]), axis=[0]),
             ("const",), **build),
        Case("Shape must be rank 0 but is rank 1", lambda C: tf.concat([C(_M), C(_M)], [0]),
             ("const",), **build),
        Case("Rank mismatch: Rank of labels .received 2. should equal rank of logits minus 1"
             " .received 2.",
             lambda C: tf.nn.sparse_softmax_cross_entropy_with_logits(
                 labels=C([[0, 1]]), logits=C(_M)), ("const",), **build),
        Case(r"Invalid reduction dimension 2 for input with 2 dimensions",
             lambda C: tf.reduce_sum(C(_M), 2), ("fed",)),
    ]  # fmt: skip


def _sizes() -> list[Case]:
    build: dict[str, Any] = {"operands": ("const",), "error": ValueError, "at_run": False}
    fed = ("fed",)
    even = "Number of ways to split should evenly divide the split dimension, but got split_dim 0"
    lengths = "Expected multiples argument to be a vector of length 2 but got length 3"
    return [
        Case("segment ids must be >= 0",
             lambda C: tf.sparse_segment_mean(C(_M), C([0, 1]), C([0, -1]))),
        Case(r"Expected multiples\[1\] >= 0, but got -1", lambda C: tf.tile(C(_M), C([1, -1]))),
        Case("Shape must be rank 3 but is rank 2|Shape must be rank 2 but is rank 3",
             lambda C: tf.tile(C(_M), C([1, 2, 3])), **build),
        Case(lengths, lambda C: tf.tile(C(_M), C([1, 2, 3])), fed),
        Case("Paddings must be non-negative", lambda C: tf.pad(C(_M), C([[1, -1], [0, 0]])),
             **build),
        Case("Paddings must be non-negative: 1 -1", lambda C: tf.pad(C(_M), C([[1, -1], [0, 0]])),
             fed),
        Case("Shape must be rank 1 but is rank 2", lambda C: tf.pad(C(_M), C([[1, 1]])), **build),
        Case(r"The first dimension of paddings must be the rank of inputs\[1,2\] \[2,3\]",
             lambda C: tf.pad(C(_M), C([[1, 1]])), fed),
        Case("paddings must be less than the dimension size: 2, 1 not less than 2",
             lambda C: tf.pad(C(_M), C([[2, 1], [0, 0]]), "REFLECT")),
        Case("paddings must be no greater than the dimension size: 3, 1 greater than 2",
             lambda C: tf.pad(C(_M), C([[3, 1], [0, 0]]), "SYMMETRIC")),
        Case("must be non-negative but is -1", lambda C: tf.one_hot(C([0, 1]), C(-1)), **build),
        Case("depth must be non-negative, got: -1", lambda C: tf.one_hot(C([0, 1]), C(-1)), fed),
        Case("input must have last dimension >= k = 7 but is 3", lambda C: tf.nn.top_k(C(_V), 7),
             **build),
        Case("input must have at least k columns. Had 3, needed 7",
             lambda C: tf.nn.top_k(C(_V), 7), fed),
        Case("must be non-negative but is -7", lambda C: tf.nn.top_k(C(_V), -7), error=ValueError,
             at_run=False),
        Case("Dimension must be 5 but is 2", lambda C: tf.unstack(C(_M), 5), **build),
        Case(r"Input shape axis 0 must equal 5, got shape \[2,3\]",
             lambda C: tf.unstack(C(_M), 5), fed),
        Case("Dimension size must be evenly divisible by 2 but is 3", lambda C: tf.split(C(_V), 2),
             **build),
        Case(rf"{even} \(size = 3\) and num_split 2", lambda C: tf.split(C(_V), 2), fed),
        Case(r"Cannot infer num from shape Tensor\(", lambda C: tf.split(C(_V), C([1, 2])),
             fed, ValueError, False),
        Case("Input to reshape is a tensor with 6 values, but the requested shape has 8",
             lambda C: tf.reshape(C(_M), [4, 2]), fed),
        Case(r"dim 5 not in the interval \[-3, 2\]", lambda C: tf.expand_dims(C(_M), 5), **build),
        Case("Tried to expand dim index 5 for tensor with 2 dimensions",
             lambda C: tf.expand_dims(C(_M), 5), fed),
        Case("Shape must be at least rank 4 but is rank 2", lambda C: tf.concat([C(_M), C(_M)], 3),
             **build),
        Case(r"ConcatOp : Expected concatenating dimensions in the range \[-2, 2\), but got 3",
             lambda C: tf.concat([C(_M), C(_M)], 3), fed),
        Case("indices.shape.-1. must be <= params.rank, but saw indices shape: .1,3. and params",
             lambda C: tf.gather_nd(C(_M), C([[1, 0, 1]])), **build),
        Case("index innermost dimension length must be <= params rank; saw: 3 vs. 2",
             lambda C: tf.gather_nd(C(_M), C([[1, 0, 1]])), fed),
        Case(r"indices\[0\] = \[5, 0\] does not index into shape \[3,2\]",
             lambda C: tf.scatter_nd(C([[5, 0]]), C([1.0]), [3, 2])),
        Case(r"Expected dimension in the range \[-2, 2\), but got 5",
             lambda C: tf.argmax(C(_M), 5), fed),
        Case("Dimension size must be evenly divisible by 4 but is 3",
             lambda C: tf.depth_to_space(C(np.ones((1, 2, 2, 3), np.float32)), 2), **build),
        Case("Input depth .*3.* should be divisible by: 4",
             lambda C: tf.depth_to_space(C(np.ones((1, 2, 2, 3), np.float32)), 2), fed),
        Case("Dimensions must be equal, but are 2 and 3", lambda C: tf.diag_part(C(_M)), **build),
        Case(r"Invalid shape \[2,3\]", lambda C: tf.diag_part(C(_M)), fed),
        Case("Received a label value of 5 which is outside the valid range of .0, 3.. "
             " Label values: 0 5",
             lambda C: tf.nn.sparse_softmax_cross_entropy_with_logits(
                 labels=C([0, 5]), logits=C(_M))),
        Case("Requires num > 0: 0", lambda C: tf.linspace(0.0, 5.0, C(0)), fed),
        Case("Requires delta != 0: 0", lambda C: tf.range(0, 5, C(0)), fed),
        Case("axis 0 specified more than once", lambda C: tf.reverse(C(_M), [0, 0]), fed),
        Case(r"'axis'\[0\] = 5 is out of valid range \[0, 1", lambda C: tf.reverse(C(_M), [5]),
             fed),
        Case(r"seq_lens\(0\) > input.dims\(1\)",
             lambda C: tf.reverse_sequence(C(_M), C([5, 1]), 1)),
        Case("Number of batches of 'then' must match size of 'cond', but saw: 2 vs. 3",
             lambda C: tf.where(C([True, False, True]), C(_M), C(_M)), fed),
        Case(r"Shapes \(2,\) and \(3,\) are incompatible",
             lambda C: tf.boolean_mask(C(_M), [True, False, True]), **build),
        Case("Number of mask dimensions must be specified",
             lambda C: tf.boolean_mask(C(_M), C([True, False])), fed, ValueError, False),
        Case("Invalid character found in base64", lambda C: tf.decode_base64(C(b"a$c"))),
        Case("pos 5 out of range for string b'abc'", lambda C: tf.substr(C(b"abc"), 5, 1)),
        Case("Input arr must be non-negative!", lambda C: tf.bincount(C([-1]))),
        Case("Must provide as many biases as the last dimension of the input tensor: .2. vs. .2,3.",
             lambda C: tf.nn.bias_add(C(_M), C([1.0, 2.0])), fed),
        Case(r"Depth of input \(2\) is not a multiple of input depth of filter \(3\)",
             lambda C: tf.nn.conv2d(C(np.ones((1, 2, 2, 2), np.float32)), np.ones((1, 1, 3, 1)),
                                    [1, 1, 1, 1], "SAME"), **build),
        Case("input depth must be evenly divisible by filter depth: 2 vs 3",
             lambda C: tf.nn.conv2d(C(np.ones((1, 2, 2, 2), np.float32)), np.ones((1, 1, 3, 1)),
                                    [1, 1, 1, 1], "SAME"), fed),
    ]  # fmt: skip


def _cases() -> list[Case]:
    return [
        *_running(tf.cumsum), *_running(tf.cumprod),
        *(c for f in (tf.segment_sum, tf.segment_mean, tf.segment_max) for c in _segments(f)),
        *_softmaxes(tf.nn.softmax), *_softmaxes(tf.nn.log_softmax),
        *_sparse_sums(tf.sparse_reduce_sum), *_sparse_sums(tf.sparse_reduce_max),
        *_orders(), *_rolls(), *_to_dense(), *_sparse_tensors(), *_slices(), *_splits(),
        *_arrays(), *_hot_and_bands(), *_shape_values(), *_patches(), *_types(), *_ranges(),
        *_sizes(),
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _operands(kind: str) -> tuple[Callable[[Any], Any], dict[Any, Any]]:
    feeds: dict[Any, Any] = {}

    def make(value: Any) -> Any:
        constant = tf.constant(value)
        if kind == "const":
            return constant
        placeholder = tf.placeholder(constant.dtype)
        feeds[placeholder] = value
        return placeholder

    return make, feeds


@pytest.mark.parametrize(
    ("case", "kind"), [(case, kind) for case in _cases() for kind in case.operands]
)
def test_wrong_use(case: Case, kind: str) -> None:
    operand, feeds = _operands(kind)
    if not case.at_run:
        with pytest.raises(case.error, match=case.words):
            case.make(operand)
        return
    made = case.make(operand)
    with tf.Session() as session, pytest.raises(case.error, match=case.words):
        session.run(made, feeds)
