"""What random calls, compared with TensorFlow 1.15's, found in families of ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("axis", [[0], (0,), np.int32(0), [0, 0], [[0, 1]], 1.0, [0, 1.0]])
def test_a_norms_axis_is_an_int_or_a_pair(axis: Any) -> None:
    with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2"):
        tf.norm(tf.ones([2, 3]), axis=axis)
    with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2"):
        tf.linalg.normalize(tf.ones([2, 3]), axis=axis)


@pytest.mark.parametrize("solve", [tf.linalg.solve, tf.linalg.triangular_solve, tf.cholesky_solve])
def test_solutions_have_the_shape_that_either_side_says(solve: Any) -> None:
    unknown = tf.placeholder(tf.float32)
    assert solve(tf.eye(3), unknown).shape.as_list() == [3, None]
    assert solve(unknown, tf.ones([2, 3, 4])).shape.as_list() == [2, 3, 4]
    assert solve(unknown, unknown).shape.ndims is None


def test_repeat_takes_an_int_as_axis() -> None:
    for axis in (np.int32(0), tf.constant(0), 1.0):
        with pytest.raises(TypeError, match="axis must be an int; got"):
            tf.repeat(tf.ones([2, 3]), 2, axis=axis)


def test_unique_with_counts_looks_at_the_rank_when_it_runs() -> None:
    made = tf.unique_with_counts(tf.ones([2, 3]))
    assert [part.shape.as_list() for part in made] == [[None], [2, 3], [None]]
    with pytest.raises(ValueError, match="must have rank 1"):
        tf.unique(tf.ones([2, 3]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
            session.run(made)


def test_variance_of_integers_rounds_as_integers_do() -> None:
    with tf.Session() as session:
        assert session.run(tf.math.reduce_variance([1, 5, 9])) == 10
    with pytest.raises(TypeError):
        tf.math.reduce_std([1, 5, 9])


def test_negative_paddings_are_refused() -> None:
    paddings = tf.placeholder(tf.int32, [2, 2])
    made = tf.space_to_batch(tf.ones([1, 4, 4, 2]), paddings, 2)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Paddings"):
        session.run(made, {paddings: [[0, 0], [-2, 0]]})


def test_a_static_value_is_asked_for_without_raising() -> None:
    assert tf.get_static_value(tf.broadcast_dynamic_shape([7, 2], [3, 3])) is None


def test_an_axis_of_gather_is_a_scalar() -> None:
    with pytest.raises(ValueError, match="rank 0"):
        tf.gather(tf.ones([2, 3]), [0], axis=[0])


@pytest.mark.parametrize("dtype", [tf.int32, tf.bfloat16, tf.bool])
def test_functions_of_matrices_say_which_dtypes_they_take(dtype: tf.DType) -> None:
    matrix = tf.cast([[2, 1], [0, 3]], dtype)
    with pytest.raises(ValueError, match="tf.linalg.expm does not support matrices of type"):
        tf.linalg.expm(matrix)
    with pytest.raises(TypeError, match="Input `a` must have `float`-like `dtype`"):
        tf.linalg.pinv([[2, 1], [0, 3]])


def test_many_sparse_tensors_are_serialized_as_tensorflow_does() -> None:
    """Byte for byte, the shape of one entry included; and what is out of bounds is refused."""
    made = tf.serialize_many_sparse(tf.SparseTensor([[0, 2], [1, 1]], [0.5, 1.0], [2, 3]))
    one = tf.serialize_sparse(tf.SparseTensor([[2]], [0.5], [3]))
    with tf.Session() as session:
        rows = session.run(made)
        assert rows[0, 2] == b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03' + bytes(7)
        assert session.run(one)[2] == rows[0, 2]
    for indices, shape, words in (
        ([[1, 3]], [2, 3], r"indices\[0\] = \[1, 3\] is out of bounds"),
        ([[1]], [2], "Rank of input SparseTensor should be > 1, but saw rank: 1"),
    ):
        wrong = tf.serialize_many_sparse(tf.SparseTensor(indices, [0.5], shape))
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(wrong)


@pytest.mark.parametrize(("axis", "shape"), [(1, [2, 1, 3]), (None, [2, 3, 1]), (-3, [1, 2, 3])])
def test_a_sparse_tensors_new_dim_is_known(axis: int | None, shape: list[int]) -> None:
    sparse = tf.SparseTensor([[0, 2], [1, 1]], [0.5, 1.0], [2, 3])
    made = tf.sparse.expand_dims(sparse, axis)
    assert made.indices.shape.as_list() == [2, 3]
    with tf.Session() as session:
        assert session.run(made.dense_shape).tolist() == shape
    unknown = tf.sparse_placeholder(tf.float32)
    with pytest.raises(ValueError, match="Cannot convert an unknown Dimension"):
        tf.sparse.expand_dims(unknown, axis)


@pytest.mark.parametrize("function", [
    tf.losses.sparse_softmax_cross_entropy, tf.nn.sparse_softmax_cross_entropy_with_logits,
])  # fmt: skip
def test_every_row_of_logits_has_a_label(function: Any) -> None:
    """Of fewer labels a loss was made in silence, where their number was not known before."""
    labels = tf.placeholder(tf.int32)
    losses = function(labels=labels, logits=tf.ones([3, 4]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must|not compatible"):
            session.run(losses, {labels: [0, 3]})


def test_counts_of_datasets_are_scalars() -> None:
    rows = tf.data.Dataset.range(3)
    for make in (rows.batch, rows.take, rows.skip, rows.shuffle, rows.prefetch, rows.repeat):
        with pytest.raises(ValueError, match="rank 0"):
            make([2])
    with pytest.raises(ValueError, match="rank 0"):
        tf.data.Dataset.range([3])


def test_png_compression_is_a_level() -> None:
    made = tf.image.encode_png(tf.zeros([2, 2, 3], tf.uint8), 10)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"\[-1,9\]"):
        session.run(made)


def test_a_vectorized_map_has_as_many_rows_as_it_is_given() -> None:
    assert tf.vectorized_map(lambda row: row * 2, tf.ones([3, 2])).shape.as_list() == [3, 2]
    open_rows = tf.placeholder(tf.float32, [None, 2])
    assert tf.vectorized_map(lambda row: row * 2, open_rows).shape.as_list() == [None, 2]


def test_a_tuple_takes_what_becomes_a_tensor() -> None:
    made = tf.tuple([tf.ones([2]), np.zeros(2), [1.0], None])
    assert [part if part is None else part.dtype.name for part in made] == [
        "float32", "float64", "float32", None,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="Must have at least one Tensor"):
        tf.tuple([None])


@pytest.mark.parametrize("function", [tf.nn.xw_plus_b, tf.nn.relu_layer])
def test_affine_layers_take_batches_of_matrices(function: Any) -> None:
    made = function(tf.ones([5, 2, 3]), tf.ones([5, 3, 4]), tf.ones([4]))
    with tf.Session() as session:
        assert (session.run(made) == np.full([5, 2, 4], 4.0)).all()


# What a rule refuses while the graph is built, and what only the run does.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.fill([-1, 2], 1.0), "Fill dimensions must be >= 0"),
        (lambda: tf.transpose(tf.ones([2, 3]), tf.placeholder(tf.int32, [3])), "2 but is 3"),
        (lambda: tf.transpose(tf.ones([2, 3]), [0, 2]), "out of range of input rank 2"),
        (lambda: tf.gather(tf.ones([4, 3]), tf.placeholder(tf.int32), axis=-3), "at least rank 3"),
        (lambda: tf.scatter_nd(tf.placeholder(tf.int32), 1.0, [4]), "at least rank 1 but is"),
        (
            lambda: tf.tensor_scatter_nd_add(tf.ones([4, 0]), [[0]], tf.placeholder(tf.float32)),
            "specified for empty output shape",
        ),
        (lambda: tf.required_space_to_batch_paddings([4], [2, 2]), "are incompatible"),
        (lambda: tf.assert_near([1], [1]), "not inexact"),
        (lambda: tf.gather_nd(tf.placeholder(tf.float32), [[0]], batch_dims=1), "Cannot infer num"),
        (lambda: tf.reverse(1.0, [0]), "out of valid range"),
        (lambda: tf.signal.irfft(tf.ones([2, 4], tf.complex64), []), "must have 1 element"),
    ],
)
def test_what_is_refused_while_the_graph_is_built(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.transpose(tf.ones([2, 3]), [0, -3]), "out of range"),
        (lambda: tf.broadcast_to(tf.ones([1, 0]), [2, 3]), "Incompatible shapes"),
        (lambda: tf.one_hot([0], tf.placeholder_with_default([3], [1])), "depth must be a scalar"),
        (lambda: tf.reverse_sequence(tf.ones([2, 3]), [1, 1], -1, 0), "Invalid seq_dim -1"),
        (lambda: tf.where_v2(np.ones([2, 3], bool), tf.ones([2, 3]), _fed([])), "broadcast"),
        (lambda: tf.matrix_set_diag(tf.ones([3, 1, 3]), tf.ones([2, 1])), "diagonal must have"),
        (lambda: tf.sparse.slice(_sparse(), [0, 1], [[2, 2]]), "size should be a vector"),
        (lambda: tf.sparse.from_dense(tf.constant(4)), "params must be at least a vector"),
        (lambda: tf.assert_rank_in(_fed([1.0]), []), "must have rank in"),
        (lambda: tf.signal.rfft(tf.ones([2, 4]), [-2]), "fft_length must not be negative"),
        (lambda: tf.unravel_index([[3, 1]], [2, 3]), "can only be scalar or vector"),
    ],
)
def test_what_only_a_run_refuses(make: Any, words: str) -> None:
    made = make()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(made)


def _fed(value: Any) -> Any:
    """A tensor of the value whose shape only a run knows."""
    return tf.placeholder_with_default(np.asarray(value, np.float32), None)


def _sparse(indices: Any = ((0, 1), (1, 2)), values: Any = (1.0, 2.0)) -> Any:
    return tf.SparseTensor(list(indices), list(values), [3, 4])


def test_what_a_scalar_is_refused_for_by_rules_alone() -> None:
    unknown = _fed(2.0)
    with tf.Session() as session:
        assert session.run(tf.reverse(unknown, [0])) == 2
        assert session.run(tf.diag_part(unknown)) == 2
        text = tf.placeholder_with_default("a", None)
        with pytest.raises(tf.errors.OutOfRangeError, match="Invalid reduction dimension 0"):
            session.run(tf.strings.reduce_join(text, [0]))


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([np.ones(2, "u2"), [1, 2]], "uint16, int32"),
        ([[1], [2.5]], "int32, float32"),
        ([np.ones(2, "f4"), None], "float32, <NOT CONVERTIBLE TO TENSOR>"),
    ],
)
def test_a_list_of_tensors_has_one_type(values: Any, types: str) -> None:
    with pytest.raises(TypeError, match=rf"have types \[{types}\] that don't all match"):
        tf.concat(values, 0)


def test_a_list_of_any_tensors_holds_tensors() -> None:
    with pytest.raises(TypeError, match=r"have types \[<NOT CONVERTIBLE TO TENSOR>\] that are inv"):
        tf.Print(1.0, [None])
    with pytest.raises(TypeError, match="'ParallelConcat' Op have types"):
        tf.parallel_stack([tf.placeholder(tf.float32), tf.placeholder(tf.int32)])


@pytest.mark.parametrize("rows", [np.array(3), 3.0, None])
def test_sizes_of_unit_matrices_are_python_ints_or_tensors(rows: Any) -> None:
    with pytest.raises(TypeError, match="num_rows and num_columns must be positive integer"):
        tf.eye(rows)
    with pytest.raises(TypeError, match="num_rows must be an integer value"):
        tf.sparse.eye(rows)


def test_a_size_of_unknown_rank_is_a_scalar() -> None:
    size = tf.placeholder(tf.int32)
    assert tf.eye(size, size, [2]).shape.as_list() == [2, None, None]
    assert tf.fill([size, size], 1.0).shape.as_list() == [None, None]
    with tf.Session() as session:
        assert session.run(tf.ones(size), {size: 2}).tolist() == [1, 1]
        assert session.run(tf.sparse.eye(size), {size: 2}).indices.tolist() == [[0, 0], [1, 1]]


def test_static_shapes_of_partly_known_tensors() -> None:
    unknown = tf.placeholder(tf.float32)
    assert tf.tile(tf.ones([0, 2]), tf.placeholder(tf.int32, [2])).shape.as_list() == [0, None]
    assert tf.matrix_set_diag(unknown, tf.ones([2, 3])).shape.as_list() == [2, None, None]
    assert tf.get_static_value(tf.fill([2], "a")).tolist() == [b"a", b"a"]


def test_squeezed_dims_may_be_named_twice_and_are_a_list() -> None:
    with tf.Session() as session:
        assert session.run(tf.squeeze(_fed([[1.0]]), [0, 0, 1])) == 1
    with pytest.raises(TypeError, match="Expected list for 'axis' argument to 'squeeze' Op"):
        tf.squeeze(tf.ones([1, 2]), np.array([0]))


def test_values_of_corners() -> None:
    places = tf.placeholder_with_default([[1], [0]], None)
    batched = tf.gather_nd(tf.constant([[1, 2], [3, 4]]), places, batch_dims=1)
    flipped = tf.constant(np.arange(3, dtype="u8"))[::-1]
    with tf.Session() as session:
        assert session.run(batched).tolist() == [2, 3]
        assert session.run(flipped).tolist() == [2, 1, 0]
        assert session.run(tf.constant([], tf.float32, [2])).tolist() == [0, 0]
        assert session.run(tf.strings.strip(np.zeros([0], "u1"))).tolist() == []
        assert session.run(tf.broadcast_dynamic_shape([-2, 1], [3])).tolist() == [-2, 3]


def test_operands_of_a_product_are_converted_each_by_itself() -> None:
    with pytest.raises(TypeError, match="type float32 that does not match type float64"):
        tf.matmul(tf.ones([2, 3], tf.float64), [[1.0], [2.0], [3.0]])


def test_repeats_whose_rank_a_run_shows() -> None:
    times = tf.placeholder(tf.int32)
    made = tf.repeat([[1, 2], [3, 4]], times, axis=0)
    assert made.shape.as_list() == [None, 2]
    with tf.Session() as session:
        assert session.run(made, {times: [1, 2]}).tolist() == [[1, 2], [3, 4], [3, 4]]
        assert session.run(made, {times: 2}).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        tf.repeat([1, 2], [2])


def test_what_is_no_tensor_is_its_own_static_value() -> None:
    assert tf.get_static_value([1, 2]) == [1, 2]
    assert tf.get_static_value(None) is None
    assert tf.get_static_value(tf.floor_div(tf.constant(1j), 1j)) is None


def test_eigenvalues_have_the_type_of_their_matrix() -> None:
    assert tf.linalg.eigvalsh(tf.ones([2, 2], tf.complex64)).dtype is tf.complex64


def test_there_are_no_ones_of_strings() -> None:
    with pytest.raises(TypeError, match="Expected string, got 1 of type 'int'"):
        tf.ones_like(["a"])


def test_rates_below_0_and_rows_without_classes() -> None:
    with tf.Session() as session:
        assert session.run(tf.random.poisson([-1.0], [3])).tolist() == [[0], [0], [0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_classes should be positive"):
            session.run(tf.random.categorical(_fed(np.zeros([0, 0])), 4))


# ---- sparse tensors ------------------------------------------------------------------------------


def test_sparse_entries_out_of_order_are_merged_as_they_stand() -> None:
    back = _sparse([[1, 2], [0, 1]])
    with tf.Session() as session:
        total = session.run(tf.sparse.add(back, _sparse([[0, 3], [1, 2]])))
        assert total.indices.tolist() == [[0, 3], [1, 2], [0, 1]]
        assert total.values.tolist() == [1, 3, 2]
        ordered = session.run(tf.sparse.reorder(_sparse([[1, -1], [0, 3]])))
        assert ordered.indices.tolist() == [[0, 3], [1, -1]]
        softened = session.run(tf.sparse.softmax(_sparse([[1, 0], [0, 1]]))).values
        assert softened.tolist() == [1, 1]
        reshaped = session.run(tf.sparse.reshape(_sparse([[4, 1], [0, 1]]), [4, 3]))
        assert reshaped.indices.tolist() == [[5, 2], [0, 1]]


def test_sizes_below_minus_one_are_unknown_to_a_sparse_tensors_shape() -> None:
    assert tf.SparseTensor([[0, 0]], [1.0], [2, -2]).shape.as_list() == [2, None]


def test_many_sparse_tensors_are_serialized_in_order() -> None:
    with tf.Session() as session:
        for indices, words in ([[1, 0], [0, 0]], "out of order"), ([[0], [1]], "Order length"):
            fed = tf.placeholder_with_default(np.array(indices, np.int64), None)
            made = tf.serialize_many_sparse(tf.SparseTensor(fed, [1.0, 2.0], [3, 4]))
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(made)
        texts = tf.serialize_sparse(_sparse(values=("a", "bcd")))
        assert session.run(texts)[1] == b'\x08\x07\x12\x04\x12\x02\x08\x02"\x06\x01\x03abcd'
        back = tf.deserialize_many_sparse(tf.expand_dims(texts, 0), tf.string)
        assert session.run(back).values.tolist() == [b"a", b"bcd"]


# ---- strings -------------------------------------------------------------------------------------


def test_strings_of_any_rank_are_split() -> None:
    made = tf.strings.split([["a b", ""], ["c", "d e f"]])
    with tf.Session() as session:
        found = session.run(made)
    assert found.dense_shape.tolist() == [2, 2, 3]
    assert found.indices.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1],
                                      [1, 1, 2]]  # fmt: skip
    assert found.values.tolist() == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_text_of_tensors() -> None:
    nothing = tf.zeros([2, 0])
    with tf.Session() as session:
        assert session.run(tf.strings.format("{}", nothing)) == b"[\n ...]"
        assert session.run(tf.strings.format("{}", tf.range(5), summarize=0)) == b"[ ...]"
        assert session.run(tf.strings.upper(["a\0b"], encoding="utf-8")).tolist() == [b"A"]


@pytest.mark.parametrize("resource", [False, True])
def test_updates_of_other_shapes(resource: bool) -> None:
    """By reference the shape counts, by resource the number of elements."""
    rows = tf.Variable(tf.zeros([4, 3]), use_resource=resource)
    update = tf.scatter_update(rows, [0, 2], _fed(np.ones([1, 2, 3])))
    with tf.Session() as session:
        session.run(rows.initializer)
        if resource:
            assert session.run(update).sum() == 6
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must have updates.shape"):
            session.run(update)
