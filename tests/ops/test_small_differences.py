"""Corners of single ops where programs meet TensorFlow's behaviour; each was tried there."""

from __future__ import annotations

import gzip
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _run(fetched: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetched, feeds)


def test_the_size_of_a_sparse_value() -> None:
    value = tf.SparseTensorValue([[0, 1], [1, 2]], [1.0, 2.0], [3, 4])
    assert _run(tf.shape(value)).tolist() == [3, 4]
    assert tf.shape(value, out_type=tf.int64).dtype is tf.int64
    assert (_run(tf.size(value)), _run(tf.rank(value))) == (12, 2)


@pytest.mark.parametrize(("rate", "written"), [(0.2, 0), (1.9, 2), (44100.0, 44100)])
def test_sample_rates_are_rounded(rate: float, written: int) -> None:
    summary = tf.Summary.FromString(_run(tf.summary.audio("a", np.zeros([1, 8, 1], "f"), rate)))
    audio = summary.value[0].audio
    assert audio.sample_rate == pytest.approx(rate)
    assert int.from_bytes(audio.encoded_audio_string[24:28], "little") == written


def test_a_file_needs_a_sample_rate() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive sample rate"):
        _run(tf.audio.encode_wav(np.zeros([8, 1], "f"), 0))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_numbers_in_text(dtype: tf.DType) -> None:
    texts = ["0xF", "-0xF", "0XfF", " 3 ", "+5", "inf", "INF", "-inf", "5.", ".5"]
    found = _run(tf.string_to_number(texts, dtype)).tolist()
    assert found == [15, -15, 255, 3, 5, np.inf, np.inf, -np.inf, 5, 0.5]
    for text in ("0x", "0x1.8p3", "infinity", "-Infinity", "0b1", "1_0", "3 4", ""):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
            _run(tf.string_to_number(text, dtype))


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("text", ["+5", "0xF", "1.0", "1_0", ""])
def test_text_that_is_no_whole_number(dtype: tf.DType, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        _run(tf.string_to_number(text, dtype))


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("GZIP", gzip.compress), ("ZLIB", zlib.compress), ("NONE", bytes), ("", bytes)],
)
def test_records_of_packed_files(tmp_path: Path, encoding: str, packed: Any) -> None:
    path = tmp_path / "records"
    path.write_bytes(packed(b"hhABCDEFGHIJff"))
    reader = tf.FixedLengthRecordReader(3, 2, 2, hop_bytes=2, encoding=encoding)
    queue = tf.FIFOQueue(1, tf.string)
    filled, closed, (_, value) = queue.enqueue(str(path)), queue.close(), reader.read(queue)
    with tf.Session() as session:
        session.run(filled)
        session.run(closed)
        assert [session.run(value) for _ in range(4)] == [b"ABC", b"CDE", b"EFG", b"GHI"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(value)


def test_no_blocks_need_no_paddings() -> None:
    sizes, block = tf.placeholder(tf.int32, [0]), tf.placeholder(tf.int32, [0])
    made = tf.required_space_to_batch_paddings(sizes, block)
    assert [m.shape for m in _run(made, {sizes: [], block: []})] == [(0, 2), (0, 2)]


def test_an_array_is_stacked_already() -> None:
    array = np.array([[1, 2], [3, 4]])
    assert tf.stack(array).op.type == "Const"
    assert tf.stack([array[0], array[1]]).op.type == "Pack"
    np.testing.assert_array_equal(_run(tf.stack(array, axis=1)), array.T)


@pytest.mark.parametrize(
    ("shift", "axis", "words"),
    [
        ([[1]], [0], "Shape must be at most rank 1 but is rank 2"),
        (1, [[0]], "Shape must be at most rank 1 but is rank 2"),
        ([1, 2], [0], "shift and axis must be equal in shape"),
        (1, [0], "shift and axis must be equal in shape"),
    ],
)
def test_a_roll_has_a_shift_for_each_axis(shift: Any, axis: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.roll(tf.ones([2, 3]), shift, axis)


def test_an_array_is_its_own_static_value() -> None:
    array = np.array([1, 2])
    assert tf.get_static_value(array) is array
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(tf.placeholder(tf.int32)) is None
    assert (tf.get_static_value("text"), tf.get_static_value(5)) == ("text", 5)


def test_a_closed_writer_is_not_flushed(tmp_path: Path) -> None:
    for options in (None, tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)):
        writer = tf.python_io.TFRecordWriter(str(tmp_path / "records"), options)
        writer.write(b"a")
        writer.flush()
        writer.close()
        for use in (writer.flush, lambda writer=writer: writer.write(b"b")):
            with pytest.raises(tf.errors.FailedPreconditionError, match="previously closed"):
                use()


@pytest.mark.parametrize(
    "types", [(tf.int32, tf.int64), (tf.int64, tf.int32), (tf.int32, tf.int32)]
)
def test_branches_with_indices_of_two_types(types: tuple[tf.DType, tf.DType]) -> None:
    pred = tf.placeholder(tf.bool, [])
    made = tf.cond(
        pred,
        lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0], types[0])),
        lambda: tf.IndexedSlices(tf.constant([2.0]), tf.constant([1], types[1])),
    )
    assert made.indices.dtype is (tf.int32 if types[0] is types[1] else tf.int64)
    assert [_run(made.indices, {pred: p}).tolist() for p in (True, False)] == [[0], [1]]


def test_a_sparse_feed_without_the_shape_that_is_known() -> None:
    sparse = tf.sparse_placeholder(tf.float32, [2, 3])
    dense = tf.sparse_tensor_to_dense(sparse)
    for value in (
        ([[0, 1]], [2.0]), ([[0, 1]], [2.0], [2, 3]), tf.SparseTensorValue([[0, 1]], [2.0], [2, 3])
    ):  # fmt: skip
        assert _run(dense, {sparse: value}).tolist() == [[0, 2, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="may not be fed"):
        _run(dense, {sparse: ([[0, 1]], [2.0], [2, 4])})


def test_a_second_interactive_session_warns() -> None:
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        second = tf.InteractiveSession()
    second.close()
    first.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.InteractiveSession().close()


def test_savers_take_tables(tmp_path: Path) -> None:
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver([table, v])
    changed = table.insert(["a"], [9])
    with tf.Session() as session:
        session.run([v.initializer, table.insert(["a", "b"], [1, 2])])
        path = saver.save(session, str(tmp_path / "model"))
        session.run(changed)
        saver.restore(session, path)
        assert session.run(table.lookup(tf.constant(["a", "b"]))).tolist() == [1, 2]
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == ["MutableHashTable-keys", "MutableHashTable-values", "v"]


def test_checkpoints_hold_tables(tmp_path: Path) -> None:
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    empty = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)
    checkpoint = tf.train.Checkpoint(t=table, inside=[empty], v=tf.Variable(1.0))
    filled, changed = table.insert(["a", "b"], [1, 2]), table.insert(["a", "c"], [9, 9])
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), filled, empty.insert([7], [0.5])])
        path = checkpoint.save(str(tmp_path / "ckpt"), session)
        session.run(changed)
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(table.lookup(tf.constant(["a", "b", "c"]))).tolist() == [1, 2, -1]
        assert session.run(empty.lookup(tf.constant([7], tf.int64))).tolist() == [0.5]
    names = [name for name, _ in tf.train.list_variables(path)]
    assert [n for n in names if n.startswith("t/")] == [
        "t/.ATTRIBUTES/table-keys", "t/.ATTRIBUTES/table-values",
    ]  # fmt: skip


def test_a_stateless_function_without_inputs_is_a_constant() -> None:
    calls: list[int] = []

    def count() -> np.int64:
        calls.append(1)
        return np.int64(len(calls))

    steady = tf.py_func(count, [], tf.int64, stateful=False)
    with tf.Session() as session:
        assert {int(session.run(steady)) for _ in range(3)} == {1}
    calls.clear()
    fresh = tf.py_func(count, [], tf.int64)
    with tf.Session() as session:
        assert [int(session.run(fresh)) for _ in range(3)] == [1, 2, 3]


def test_a_range_without_a_step_is_refused_as_it_runs() -> None:
    start = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
        _run(tf.range(start, 5, 0), {start: 1})
    with pytest.raises(ValueError, match="Requires delta != 0"):
        tf.range(1, 5, 0)


def test_the_number_of_batch_dims_is_known_when_the_graph_is_built() -> None:
    rows, picked = np.arange(24).reshape(2, 3, 4), [[1], [2]]
    found = _run(tf.gather_nd(rows, picked, batch_dims=tf.constant(1)))
    assert found.tolist() == [rows[0, 1].tolist(), rows[1, 2].tolist()]
    with pytest.raises(TypeError, match="batch_dims must be an int"):
        tf.gather_nd(rows, picked, batch_dims=tf.placeholder(tf.int32, []))


def test_means_of_segments_divide_whole_numbers_and_take_counts_of_either_type() -> None:
    whole = tf.unsorted_segment_mean(np.array([[1], [3], [6]], np.int32), [1, 0, 1], 2)
    assert whole.dtype is tf.float64
    assert _run(whole).tolist() == [[3.0], [3.5]]
    count = tf.placeholder(tf.int64, [])
    mean = tf.unsorted_segment_mean(tf.constant([[1.0], [3.0]]), [0, 0], count)
    assert _run(mean, {count: 2}).tolist() == [[2.0], [0.0]]


@pytest.mark.parametrize(
    ("pattern", "rewrite", "made"),
    [("[a-c]", r"x\2y", b"xyxy xy"), ("(b)", r"<\1\7>", b"a<b> c"), ("", r"-\2", b"-a-b- -c-")],
)
def test_groups_that_a_pattern_has_not_are_empty(pattern: str, rewrite: str, made: bytes) -> None:
    assert _run(tf.strings.regex_replace("ab c", pattern, rewrite)) == made


def test_edits_of_sequences_out_of_order() -> None:
    def sequences(indices: list[list[int]], values: list[int]) -> Any:
        return tf.SparseTensorValue(indices, values, [2, 2])

    truth = sequences([[0, 0], [0, 1], [1, 0]], [1, 3, 2])
    guess = sequences([[1, 0], [0, 0]], [1, 2])
    assert _run(tf.edit_distance(guess, truth)).tolist() == [np.inf, 1.0]
    parted = sequences([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 3, 2, 5])
    once = sequences([[0, 0], [0, 1]], [1, 2])
    assert _run(tf.edit_distance(once, parted, normalize=False)).tolist() == [1.0, 1.0]


def test_channels_are_quantized_by_division() -> None:
    # The second is halfway between two steps; the range of the third ends before it begins.
    found = _run(
        tf.quantization.fake_quant_with_min_max_vars_per_channel(
            np.array([[1.625, -0.75, 0.375]], "f"),
            np.array([-1.0, -2.0, 1.5], "f"), np.array([1.0, 0.5, 1.0], "f"),
        )
    )  # fmt: skip
    np.testing.assert_array_equal(found, np.array([[1.0039215, -0.7549019, 0.5]], "f"))


def test_negative_numbers_as_unsigned_integers() -> None:
    values = np.array([-0.5, -1.625, -0.25], "f")
    found = _run(tf.quantization.quantize_and_dequantize(values, 0.0, 0.0, signed_input=False))
    np.testing.assert_allclose(found, [1.6680507e35, np.inf, 8.3402535e34])
    found = _run(
        tf.quantization.quantize_and_dequantize(
            values, -2.0, -1.0, signed_input=False, range_given=True
        )
    )
    assert found.tolist() == [0.0, 0.0, 0.0]


def test_sums_and_differences_of_infinite_complex_numbers() -> None:
    p, q = tf.placeholder(tf.complex64), tf.placeholder(tf.complex64)
    infinite = np.array([complex(np.inf, 0), complex(1, np.inf), complex(-np.inf, 2)], "F")
    finite = np.array([1, 2j, 3], "F")
    given = _run([p + q, q + p, q - p, 1 - p, p - p], {p: infinite, q: finite})
    wanted = [
        [complex(np.inf, 0), complex(1, np.inf), complex(-np.inf, 2)],
        [complex(np.inf, 0), complex(1, np.inf), complex(-np.inf, 2)],
        [complex(-np.inf, 0), complex(-1, -np.inf), complex(np.inf, -2)],
        [complex(-np.inf, 0), complex(0, -np.inf), complex(np.inf, -2)],
        [complex(np.nan, 0), complex(0, np.nan), complex(np.nan, 0)],
    ]
    for found, right in zip(given, wanted):
        np.testing.assert_array_equal(found.real, np.real(right))
        np.testing.assert_array_equal(found.imag, np.imag(right))


@pytest.mark.parametrize("kind", ["sum", "max", "min", "prod", "mean", "sqrt_n"])
def test_numbers_of_segments_are_looked_at_where_the_ids_rank_is_known(kind: str) -> None:
    segment = getattr(tf.math, f"unsorted_segment_{kind}")
    data, unknown = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    with pytest.raises(ValueError, match="rank 0 but is rank 1"):
        segment(data, unknown, [4])
    with pytest.raises(ValueError, match="must not be negative"):
        segment(data, [0, 1], -2)
    if kind in ("sum", "max", "min", "prod"):
        made = segment(np.zeros([2], "f"), unknown, -2)
        with pytest.raises(tf.errors.InvalidArgumentError):
            _run(made, {unknown: [0, 1]})


def test_nothing_reflects_in_a_dim_of_no_size() -> None:
    empty = np.zeros([0, 3], "f")
    with pytest.raises(tf.errors.InvalidArgumentError, match="less than the dimension size"):
        _run(tf.pad(empty, [[0, 0], [1, 1]], "REFLECT"))
    assert _run(tf.pad(empty, [[0, 0], [1, 1]], "SYMMETRIC")).shape == (0, 5)


def test_segments_of_a_single_string_are_refused_as_they_are_built() -> None:
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.strings.unsorted_segment_join("ab c", tf.placeholder(tf.int32, [None]), 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot have rank 0"):
        _run(tf.strings.unsorted_segment_join(["ab c"], 0, 2))


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_compressed_data_cut_short_give_what_can_be_read(kind: str) -> None:
    data = bytes(i * 7 % 251 for i in range(3000))
    whole = zlib.compress(data) if kind == "ZLIB" else gzip.compress(data)
    parts = [b"", whole[:1], whole[: len(whole) // 2], whole[:-4], whole, whole + b"more"]
    found = _run(tf.io.decode_compressed(tf.constant(parts), kind)).tolist()
    assert [len(text) for text in found[:2]] == [0, 0] and 0 < len(found[2]) < 3000
    assert data.startswith(found[2]) and found[3:] == [data] * 3
    with pytest.raises(tf.errors.DataLossError, match="incorrect header"):
        _run(tf.io.decode_compressed("abc", kind))


@pytest.mark.parametrize("shape", [[0], [0, 3], [2, 0]])
@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.string])
def test_a_variable_without_elements_has_its_value(shape: list[int], dtype: tf.DType) -> None:
    variable = tf.Variable(tf.zeros(shape, dtype))
    with tf.Session() as session:
        assert session.run(tf.is_variable_initialized(variable))
        assert session.run(variable).shape == tuple(shape)
        assert session.run(tf.report_uninitialized_variables([variable])).size == 0


def test_a_resource_without_elements_is_initialized_as_others_are() -> None:
    variable = tf.get_variable("v", [0, 3], use_resource=True)
    assert not _run(tf.is_variable_initialized(variable))


def test_tensors_of_several_kinds_have_one_floating_type() -> None:
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert tf.assert_same_float_dtype([sparse]) is tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.assert_same_float_dtype([sparse], tf.int32)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (tf.Dimension(3), tf.float32),
        ([tf.Dimension(3), 1], tf.float64),
        ([[tf.Dimension(3)]], tf.complex64),
        (tf.Dimension(3), tf.string),
        (tf.TensorShape([1]), tf.float32),
    ],
)
def test_a_dimension_becomes_no_other_number(value: Any, dtype: tf.DType) -> None:
    with pytest.raises(TypeError, match=f"Expected {dtype.name}, got "):
        tf.constant(value, dtype)


def test_a_dimension_becomes_a_whole_number() -> None:
    assert _run(tf.constant([tf.Dimension(3), 1], tf.int64)).tolist() == [3, 1]
    assert tf.convert_to_tensor(tf.Dimension(3)).dtype is tf.int32


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tf.convert_to_tensor(tf.Dimension(None)), ValueError, "unknown Dimension to a"),
        (
            lambda: tf.convert_to_tensor(tf.TensorShape([1]), tf.float32), TypeError,
            "Cannot convert a TensorShape to dtype",
        ),
        (lambda: tf.squeeze(tf.zeros([2, 1]), [7]), ValueError, r"squeeze_dims\[0\] not in \["),
        (lambda: tf.unstack(tf.zeros([2, 3]), axis=4), ValueError, r"axis = 4 not in \[-2, 2\)"),
        (lambda: tf.PaddingFIFOQueue(3, tf.int32, None), ValueError, "a list of shapes must be"),
        (
            lambda: _run(tf.gather_nd(np.zeros((0, 2), "f"), [[0]])),
            tf.errors.InvalidArgumentError, "Requested more than 0 entries, but params is empty",
        ),
        (
            lambda: _run(tf.scatter_nd([[0]], [1.0], tf.placeholder_with_default([0], [1]))),
            tf.errors.InvalidArgumentError, "Indices and updates specified for empty output",
        ),
    ],
)  # fmt: skip
def test_words_that_programs_match(make: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_resource_is_updated_by_values_of_its_shape() -> None:
    variable = tf.get_variable("v", [2], use_resource=True)
    value = tf.placeholder(tf.float32)
    with tf.Session() as session:
        session.run(variable.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot update variable with sh"):
            session.run(variable.assign_add(value), {value: np.ones(3)})


def test_a_sparse_accumulators_shape_is_that_of_its_gradients() -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[2, None])
    with tf.Session() as session:
        session.run(accumulator.apply_grad([0, 1], np.ones((2, 3), "f")))
        assert list(session.run(accumulator.take_grad(1))[2]) == [2, 3]


def test_a_repeated_dataset_that_became_empty_ends() -> None:
    empty = tf.data.Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(0))
    following = empty.repeat().make_one_shot_iterator().get_next()
    with pytest.raises(tf.errors.OutOfRangeError):
        _run(following)


def test_a_manager_lists_only_its_own_checkpoints(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 3)
    with tf.Session() as session:
        session.run(variable.initializer)
        with session.as_default():
            manager.save()
            checkpoint.save(str(tmp_path / "ckpt"))
            manager.save()
    assert [Path(path).name for path in manager.checkpoints] == ["ckpt-1", "ckpt-3"]


def test_denormals_count_unless_the_program_flushes_them() -> None:
    x = tf.placeholder(tf.float32)
    assert _run(x * 1.0, {x: np.float32(1e-40)}) > 0


def test_an_order_that_is_free_is_that_of_the_values() -> None:
    values, indices = tf.nn.top_k([1.0, 5.0, 3.0, 4.0], 2, sorted=False)
    assert [part.tolist() for part in _run([values, indices])] == [[5.0, 4.0], [1, 3]]


@pytest.mark.parametrize("index", [0.5, True, "a", None, ("a", 0)])
def test_what_is_no_index(index: Any) -> None:
    if index is None:
        index = tf.constant([0, 1])
    with pytest.raises((TypeError, ValueError), match="Only integers, slices|mask cannot be scal"):
        tf.ones([2, 3])[index]


def test_padded_text_is_bytes() -> None:
    padded = _run(tf.pad(tf.constant([["a"]]), [[0, 0], [1, 2]], constant_values="z"))
    assert padded.tolist() == [[b"z", b"a", b"z", b"z"]]
    assert {type(text) for text in padded.ravel()} == {bytes}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.scalar_mul([1.0], tf.ones([1])), "Only scalar multiply works, got shape"),
        (lambda: tf.expand_dims(tf.ones([2]), [0, 1]), "must be a tensor with a single value"),
        (lambda: tf.expand_dims(tf.ones([2]), 0, dim=0), "Cannot specify both 'dim' and 'axis'"),
        (lambda: tf.split(tf.ones([2, 3]), [-1, -1], 1), "size_splits can only have one -1"),
        (lambda: tf.split(tf.ones([2]), 2.0), "Rank-0 tensors are not supported"),
        (lambda: tf.boolean_mask(tf.ones([2]), True), "mask cannot be scalar"),
        (lambda: tf.where(tf.ones([2]) > 0, tf.ones([2])), "must both be non-None"),
        (lambda: tf.meshgrid([1], [2], indexing="xx"), "indexing parameter must be either"),
        (lambda: tf.pad(tf.ones([2]), [[1, 1]], "x"), "Unknown padding mode: X"),
        (lambda: tf.ones([2, 3])[0, 0, 0], "Index out of range using input dim 2; input has only"),
        (lambda: tf.norm(tf.ones([2]), ord="fro", axis=0), "'ord' must be a supported vector norm"),
        (lambda: tf.searchsorted([1], [2], side="x"), "side must be either 'right' or 'left'"),
    ],
)
def test_more_words_that_programs_match(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.nn.avg_pool(x, [1, 5, 5, 1], [1, 1, 1, 1], "VALID"),
        lambda x: tf.nn.max_pool(x, [1, 5, 5, 1], [1, 1, 1, 1], "VALID"),
        lambda x: tf.nn.conv2d(x, tf.ones([5, 5, 1, 1]), [1, 1, 1, 1], "VALID"),
        lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), [1] * 4, "VALID", dilations=[1, 2, 2, 1]),
        lambda x: tf.nn.depthwise_conv2d(x, tf.ones([5, 5, 1, 1]), [1, 1, 1, 1], "VALID"),
    ],
)
def test_a_window_that_an_image_is_too_small_for_has_other_words_when_it_runs(build):
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting"):
        build(tf.placeholder(tf.float32, [1, 3, 3, 1]))
    x = tf.placeholder(tf.float32)
    words = (
        r"Computed output size would be negative: -1 \[input_size: 3, effective_filter_size: 5,"
        r" stride: 1\]"
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(build(x), {x: np.ones((1, 3, 3, 1), np.float32)})


def test_what_is_retained_says_how_many_entries_there_are_first():
    x = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.sparse.retain(x, [True, False, True])


def test_refusals_have_tensorflows_words():
    data = tf.data.Dataset
    with pytest.raises(TypeError, match="do not support Python lists"):
        data.zip([data.range(3)])
    with pytest.raises(ValueError, match="return type must be convertible to a scalar boolean"):
        data.range(3).filter(lambda x: x)
    with pytest.raises(ValueError, match="must not be larger than the number of dimensions"):
        tf.tensordot([[1, 2]], [[3], [4]], axes=3)
    with pytest.raises(TypeError, match="'a' invalid dtype <dtype: 'float32'>"):
        tf.sets.intersection([[1.0]], [[1.0]])
    with pytest.raises(TypeError, match="Types don't match, <dtype: 'int32'> vs <dtype: 'string'>"):
        tf.sets.union([[1]], [["b"]])
    with pytest.raises(TypeError, match="'pred' of 'Switch' Op has type int32 that does not match"):
        tf.cond(tf.constant(1), lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1 for"):
        tf.cond(tf.constant([True]), lambda: 1, lambda: 2)
